"""Blocks that vLLM reserves for one request of a given length (max_memory_usage_bytes / page_size_bytes).

Each is what must be free to admit the request, not what it holds: see held.py for that.
"""

from __future__ import annotations

from snippets.planner.cache.spec import CHUNKED, CROSS, FULL_TYPES, MAMBA, Spec
from snippets.planner.specs import CacheError, Limits


def cdiv(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(-a // b)


def request_blocks(spec: Spec, max_model_len: int, limits: Limits) -> int:
    """Blocks for a request of `max_model_len` tokens. Raises CacheError for windows under context parallelism."""
    if spec.cls in FULL_TYPES:
        return cdiv(cdiv(max_model_len, limits.decode_context_parallel_size), spec.block_size)
    if spec.cls == MAMBA:
        return _state_blocks(spec, max_model_len, limits) + spec.num_speculative_blocks
    if spec.cls == CHUNKED:
        assert spec.attention_chunk_size is not None
        return cdiv(min(spec.attention_chunk_size + limits.max_in_flight_tokens, max_model_len), spec.block_size)
    if spec.cls == CROSS:
        return cdiv(limits.max_num_encoder_input_tokens, spec.block_size)
    if limits.decode_context_parallel_size > 1:
        raise CacheError(
            f"decode_context_parallel_size is {limits.decode_context_parallel_size} and a layer has a sliding window: "
            "vLLM 0.26.0 asserts that there is none; use 1",
            field="decode_context_parallel_size",
        )
    assert spec.sliding_window is not None
    tokens = min(spec.sliding_window - 1 + limits.max_in_flight_tokens, max_model_len)
    return cdiv(tokens, spec.block_size) + 1  # a window may begin inside a block


def _state_blocks(spec: Spec, max_model_len: int, limits: Limits) -> int:
    if limits.mamba_cache_mode == "all":
        return cdiv(max_model_len, spec.block_size)
    return 2 if limits.mamba_cache_mode == "align" else 1
