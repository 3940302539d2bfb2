"""The planner held against start-up logs of real servers."""
