"""vLLM 0.26.0's memory arithmetic, one step per module. Here: the budget, and blocks for uniform full attention."""
