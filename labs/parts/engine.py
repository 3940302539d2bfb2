"""An engine inside a task's process, and what it decided about its memory."""

from __future__ import annotations

import time
from typing import Any


def start_engine(given: dict[str, Any], **more: Any) -> tuple[Any, float]:
    """LLM(...) with the setting's arguments, and the seconds its start took."""
    from vllm import LLM

    start = time.perf_counter()
    llm = LLM(model=given["model"], **given["engine_args"], **more)
    return llm, round(time.perf_counter() - start, 1)


def cache_sizes(llm: Any) -> dict[str, Any]:
    """What the engine decided; exact, where its log is rounded. The backend is None with several cards."""
    config = llm.llm_engine.vllm_config
    cache, layers = config.cache_config, config.compilation_config.static_forward_context.values()
    backends = {layer.attn_backend.get_name() for layer in layers if hasattr(layer, "attn_backend")}  # not of experts
    return {
        "available_bytes": llm.llm_engine.engine_core.engine_core.available_gpu_memory_for_kv_cache,
        "num_gpu_blocks": cache.num_gpu_blocks,
        "block_size": cache.block_size,
        "kv_cache_size_tokens": cache.kv_cache_size_tokens,
        "max_concurrency": cache.kv_cache_max_concurrency,
        "prefix_caching": bool(cache.enable_prefix_caching),
        "max_num_batched_tokens": config.scheduler_config.max_num_batched_tokens,
        "max_num_seqs": config.scheduler_config.max_num_seqs,
        "attention_backend": ", ".join(sorted(backends)) or None,
    }
