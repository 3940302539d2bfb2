"""A Hugging Face config.json, read strictly: what each decoder layer caches, and the sizes vLLM takes from it."""
