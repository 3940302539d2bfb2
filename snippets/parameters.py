"""Counting a model's parameters from its config, and the bytes they take in each weight format.

Two sums: `linear`, the weight matrices that an FP8 or 4-bit checkpoint quantises, and `other`, which stays 16-bit:
embeddings, lm_head, norms, biases, routers. Every total equals what Hugging Face's model class has.

Another shape can be tried on a model: its layers and attention projections are counted anew, while hidden size, MLP
and vocabulary are kept. When that changes the kind of attention:
- to MLA: head_dim is the part without position of a query and key and also the value's size, so a query head has
  head_dim + qk_rope_head_dim; queries are compressed only if the model compresses them; no biases on Q, K, V.
- from MLA: one plain matrix each for Q, K and V, no compression.
"""

from __future__ import annotations

from dataclasses import dataclass

from snippets.catalog.models import Model, WeightFormat
from snippets.kv_shapes import KVShape

_SIXTEEN_BIT = 2  # bytes
_GROUP = 128  # AWQ: weights that share one FP16 scale and one 4-bit zero point
_GROUP_BITS = _GROUP * 4 + 16 + 4  # 4.15625 bits per weight
_MX_BLOCK = 32  # MXFP4: weights that share one 8-bit scale
_MX_BLOCK_BITS = _MX_BLOCK * 4 + 8  # 4.25 bits per weight


@dataclass(frozen=True)
class Parameters:
    """Numbers of parameters."""

    linear: int  # matrices that a quantised checkpoint stores in few bits
    other: int  # always 16-bit
    routed_experts: int = 0  # the part of `linear` in mixture-of-experts matrices, of which a token uses a few

    @property
    def total(self) -> int:
        return self.linear + self.other


def count_parameters(model: Model, shape: KVShape | None = None) -> Parameters:
    """The parameters of a model, or of the model with another KV shape."""
    shape = shape or KVShape.of(model)
    moe_layers = max(shape.num_layers - model.num_dense_layers, 0) if model.num_experts else 0
    dense_layers = shape.num_layers - moe_layers
    matrices = 3 if model.gated_mlp else 2

    expert = matrices * model.hidden_size * model.moe_intermediate_size
    routed_experts = moe_layers * model.num_experts * expert
    linear = (
        shape.num_layers * _attention_matrices(model, shape)
        + dense_layers * matrices * model.hidden_size * model.intermediate_size
        + moe_layers * model.num_shared_experts * expert
        + routed_experts
    )
    other = (
        embedding_parameters(model)
        + (0 if model.tie_word_embeddings else model.vocab_size * model.hidden_size)
        + shape.num_layers * (_attention_vectors(model, shape) + model.norms_per_layer * _norm(model))
        + dense_layers * _mlp_biases(model, model.intermediate_size)
        + moe_layers * _router_and_expert_biases(model)
        + _norm(model)  # the last one, before lm_head
    )
    return Parameters(linear, other, routed_experts)


def embedding_parameters(model: Model) -> int:
    """The tables that a token only looks its row up in: input embedding and learned positions."""
    return (model.vocab_size + model.learned_positions) * model.hidden_size


def weight_bytes(parameters: Parameters, weight_format: WeightFormat) -> int:
    """Bytes of the weights. FP8's scales, one per matrix or per 128 × 128 tile, are left out: under 0.03 %."""
    sixteen_bit = _SIXTEEN_BIT * parameters.other
    if weight_format == "bf16":
        return _SIXTEEN_BIT * parameters.linear + sixteen_bit
    if weight_format == "fp8":
        return parameters.linear + sixteen_bit
    if weight_format == "int4":
        return -(-parameters.linear * _GROUP_BITS // (8 * _GROUP)) + sixteen_bit
    if weight_format == "mxfp4":  # as gpt-oss is published: only the experts are quantised
        rest = parameters.linear - parameters.routed_experts
        return -(-parameters.routed_experts * _MX_BLOCK_BITS // (8 * _MX_BLOCK)) + _SIXTEEN_BIT * rest + sixteen_bit
    raise ValueError(f"weight_format is {weight_format!r}; it must be bf16, fp8, int4 or mxfp4")


def published_weight_bytes(model: Model) -> int:
    """Bytes of a catalog model in the format it is published in."""
    return weight_bytes(count_parameters(model), model.weight_format)


def _attention_matrices(model: Model, shape: KVShape) -> int:
    """Projections of one layer."""
    hidden, heads, head_dim = model.hidden_size, shape.num_attention_heads, shape.head_dim
    output = heads * head_dim * hidden
    if shape.attention != "mla":
        return hidden * heads * head_dim + 2 * hidden * shape.num_kv_heads * head_dim + output
    latent, rope = shape.kv_lora_rank, shape.qk_rope_head_dim
    queries = heads * (head_dim + rope)
    query = hidden * model.q_lora_rank + model.q_lora_rank * queries if model.q_lora_rank else hidden * queries
    return query + hidden * (latent + rope) + latent * heads * 2 * head_dim + output


def _attention_vectors(model: Model, shape: KVShape) -> int:
    """Biases, norms and sinks of one layer's attention."""
    heads, head_dim = shape.num_attention_heads, shape.head_dim
    output_bias = model.hidden_size if model.attention_output_bias else 0
    sinks = heads if model.attention_sinks else 0
    if shape.attention == "mla":
        return output_bias + sinks + shape.kv_lora_rank + model.q_lora_rank  # one norm for each compression
    qkv_bias = (heads + 2 * shape.num_kv_heads) * head_dim if model.qkv_bias else 0
    return output_bias + sinks + qkv_bias + (2 * head_dim if model.qk_norm else 0)


def _norm(model: Model) -> int:
    return model.hidden_size * (2 if model.norm == "layernorm" else 1)


def _mlp_biases(model: Model, intermediate_size: int) -> int:
    inner = 2 * intermediate_size if model.gated_mlp else intermediate_size
    return inner + model.hidden_size if model.mlp_bias else 0


def _router_and_expert_biases(model: Model) -> int:
    router = model.num_experts * (model.hidden_size + (1 if model.router_bias else 0))
    return router + model.num_experts * _mlp_biases(model, model.moe_intermediate_size)
