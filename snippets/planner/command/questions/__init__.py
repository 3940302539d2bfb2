"""Questions beside the plan: requests of a given traffic, bounds of speed and cost, layouts on several cards."""
