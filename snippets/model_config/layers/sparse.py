"""Sparse attention with side caches: DeepSeek-V4's compressed latents and windows, MiniMax-M3's block indexer."""

from __future__ import annotations

from snippets.model_config.decoder import Decoder
from snippets.model_config.layers.mla import QUANT_BLOCK
from snippets.model_config.model_config import AttentionCache, Layer

RATIOS = (4, 128)  # the compressors vLLM has (models/deepseek_v4/compressor.py CompressorStateCache)


def compressor(ratio: int, head_size: int) -> AttentionCache:
    """The running sums of one compressor: float32, over a window of one or two compressed tokens."""
    overlap = 1 + (ratio == 4)
    size = 2 * overlap * head_size
    return AttentionCache("compressor", 1, size, size, sliding_window=overlap * ratio, compress_ratio=ratio)


def deepseek_v4(decoder: Decoder) -> tuple[Layer, ...]:
    """Each layer's caches in vLLM's order of meaning (models/deepseek_v4/attention.py)."""
    text = decoder.text
    size = text.integer("head_dim", maximum=1 << 20)
    index_size = text.integer("index_head_dim", maximum=1 << 20)
    window = text.integer("sliding_window", maximum=1 << 31)
    ratios = text.integers("compress_ratios")
    if ratios is None or len(ratios) < decoder.num_layers:
        raise text.error("compress_ratios", f"needs an entry for each of {decoder.num_layers} layers.")
    near = AttentionCache("sliding_mla", 1, size, size, sliding_window=window)
    per_token = index_size + index_size // QUANT_BLOCK * 4
    kinds: dict[int, Layer] = {0: (near,), 1: (near,)}
    for ratio in RATIOS:
        far = AttentionCache("mla", 1, size, size, compress_ratio=ratio)
        kinds[ratio] = (far, near, compressor(ratio, size))
    picked = AttentionCache("indexer", 1, per_token, per_token, compress_ratio=4)
    kinds[4] = (*kinds[4], picked, compressor(4, index_size))
    for index, ratio in enumerate(ratios[: decoder.num_layers]):
        if ratio not in kinds:
            raise text.error(f"compress_ratios[{index}]", f"is {ratio}: vLLM 0.26.0 knows 0, 1, 4 and 128.")
    return tuple(kinds[ratio] for ratio in ratios[: decoder.num_layers])


def minimax_m3(decoder: Decoder) -> tuple[Layer, ...]:
    """MiniMax-M3: plain keys and values everywhere, and a key of the indexer in BF16 in the sparse layers."""
    sparse = decoder.text.child("sparse_attention_config")
    if sparse is None:
        raise decoder.text.error("sparse_attention_config", "is missing: it says which layers have an indexer.")
    full = decoder.full()
    marks = sparse.integers("sparse_attention_freq", decoder.num_layers)
    if marks is None:
        return (full,) * decoder.num_layers
    per_token = 2 * sparse.integer("sparse_index_dim", maximum=1 << 20)
    indexed: Layer = (*full, AttentionCache("indexer", 1, per_token, per_token))
    return tuple(indexed if mark else full for mark in marks)
