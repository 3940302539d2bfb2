"""A run of one's own, a lab's result or a start-up log, set beside what the planner says about it."""
