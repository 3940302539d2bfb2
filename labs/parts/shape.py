"""The shape of a model's KV cache, from its config.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parts.stop import Stop
from snippets.kv_cache_size import ModelConfig

CONFIG_KEYS = (
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "hidden_size",
    "kv_lora_rank",
    "layer_types",
    "sliding_window",
    "use_sliding_window",
    "layers_block_type",
    "hybrid_override_pattern",
    "attn_layer_period",
)


def shape_of(name: str, config: dict[str, Any], dtype_bytes: int, cards: int = 1) -> ModelConfig:
    """The five numbers, on each of the cards that share the model; another form of cache is refused with the reason."""
    get = config.get
    if get("kv_lora_rank"):
        raise Stop("its cache holds the latent of MLA, not keys and values")
    kinds = set(get("layer_types") or ())
    windowed = get("sliding_window") and get("use_sliding_window") is not False and not kinds
    hybrid = any(get(key) for key in ("layers_block_type", "hybrid_override_pattern", "attn_layer_period"))
    if windowed or hybrid or kinds - {"full_attention"}:
        raise Stop("not all of its layers have full attention")
    layers, heads = get("num_hidden_layers"), get("num_attention_heads")
    kv_heads = get("num_key_value_heads") or heads
    head_dim = get("head_dim") or ((get("hidden_size") or 0) // heads if heads else None)
    if not (layers and kv_heads and head_dim):
        raise Stop("its config.json does not name layers, KV heads and head size in the usual way")
    return ModelConfig(
        Path(name).name, layers, max(1, kv_heads // cards), head_dim, dtype_bytes
    )  # config/model.py:1339
