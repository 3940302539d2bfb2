"""Model facts: the fields of a published config.json that size a KV cache or count parameters.

The data stands in models.json; adding a model there needs no code. Sizes are elements, not bytes.
"""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Literal

Attention = Literal["mha", "gqa", "mqa", "mla"]
WeightFormat = Literal["bf16", "fp8", "int4", "mxfp4"]


class UnknownModelError(KeyError):
    """A key that is not in the catalog."""

    def __str__(self) -> str:
        return str(self.args[0])


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
    return {key: Model(key=key, **fields) for key, fields in json.loads(raw).items()}


def model(key: str) -> Model:
    """The model of that key; an unknown one is refused with the keys there are."""
    try:
        return models()[key]
    except KeyError:
        known = ", ".join(models())
        raise UnknownModelError(f"model {key!r} is not in the catalog; it has: {known}") from None
