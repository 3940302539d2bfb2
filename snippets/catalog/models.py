"""Model facts: what sizes a KV cache or counts parameters. Sizes are elements, not bytes.

Sizes come from the published config (configs.json); models.json holds what a config does not say: how the class is
built, and the parameter count. Adding a model to both needs no code.
"""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from snippets.catalog.configs import UnknownModelError as UnknownModelError
from snippets.catalog.configs import catalog_config, config_entries
from snippets.model_config.model_config import AttentionCache, ModelConfig

Attention = Literal["mha", "gqa", "mqa", "mla"]
WeightFormat = Literal["bf16", "fp8", "int4", "mxfp4"]


@dataclass(frozen=True)
class Model:
    """One published checkpoint, in Hugging Face's words where it has them."""

    key: str
    name: str
    attention: Attention
    num_layers: int
    hidden_size: int
    num_attention_heads: int  # query heads
    num_kv_heads: int  # 1 for MLA: one latent serves every head, whatever config.json says
    head_dim: int  # for MLA the part without rotary position, and the value
    vocab_size: int
    max_position_embeddings: int
    intermediate_size: int  # of a dense MLP; of one expert see moe_intermediate_size
    num_parameters: int  # the exact count, without draft (MTP) layers and vision towers
    source: str  # the repository whose config.json it is
    source_url: str  # the copy that was read
    read: str  # the day it was read, ISO 8601
    weight_format: WeightFormat = "bf16"  # how the checkpoint is published; "bf16" stands for FP16 too
    tie_word_embeddings: bool = False  # one matrix is both input embedding and lm_head
    kv_lora_rank: int = 0  # MLA's latent; 0 without MLA
    qk_rope_head_dim: int = 0  # MLA's shared rotary key; 0 without MLA
    q_lora_rank: int = 0  # MLA's query compression; 0 for a plain query projection
    sliding_window: int = 0  # tokens a sliding layer keeps; 0 for none
    num_sliding_layers: int = 0
    gated_mlp: bool = True  # gate, up and down matrices; without: up and down
    mlp_bias: bool = False
    qkv_bias: bool = False
    attention_output_bias: bool = False
    qk_norm: bool = False  # one norm over head_dim for queries and one for keys, per layer
    attention_sinks: bool = False  # one learned number per query head and layer
    norm: Literal["rmsnorm", "layernorm"] = "rmsnorm"  # layernorm has a bias beside the weight
    norms_per_layer: int = 2
    learned_positions: int = 0  # rows of a position table; 0 for rotary position
    num_experts: int = 0  # routed experts of a mixture-of-experts layer; 0 for a dense model
    num_experts_per_token: int = 0
    num_shared_experts: int = 0
    moe_intermediate_size: int = 0
    num_dense_layers: int = 0  # first layers without experts in a mixture-of-experts model
    router_bias: bool = False  # one number per expert and layer beside the router's weights


@cache
def models() -> dict[str, Model]:
    """Every model by key, in the order of models.json."""
    raw = pkgutil.get_data("snippets.catalog", "models.json")  # works from inside a zip too, as in the browser
    if raw is None:
        raise FileNotFoundError("snippets/catalog/models.json")
    return {key: _model(key, facts) for key, facts in json.loads(raw).items()}


def _model(key: str, facts: dict[str, Any]) -> Model:
    """One model: sizes from its config, everything else from models.json."""
    entry, config = config_entries()[key], catalog_config(key)
    source = {"source": entry.repository, "source_url": entry.source_url, "read": entry.read}
    return Model(**{"key": key, **source, **_sizes(config), **facts})


def _sizes(config: ModelConfig) -> dict[str, Any]:
    """What the config says, in the words of Model."""
    caches = [cache for layer in config.layers for cache in layer if isinstance(cache, AttentionCache)]
    first, sliding = caches[0], [cache for cache in caches if cache.kind == "sliding"]
    is_mla = first.kind == "mla"
    experts = config.num_experts
    return {
        "attention": _attention(first, config.num_attention_heads),
        "num_layers": len(config.layers),
        "hidden_size": config.hidden_size,
        "num_attention_heads": config.num_attention_heads,
        "num_kv_heads": first.num_kv_heads,
        "head_dim": _number(config, "v_head_dim") if is_mla else first.head_size,
        "vocab_size": config.vocab_size,
        "max_position_embeddings": config.max_model_len,
        "intermediate_size": config.intermediate_size,
        "tie_word_embeddings": config.fields.get("tie_word_embeddings") is True,
        "kv_lora_rank": _number(config, "kv_lora_rank") if is_mla else 0,
        "qk_rope_head_dim": _number(config, "qk_rope_head_dim") if is_mla else 0,
        "q_lora_rank": _number(config, "q_lora_rank") if is_mla else 0,
        "sliding_window": sliding[0].sliding_window if sliding else 0,
        "num_sliding_layers": len(sliding),
        "num_experts": experts,
        "num_experts_per_token": _number(config, "num_experts_per_tok") if experts else 0,
        "num_shared_experts": _number(config, "n_shared_experts") if experts else 0,
        "moe_intermediate_size": (_number(config, "moe_intermediate_size") or config.intermediate_size)
        if experts
        else 0,
        "num_dense_layers": _number(config, "first_k_dense_replace") if experts else 0,
    }


def _attention(cache: AttentionCache, num_attention_heads: int) -> Attention:
    if cache.kind == "mla":
        return "mla"
    if cache.num_kv_heads == num_attention_heads:
        return "mha"
    return "mqa" if cache.num_kv_heads == 1 else "gqa"


def _number(config: ModelConfig, field: str) -> int:
    """A whole number, 0 where the config does not name it."""
    value = config.text_fields.get(field)
    return value if isinstance(value, int) else 0


def model(key: str) -> Model:
    """The model of that key; an unknown one is refused with the keys there are."""
    try:
        return models()[key]
    except KeyError:
        known = ", ".join(models())
        raise UnknownModelError(f"model {key!r} is not in the catalog; it has: {known}") from None
