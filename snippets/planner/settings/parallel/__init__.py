"""Which splits over cards vLLM 0.26.0 refuses."""
