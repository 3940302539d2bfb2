"""The planner's drawings: a card's memory, a request as it grows, layers that share a pool."""
