"""vLLM's start-up log, read line by line: which settings were in force, and where the memory went."""
