"""What one decode step reads from the card's memory, how long that takes at best, and what prefill computes.

A decode step makes one token for every running sequence. It reads all the weights once, whatever the batch, and each
sequence's KV cache:

    seconds >= (weights read + KV read) / bandwidth

Left out: activations (small), launch overhead, and a bandwidth below the peak. Uniform full attention, dense models.
"""

from __future__ import annotations

from snippets.catalog.gpus import Gpu
from snippets.catalog.models import Model
from snippets.kv_shapes import KVShape, kv_bytes_per_token
from snippets.parameters import count_parameters, embedding_parameters, published_weight_bytes

_SIXTEEN_BIT = 2  # bytes


def weights_read_bytes(model: Model) -> int:
    """Weight bytes one step reads: all but the tables that a token only looks one row up in.

    With tied embeddings the same matrix is read in full as lm_head, so only learned positions are left out.
    Mixture-of-experts models are refused: a step reads only the experts its tokens chose.
    """
    if model.num_experts:
        raise ValueError(
            f"{model.name} has experts, and which ones a step reads depends on its tokens; choose a dense model"
        )
    looked_up = embedding_parameters(model)
    if model.tie_word_embeddings:
        looked_up -= model.vocab_size * model.hidden_size
    return published_weight_bytes(model) - _SIXTEEN_BIT * looked_up


def kv_read_bytes(model: Model, tokens_in_flight: int, dtype_bytes: int = 2) -> int:
    """KV bytes one step reads: every cached token of every running sequence, once."""
    return tokens_in_flight * _full_kv_bytes_per_token(model, dtype_bytes)


def step_bytes(model: Model, tokens_in_flight: int, dtype_bytes: int = 2) -> int:
    """All bytes one step reads."""
    return weights_read_bytes(model) + kv_read_bytes(model, tokens_in_flight, dtype_bytes)


def kv_share(model: Model, tokens_in_flight: int, dtype_bytes: int = 2) -> float:
    """The KV cache's part of the bytes one step reads, 0 to 1."""
    return kv_read_bytes(model, tokens_in_flight, dtype_bytes) / step_bytes(model, tokens_in_flight, dtype_bytes)


def step_seconds(bytes_read: float, bytes_per_second: float) -> float:
    """The least time to read that much: a bound, not a measurement."""
    return bytes_read / bytes_per_second


def tokens_where_kv_reads_equal_weight_reads(model: Model, dtype_bytes: int = 2) -> int:
    """First whole number of tokens in flight whose KV reads are at least the weight reads."""
    return -(-weights_read_bytes(model) // _full_kv_bytes_per_token(model, dtype_bytes))


def tokens_where_kv_memory_equals_weight_memory(model: Model, dtype_bytes: int = 2) -> int:
    """First whole number of tokens whose KV takes at least the weights' memory, input embedding included."""
    return -(-published_weight_bytes(model) // _full_kv_bytes_per_token(model, dtype_bytes))


def critical_intensity(gpu: Gpu) -> float:
    """FLOPs per byte at which the card computes as long as it reads (the roofline's ridge)."""
    return gpu.flops_per_second / gpu.bytes_per_second


def linear_intensity(tokens: int, weight_bytes_each: float = 2) -> float:
    """FLOPs per weight byte of a linear layer: a multiplication and an addition per weight and token."""
    return 2 * tokens / weight_bytes_each


def decode_attention_intensity(model: Model, dtype_bytes: int = 2) -> float:
    """FLOPs per KV byte in decode: the query heads that share a KV head, whatever the batch or length.

    A cached key costs its query group a multiply and an add per element, a value the same. Not for MLA.
    """
    if model.attention == "mla":
        raise ValueError(f"{model.name} has MLA, whose decode multiplies latents; choose a model with keys and values")
    return 2 * (model.num_attention_heads / model.num_kv_heads) / dtype_bytes


def prefill_linear_flops(model: Model, seq_len: int) -> int:
    """FLOPs of all linear layers for a prompt; lm_head is left out, as only the last position needs it."""
    if model.num_experts:
        raise ValueError(f"{model.name} has experts, of which a token uses a few; choose a dense model")
    return 2 * count_parameters(model).linear * seq_len


def prefill_attention_flops(model: Model, seq_len: int) -> int:
    """FLOPs of causal attention for a prompt: scores and weighted values over i <= t, so half the square."""
    _full_kv_bytes_per_token(model, 1)  # refuses other kinds
    pairs = seq_len * (seq_len + 1) // 2
    scores_and_values = 2
    return scores_and_values * 2 * pairs * model.num_layers * model.num_attention_heads * model.head_dim


def prefill_flops(model: Model, seq_len: int) -> int:
    """FLOPs of a prompt: linear layers grow with its length, attention with its square."""
    return prefill_linear_flops(model, seq_len) + prefill_attention_flops(model, seq_len)


def prefill_seconds(flops: float, flops_per_second: float) -> float:
    """The least time to compute that much: a bound, not a measurement."""
    return flops / flops_per_second


def seq_len_where_attention_flops_equal_linear(model: Model) -> int:
    """First prompt length at which causal attention computes at least as much as the linear layers."""
    linear_per_token = prefill_linear_flops(model, 1)
    attention_per_pair = prefill_attention_flops(model, 1)
    return -(-2 * linear_per_token // attention_per_pair) - 1  # linear * S = pair * S * (S + 1) / 2


def _full_kv_bytes_per_token(model: Model, dtype_bytes: int) -> int:
    shape = KVShape.of(model)
    if shape.attention == "mla" or shape.num_sliding_layers:
        raise ValueError(f"{model.name} does not read every token in every layer; choose a model with full attention")
    return kv_bytes_per_token(shape, dtype_bytes)
