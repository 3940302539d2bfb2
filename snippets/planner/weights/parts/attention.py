"""Attention's projections on one rank: queries per head, keys and values per KV head, and MLA's compressions."""

from __future__ import annotations

from snippets.model_config.model_config import AttentionCache
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.recipe import Answer
from snippets.planner.weights.storage.size import Size


def answer(c: Counting, given: Answer) -> bool:
    """A class's fixed answer, or what the config says."""
    return given if isinstance(given, bool) else c.text.flag(given[0], given[1])


def attention(c: Counting, cache: AttentionCache) -> Size:
    """q, k, v and o of one layer (layers/linear.py QKVParallelLinear, RowParallelLinear)."""
    recipe, all_heads = c.recipe, c.config.num_attention_heads
    heads = c.split.of_rank(all_heads, "num_attention_heads")
    kv_heads = c.split.kv_heads(cache.num_kv_heads)
    queries = heads * cache.head_size * (2 if answer(c, recipe.gated_attention) else 1)
    keys, values = kv_heads * cache.head_size, kv_heads * cache.head_size_v
    made = heads * cache.head_size_v
    qkv_bias = queries + keys + values if answer(c, recipe.qkv_bias) else 0
    output_bias = c.hidden if answer(c, recipe.output_bias) else 0
    size = c.matrix("self_attn.q_proj", c.hidden, queries, keys, values, bias=qkv_bias)
    size += c.matrix("self_attn.o_proj", made, c.hidden, bias=output_bias, all_inputs=all_heads * cache.head_size_v)
    if recipe.qk_norm == "head" or (recipe.qk_norm == "flag" and c.text.flag("use_qk_norm")):
        size += c.numbers(2 * cache.head_size)
    if recipe.qk_norm == "whole":
        size += c.numbers((all_heads + cache.num_kv_heads) * cache.head_size)
    if _has_sinks(c, cache):
        size += c.numbers(heads)
    return size + Size(0, c.scheme.attention_scalars)


def _has_sinks(c: Counting, cache: AttentionCache) -> bool:
    if c.recipe.sinks == "flags":  # MiMo-V2 says it for each kind of layer
        kind = "swa" if cache.kind == "sliding" else "full"
        return c.text.flag(f"add_{kind}_attention_sink_bias")
    return c.recipe.sinks == "all"


def mla(c: Counting) -> Size:
    """Compressions on every rank, expansions per head (models/deepseek_v2.py DeepseekV2MLAAttention)."""
    all_heads = c.config.num_attention_heads
    heads = c.split.of_rank(all_heads, "num_attention_heads")
    latent, rope = c.number("kv_lora_rank"), c.number("qk_rope_head_dim")
    nope, value = c.number("qk_nope_head_dim"), c.number("v_head_dim")
    rank = c.number("q_lora_rank", 0)
    queries = heads * (nope + rope)
    if rank:
        size = c.matrix("self_attn.kv_a_proj_with_mqa", c.hidden, rank, latent + rope)
        size += c.numbers(rank) + c.matrix("self_attn.q_b_proj", rank, queries)
    else:
        size = c.matrix("self_attn.kv_a_proj_with_mqa", c.hidden, latent + rope)
        size += c.matrix("self_attn.q_proj", c.hidden, queries)
    size += c.numbers(latent) + c.matrix("self_attn.kv_b_proj", latent, heads * (nope + value))
    return size + c.matrix("self_attn.o_proj", heads * value, c.hidden, all_inputs=all_heads * value)


def indexer(c: Counting) -> Size:
    """DeepSeek-V3.2's selector of tokens, whole on every rank (deepseek_v2.py Indexer)."""
    heads, head_dim, rank = c.number("index_n_heads"), c.number("index_head_dim"), c.number("q_lora_rank")
    size = c.matrix("self_attn.indexer.wq_b", rank, heads * head_dim)
    size += c.plain_matrix(c.hidden, head_dim + heads)  # wk and weights_proj, merged and never quantised
    return size + c.float32(2 * head_dim)  # LayerNorm of the key
