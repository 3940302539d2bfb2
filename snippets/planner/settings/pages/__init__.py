"""Sizes of blocks, states and pages as vLLM 0.26.0 sets them before it plans."""
