"""Whisper's encoder, and the decoder's attention to it (models/whisper.py)."""

from __future__ import annotations

from snippets.model_config.model_config import AttentionCache
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.storage.size import Size


def cross_attention(c: Counting, cache: AttentionCache) -> Size:
    """Queries from the decoder, keys and values from the encoder."""
    wide = c.split.of_rank(c.config.num_attention_heads, "decoder_attention_heads") * cache.head_size
    kv_wide = c.split.kv_heads(cache.num_kv_heads) * cache.head_size
    size = c.matrix("encoder_attn.q_proj", c.hidden, wide, bias=wide)
    size += c.matrix("encoder_attn.kv_proj", c.hidden, kv_wide, kv_wide, bias=2 * kv_wide)
    return size + c.matrix("encoder_attn.out_proj", wide, c.hidden, bias=c.hidden)


def whisper_encoder(c: Counting) -> Size:
    """Two convolutions, the layers and a position table."""
    hidden, heads = c.hidden, c.number("encoder_attention_heads")
    wide = c.split.of_rank(heads, "encoder_attention_heads") * (hidden // heads)
    inner = c.split.of_rank(c.number("encoder_ffn_dim"), "encoder_ffn_dim")
    layer = c.matrix("self_attn.q_proj", hidden, wide, wide, wide, bias=3 * wide)
    layer += c.matrix("self_attn.out_proj", wide, hidden, bias=hidden)
    layer += c.matrix("fc1", hidden, inner, bias=inner) + c.matrix("fc2", inner, hidden, bias=hidden)
    layer += c.norm(hidden) + c.norm(hidden)
    size = c.numbers(3 * c.number("num_mel_bins", 80) * hidden + hidden)  # conv1, three frames wide
    size += c.numbers(3 * hidden * hidden + hidden)  # conv2
    size += layer * c.number("encoder_layers") + c.norm(hidden)
    return size + c.numbers(c.number("max_source_positions", 1500) * hidden)
