"""TurboQuant caches: bytes of a slot, and the layers it leaves alone (layers/quantization/turboquant/config.py)."""

from __future__ import annotations

from snippets.model_config.model_config import ModelConfig
from snippets.planner.engine_args import EngineArgsError

BITS = {  # name → bits of a key, bits of a value
    "turboquant_k8v4": (8, 4),
    "turboquant_4bit_nc": (4, 4),
    "turboquant_k3v4_nc": (3, 4),
    "turboquant_3bit_nc": (3, 3),
}
NAMELESS_LAYERS = ("falcon_h1", "plamo2", "kimi_linear", "bailing_hybrid")  # hybrids without a list of layer types
BOUNDARY_LAYERS = 2  # the first and the last two stay unquantized, except in hybrids


def slot_bytes(kv_cache_dtype: str, head_size: int) -> int:
    """Bytes of one key and one value of one head, rounded up to even (slot_size_aligned)."""
    key_bits, value_bits = BITS[kv_cache_dtype]
    key = head_size if key_bits == 8 else -(-head_size * key_bits // 8) + 2  # and a norm in fp16
    value = -(-head_size * value_bits // 8) + 4  # and a scale and a zero in fp16
    return key + value + (key + value) % 2


def skipped_layers(config: ModelConfig, kv_cache_dtype: str) -> frozenset[int]:
    """Indices of layers that keep the model's dtype (get_boundary_skip_layers)."""
    if not kv_cache_dtype.startswith("turboquant_"):
        return frozenset()
    if config.model_type in NAMELESS_LAYERS:
        raise EngineArgsError(
            "kv_cache_dtype",
            "TurboQuant KV cache requires identifiable full-attention layers, but none were found in the hybrid model "
            "config.",
        )
    if config.is_hybrid:
        return frozenset()
    num_layers = len(config.layers)
    count = min(BOUNDARY_LAYERS, num_layers // 2)
    return frozenset((*range(count), *range(num_layers - count, num_layers)))
