"""Multi-head latent attention: one latent per token, and for DSA an indexer's key beside it."""

from __future__ import annotations

from snippets.model_config.decoder import Decoder
from snippets.model_config.fields import Fields
from snippets.model_config.model_config import AttentionCache, Layer

QUANT_BLOCK = 128  # elements that share one float32 scale in the indexer's FP8 keys (deepseek_v2.py Indexer)

# vLLM model_arch_config_convertor.py is_deepseek_mla: only these are served as MLA
MLA_TYPES = (
    "axk1", "deepseek_v2", "deepseek_v3", "deepseek_v32", "deepseek_v4", "deepseek_mtp", "glm_moe_dsa",
    "glm4_moe_lite", "glm4_moe_lite_mtp", "kimi_k2", "kimi_linear", "longcat_flash", "longcat_flash_ngram",
    "pangu_ultra_moe", "pangu_ultra_moe_mtp", "bailing_hybrid", "bailing_hybrid_mtp",
)  # fmt: skip


def uses_mla(model_type: str, text: Fields) -> bool:
    """Whether vLLM serves the model with its MLA code (is_deepseek_mla)."""
    if model_type not in MLA_TYPES:
        return False
    if text.raw("compress_ratios") is not None:
        return text.raw("head_dim") is not None
    return text.raw("kv_lora_rank") is not None


def mla_head_size(text: Fields) -> int:
    """Elements of the latent: kv_lora_rank + qk_rope_head_dim."""
    return text.integer("kv_lora_rank", maximum=1 << 20) + text.integer("qk_rope_head_dim", minimum=0, maximum=1 << 20)


def latent(decoder: Decoder, is_sparse: bool = False) -> AttentionCache:
    """The latent cache of one layer."""
    size = mla_head_size(decoder.text)
    return AttentionCache("mla", 1, size, size, is_sparse=is_sparse)


def has_indexer(decoder: Decoder) -> bool:
    """Whether the layers are sparse (vLLM: hasattr(config, "index_topk"))."""
    return decoder.text.raw("index_topk") is not None


def indexer(decoder: Decoder) -> AttentionCache:
    """The indexer's cache: FP8 keys and a float32 scale per 128 of them, in bytes per token."""
    size = decoder.text.integer("index_head_dim", maximum=1 << 20)
    per_token = size + size // QUANT_BLOCK * 4
    return AttentionCache("indexer", 1, per_token, per_token)


def indexed_layers(decoder: Decoder) -> list[bool]:
    """Which layers have an indexer of their own (deepseek_v2.py DeepseekV2MLAAttention, IndexCache)."""
    text = decoder.text
    pattern = text.text("index_topk_pattern")
    if pattern is not None:
        return [not (index < len(pattern) and pattern[index] == "S") for index in range(decoder.num_layers)]
    frequency = text.optional_integer("index_topk_freq") or 1
    raw_offset = text.optional_integer("index_skip_topk_offset", minimum=0)
    offset = 2 if raw_offset is None else raw_offset
    indexed = [max(index - offset + 1, 0) % frequency == 0 for index in range(decoder.num_layers)]
    named = text.words("indexer_types", ("full", "shared"), decoder.num_layers)
    if named is not None and [word == "full" for word in named] != indexed:
        raise text.error("indexer_types", "differs from index_topk_freq and index_skip_topk_offset, which vLLM reads.")
    return indexed


def deepseek(decoder: Decoder) -> tuple[Layer, ...]:
    """DeepSeek V2, V3, V3.2, Kimi K2, GLM-5: MLA where vLLM takes it, plain heads where the ranks are absent."""
    text = decoder.text
    nope = text.optional_integer("qk_nope_head_dim", minimum=0) or 0
    rope = text.optional_integer("qk_rope_head_dim", minimum=0) or 0
    if decoder.model_type == "deepseek" or not (nope or rope):  # deepseek_v2.py DeepseekV2DecoderLayer use_mha
        return (decoder.full(head_size=decoder.hidden_size // decoder.num_heads),) * decoder.num_layers
    if not uses_mla(decoder.model_type, text):
        raise text.error(
            "kv_lora_rank",
            f"is null or missing while qk_nope_head_dim is {nope}: that is MLA without its rank.",
        )
    if not has_indexer(decoder):
        return ((latent(decoder),),) * decoder.num_layers
    sparse, key = latent(decoder, is_sparse=True), indexer(decoder)
    return tuple((sparse, key) if indexed else (sparse,) for indexed in indexed_layers(decoder))


def minicpm3(decoder: Decoder) -> tuple[Layer, ...]:
    """MiniCPM3: MLA weights, but vLLM unfolds them and caches every head (vLLM minicpm3.py)."""
    text = decoder.text
    size = text.integer("qk_nope_head_dim", maximum=1 << 20) + text.integer("qk_rope_head_dim", maximum=1 << 20)
    return (decoder.full(decoder.num_heads, size),) * decoder.num_layers
