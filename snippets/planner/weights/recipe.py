"""How one architecture's weights differ from Llama's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Answer = bool | tuple[str, bool]  # fixed by the class, or a field's name with the class's default

Mlp = Literal["gated", "plain", "none"]
Where = Literal["end", "everywhere"]  # a pipeline's stage that needs it, or every stage


@dataclass(frozen=True)
class Recipe:
    """Everything counted per layer or once; the defaults are Llama's (models/llama.py)."""

    mlp: Mlp = "gated"  # gate, up and down; plain: up and down
    norms: int = 2  # of hidden_size, per layer
    layer_norm: bool = False  # LayerNorm with a bias instead of RMSNorm
    final_norm: bool = True
    qkv_bias: Answer = ("attention_bias", False)
    output_bias: Answer = ("attention_bias", False)
    mlp_bias: Answer = ("mlp_bias", False)
    qk_norm: Literal["", "head", "whole", "flag"] = ""  # over one head; over all heads; over one if use_qk_norm
    gated_attention: Answer = False  # q_proj makes a gate as large as the queries
    sinks: Literal["", "all", "flags"] = ""  # one number per query head
    tied: bool = False  # tie_word_embeddings where the config does not say
    positions: Literal["", "plain", "opt", "whisper", "bert"] = (
        ""  # a learned table; OPT has two rows more than positions
    )
    moe: str = ""  # which of experts.py's rules says how experts are laid out; "" for a dense model
    whole_embedding: bool = False  # neither padded nor split
    embedding_on: Where = "end"
    head_on: Where = "end"
    norm_on: Where = "end"
    tower: str = ""  # which of towers.py's rules counts the encoder of images or sound
    nextn: bool = False  # MTP layers can be drafters
    rotary: Literal["one", "none", "by_kind", "windows"] = "one"  # tables: one; one for windows, one for the rest
    replicated: bool = False  # layers are whole on every tensor parallel rank
