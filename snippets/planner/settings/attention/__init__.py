"""Which attention backend vLLM 0.26.0 takes for a card and a layer, and what the backend demands."""
