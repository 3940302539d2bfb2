"""What a config.json says, in one form for every architecture. Sizes are elements and whole-model, before any split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

AttentionKind = Literal[
    "full", "sliding", "chunked", "mla", "sliding_mla", "indexer", "compressor", "cross", "encoder_only"
]
StateKind = Literal["mamba1", "mamba2", "gdn", "kda", "short_conv", "linear"]


class ConfigError(ValueError):
    """A config that cannot be read; `field` names the field at fault ("" when the text is not JSON at all)."""

    def __init__(self, field: str, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.field = field
        self.line = line  # 1-based place in the text, 0 when it has none
        self.column = column


@dataclass(frozen=True)
class AttentionCache:
    """Keys and values of one attention in one layer."""

    kind: AttentionKind
    num_kv_heads: int  # whole model; 1 for MLA and the indexer
    head_size: int  # of a key; for MLA kv_lora_rank + qk_rope_head_dim, for the indexer bytes per token
    head_size_v: int  # of a value; equal to head_size where the config knows one size, and for MLA
    sliding_window: int = 0  # tokens; sliding kinds only
    attention_chunk_size: int = 0  # tokens; chunked only
    compress_ratio: int = 1  # tokens that share one entry (DeepSeek-V4)
    is_sparse: bool = False  # MLA that reads only what its indexer picked (DSA)


@dataclass(frozen=True)
class StateCache:
    """The fixed-size state of one recurrent layer. `dims` are the arguments of vLLM's shape calculator for its kind.

    mamba1: intermediate_size, state_size, conv_kernel. mamba2: intermediate_size, n_groups, num_heads, head_dim,
    state_size, conv_kernel. gdn and kda: num_k_heads, num_v_heads, head_k_dim, head_v_dim, conv_kernel.
    short_conv: intermediate_size, conv_kernel. linear: num_heads, head_dim.
    """

    kind: StateKind
    dims: tuple[tuple[str, int], ...]

    def dim(self, name: str) -> int:
        """One size by name. Raises KeyError for a name this kind does not have."""
        return dict(self.dims)[name]


Cache = AttentionCache | StateCache
Layer = tuple[Cache, ...]  # () caches nothing (MLP only, or it reads another layer's cache); Falcon-H1 holds two


@dataclass(frozen=True)
class Quantization:
    """How the checkpoint's weights are stored."""

    method: str  # quant_method as published: "awq", "gptq", "fp8", "compressed-tensors", "mxfp4", "modelopt", …
    bits: int | None  # of a weight; None where the config does not say
    group_size: int | None
    kv_cache_dtype: str | None  # what the checkpoint asks of the cache ("fp8"); None if nothing
    fields: Mapping[str, object]  # the whole quantization_config as published


@dataclass(frozen=True)
class ModelConfig:
    """One model, as its config.json says. `fields` and `text_fields` keep what was published."""

    architecture: str  # architectures[0]; "" when absent
    model_type: str  # of the decoder (text_config's where nested)
    layers: tuple[Layer, ...]  # one entry per decoder layer, in order
    hidden_size: int
    num_attention_heads: int  # query heads
    num_kv_heads: int  # what vLLM's parallel checks take (config/model.py get_total_num_kv_heads)
    vocab_size: int | None
    intermediate_size: int | None  # of a dense MLP
    max_model_len: int  # the derived maximum (config/model.py _get_and_verify_max_len)
    max_model_len_key: str  # the field it came from
    dtype: str  # "bfloat16", "float16", "float32": what vLLM runs with under --dtype auto
    quantization: Quantization | None
    num_experts: int  # routed experts; 0 for dense
    is_multimodal: bool
    is_encoder_decoder: bool
    max_encoder_tokens: int  # cross attention caches so many tokens per request; 0 without
    num_nextn_predict_layers: int  # MTP layers in the checkpoint
    fields: Mapping[str, object]  # the whole config as published
    text_fields: Mapping[str, object]  # the decoder's part: text_config and kin, or the same as `fields`
    used: tuple[str, ...]  # names of the fields the reader used, dotted where nested: what a short link must carry
    notes: tuple[str, ...]  # what was absent and what stands for it, one sentence each
    head_size: int = 0  # what vLLM's checks take (get_head_size): the largest of a layer; 0 without attention
    use_mla: bool = False  # vLLM's own test (is_deepseek_mla); decides ranks' KV heads and parallel checks
    default_max_model_len: int = 0  # used when none is given: below max_model_len for longrope alone
    is_pooling: bool = False  # vLLM resolves --runner auto to pooling (embeddings, classification)
    unsupported: str = ""  # why vLLM 0.26.0 would not serve this model at all; "" when it would
    idle_state: StateCache | None = None  # no layer keeps it, and vLLM sizes a hybrid's blocks by it all the same

    @property
    def is_hybrid(self) -> bool:
        """Attention and recurrent state in one model (vLLM's word), or a model that vLLM takes for one."""
        if self.idle_state is not None:
            return True
        kinds = {isinstance(cache, StateCache) for layer in self.layers for cache in layer}
        return kinds == {True, False}
