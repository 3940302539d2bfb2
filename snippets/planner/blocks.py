"""From bytes to blocks, tokens and vLLM 0.26.0's two log lines, for models whose layers all have full attention.

Formulas and line numbers from v1/core/kv_cache_utils.py and v1/kv_cache_interface.py. Refused here: MLA and sliding
windows, whose layers vLLM groups in other ways. One GPU; the block that vLLM keeps as null block is counted, as in
its log.
"""

from __future__ import annotations

from snippets.kv_shapes import KVShape, elements_per_token_per_layer

DEFAULT_BLOCK_SIZE = 16  # config/cache.py:47; an attention backend may ask for another


class NotPlannedError(ValueError):
    """A model or setting outside the uniform full-attention case; `field` names the field at fault."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def _positive(field: str, value: int) -> int:
    if value < 1:
        raise NotPlannedError(field, f"{field} is {value}; it must be 1 or more")
    return value


def page_size_bytes(shape: KVShape, block_size: int, dtype_bytes: int) -> int:
    """Bytes of one block in one layer: keys and values of `block_size` tokens (kv_cache_interface.py:328)."""
    if shape.attention == "mla":
        raise NotPlannedError("attention", "attention is mla; this module plans layers with full keys and values only")
    if shape.num_sliding_layers:
        raise NotPlannedError(
            "num_sliding_layers",
            f"num_sliding_layers is {shape.num_sliding_layers}; vLLM groups sliding layers apart, which is not "
            "planned here: choose a model with full attention in every layer",
        )
    return (
        _positive("block_size", block_size)
        * elements_per_token_per_layer(shape)
        * _positive("dtype_bytes", dtype_bytes)
    )


def num_gpu_blocks(available_bytes: int, page_size: int, num_layers: int) -> int:
    """Whole blocks that fit; each takes one page in every layer (kv_cache_utils.py:1005)."""
    return max(available_bytes // _positive("page_size", page_size) // _positive("num_layers", num_layers), 0)


def blocks_per_request(max_model_len: int, block_size: int) -> int:
    """Blocks that the longest request allowed needs (kv_cache_utils.py:945)."""
    return -(-_positive("max_model_len", max_model_len) // _positive("block_size", block_size))


def max_concurrency(num_blocks: int, block_size: int, max_model_len: int) -> float:
    """Requests of full length that fit at once (kv_cache_utils.py:937). `max_num_seqs` is a second ceiling."""
    return num_blocks / blocks_per_request(max_model_len, block_size)


def kv_cache_size_tokens(num_blocks: int, block_size: int, max_model_len: int) -> int:
    """The tokens vLLM prints, derived from the concurrency (kv_cache_utils.py:1829)."""
    return int(max_concurrency(num_blocks, block_size, max_model_len) * max_model_len)


def log_lines(num_blocks: int, block_size: int, max_model_len: int) -> tuple[str, str]:
    """The two lines vLLM 0.26.0 prints at start (kv_cache_utils.py:2177), without the logger's prefix."""
    tokens = kv_cache_size_tokens(num_blocks, block_size, max_model_len)
    concurrency = max_concurrency(num_blocks, block_size, max_model_len)
    return (
        f"GPU KV cache size: {tokens:,} tokens",
        f"Maximum concurrency for {max_model_len:,} tokens per request: {concurrency:.2f}x",
    )
