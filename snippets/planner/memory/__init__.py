"""The memory budget: what vLLM's profiling will measure, counted from shapes as far as the code says, fitted beyond."""
