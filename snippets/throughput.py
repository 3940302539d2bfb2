"""Ceilings on decode throughput: what reading the weights, reading the cache and computing allow on one card.

All are bounds from the data sheet's peaks, for sequences of one length, in tokens per second over all sequences.
Prefill, launch overhead and sampling are left out, so a server stays below them. Uniform full attention, dense models.
"""

from __future__ import annotations

from snippets.catalog.gpus import Gpu
from snippets.catalog.models import Model
from snippets.decode_step import kv_read_bytes, prefill_linear_flops, step_bytes, step_seconds, weights_read_bytes


def decode_flops_per_token(model: Model, seq_len: int) -> int:
    """FLOPs of one new token: linear layers, lm_head, and attention to `seq_len` cached tokens."""
    multiply_and_add = 2
    lm_head = multiply_and_add * model.vocab_size * model.hidden_size
    scores_and_values = 2
    attention = (
        scores_and_values * multiply_and_add * model.num_layers * model.num_attention_heads * model.head_dim * seq_len
    )
    return prefill_linear_flops(model, 1) + lm_head + attention


def weights_ceiling(model: Model, gpu: Gpu, sequences: int = 1) -> float:
    """If only the weights were read, once per step for all sequences. It grows with every sequence."""
    return sequences / step_seconds(weights_read_bytes(model), gpu.bytes_per_second)


def cache_ceiling(model: Model, gpu: Gpu, seq_len: int, dtype_bytes: int = 2) -> float:
    """If only the cache were read. More sequences bring more cache, so they do not raise it."""
    return 1 / step_seconds(kv_read_bytes(model, seq_len, dtype_bytes), gpu.bytes_per_second)


def reading_ceiling(model: Model, gpu: Gpu, sequences: int, seq_len: int, dtype_bytes: int = 2) -> float:
    """Reading both, as a step does."""
    read = step_bytes(model, sequences * seq_len, dtype_bytes)
    return sequences / step_seconds(read, gpu.bytes_per_second)


def arithmetic_ceiling(model: Model, gpu: Gpu, seq_len: int) -> float:
    """If every FLOP ran at the peak of dense BF16."""
    return gpu.flops_per_second / decode_flops_per_token(model, seq_len)
