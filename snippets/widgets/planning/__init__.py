"""The planner's parts: what can be set, the question it makes, and what is shown of the plan."""
