"""What labs read of an engine's sizes, for made-up engines."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


def llm_engine(given: dict[str, Any], blocks: int, scheduler: Any = None) -> SimpleNamespace:
    """`llm.llm_engine` of an engine started with `given`, with that many blocks."""
    cache = SimpleNamespace(
        num_gpu_blocks=blocks,
        block_size=given.get("block_size", 16),
        kv_cache_size_tokens=blocks * given.get("block_size", 16),
        kv_cache_max_concurrency=1.0,
        enable_prefix_caching=given["enable_prefix_caching"],
    )
    limits = SimpleNamespace(
        max_num_batched_tokens=given["max_num_batched_tokens"], max_num_seqs=given.get("max_num_seqs", 256)
    )
    core = SimpleNamespace(available_gpu_memory_for_kv_cache=2**30, scheduler=scheduler)
    return SimpleNamespace(
        engine_core=SimpleNamespace(engine_core=core),
        vllm_config=SimpleNamespace(
            cache_config=cache,
            scheduler_config=limits,
            compilation_config=SimpleNamespace(static_forward_context={}),
        ),
    )
