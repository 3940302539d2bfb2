"""DeepSeek-V4's layers: one shared key and value, compressed caches, four residual streams (models/deepseek_v4)."""

from __future__ import annotations

from dataclasses import replace

from snippets.planner.weights.counting import Counting
from snippets.planner.weights.parts.feed_forward import mlp
from snippets.planner.weights.split import divided
from snippets.planner.weights.storage.size import NOTHING, Size

_SCALED_MXFP4 = 32  # weights that share one 8-bit scale
_INT32 = 4


def with_byte_scales(c: Counting) -> Counting:
    """Its block scales are powers of two, one byte each (float8_e8m0)."""
    return replace(c, scheme=replace(c.scheme, scale_bytes=1)) if c.scheme.kind == "block8" else c


def outside_streams(c: Counting) -> Size:
    """What merges the residual streams before the last norm; on every stage."""
    streams = c.number("hc_mult")
    return c.float32(streams * streams * c.hidden + streams + 1)


def v4_layer(c: Counting, index: int) -> Size:
    """One layer, by its compression ratio: 0 for none."""
    ratios = c.text.integers("compress_ratios") or ()
    size = _streams_and_attention(c)
    if ratios[index]:
        size += _compressor(c, ratios[index], c.number("head_dim"))
    if ratios[index] == 4:
        size += _indexer(c)
    return size + _mixture(c, index < c.number("num_hash_layers", 0))


def v4_mtp_layer(c: Counting) -> Size:
    """An MTP layer compresses nothing, and its experts are chosen by their scores."""
    return _streams_and_attention(c) + _mixture(c, is_hashed=False)


def _streams_and_attention(c: Counting) -> Size:
    streams = c.number("hc_mult")
    mixes = (streams + 2) * streams
    size = c.float32(2 * (mixes * streams * c.hidden + mixes + 3))  # before attention and before the MLP
    return size + c.numbers(2 * c.hidden) + _attention(c)


def _attention(c: Counting) -> Size:
    heads, head_dim, rank = c.config.num_attention_heads, c.number("head_dim"), c.number("q_lora_rank")
    own = c.split.of_rank(heads, "num_attention_heads")
    groups, group_rank = c.number("o_groups"), c.number("o_lora_rank")
    grouped = c.split.of_rank(groups * group_rank, "o_groups")
    size = c.float32(heads) + c.numbers(rank + head_dim)  # sinks; norms of queries and of the key
    size += c.matrix("attn.wq_a", c.hidden, rank, head_dim) + c.matrix("attn.wq_b", rank, own * head_dim)
    size += c.matrix("attn.wo_a", heads * head_dim // groups, grouped)
    return size + c.matrix("attn.wo_b", grouped, c.hidden)


def _compressor(c: Counting, ratio: int, width: int) -> Size:
    """Windows of ratio 4 overlap, so each half has its own columns."""
    columns = width * (2 if ratio == 4 else 1)
    return c.float32(ratio * columns) + c.plain_matrix(c.hidden, 2 * columns) + c.numbers(width)


def _indexer(c: Counting) -> Size:
    heads, head_dim, rank = c.number("index_n_heads"), c.number("index_head_dim"), c.number("q_lora_rank")
    size = c.matrix("attn.indexer.wq_b", rank, heads * head_dim) + c.plain_matrix(c.hidden, heads)
    return size + _compressor(c, 4, head_dim)


def _mixture(c: Counting, is_hashed: bool) -> Size:
    """Experts in 4 bits; the first layers choose them by a table of token ids instead of a correction."""
    experts, inner = c.number("n_routed_experts"), c.number("moe_intermediate_size")
    size = c.plain_matrix(c.hidden, experts)
    if is_hashed:
        size += Size(0, (c.config.vocab_size or 0) * c.number("num_experts_per_tok") * _INT32)
    else:
        size += c.float32(experts)
    part = divided(inner, c.split.expert_tensor, "moe_intermediate_size")
    numbers = c.split.experts(experts) * 3 * c.hidden * part
    size += Size(numbers, numbers // 2 + numbers // _SCALED_MXFP4)
    shared = c.number("n_shared_experts", 0) * inner
    return size + (mlp(c, shared, "ffn.shared_experts", c.split.tensor) if shared else NOTHING)
