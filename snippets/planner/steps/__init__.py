"""The steps of a plan joined: take them in vLLM's order, say why one fails, find what works."""
