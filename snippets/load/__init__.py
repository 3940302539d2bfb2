"""Load on a server: when requests come, and what their waiting is called. As `vllm bench serve` has it."""
