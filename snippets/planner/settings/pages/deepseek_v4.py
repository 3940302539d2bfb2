"""DeepSeek-V4: compressed latents, a window, an indexer and running sums in one layer (vllm/models/deepseek_v4)."""

from __future__ import annotations

from snippets.model_config.model_config import AttentionCache, Layer, ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings.attention.backends import Backend
from snippets.planner.settings.card import Card
from snippets.planner.specs import LayerSpec

BLOCK_SIZE = 256  # models/deepseek_v4/sparse_mla.py, attention/backends/mla/sparse_swa.py get_preferred_block_size
WINDOW_BLOCK_SIZE = 64  # attention/backends/mla/sparse_swa.py: it shares memory with 256 tokens compressed four to one
SUMS_BLOCK_SIZE = {4: 4, 128: 8}  # models/deepseek_v4/compressor.py CompressorStateCache
PACKED_ALIGNMENT, ROW_ALIGNMENT = 576, 512  # bytes: FlashMLA's packing, FlashInfer's rows

FLASHMLA = Backend("FLASHMLA_SPARSE_DSV4", block_sizes=(BLOCK_SIZE,), is_mla=True, is_sparse=True)
FLASHINFER = Backend("FLASHINFER_MLA_SPARSE_DSV4", block_sizes=(BLOCK_SIZE,), is_mla=True, is_sparse=True)


def is_deepseek_v4(config: ModelConfig) -> bool:
    """Compressed latents stand in the config."""
    return config.model_type == "deepseek_v4"


def choose(args: EngineArgs, card: Card) -> Backend:
    """models/deepseek_v4/nvidia/model.py:760 _select_dsv4_attn_cls."""
    asked = (args.attention_backend or "").upper()
    if args.block_size not in (None, BLOCK_SIZE):
        raise EngineArgsError(
            "block_size", f"DeepSeek-V4's caches share memory in blocks of {BLOCK_SIZE} tokens; leave block_size out"
        )
    if asked in ("FLASHINFER_MLA_SPARSE", "FLASHINFER_MLA_SPARSE_SM120"):
        raise EngineArgsError(
            "attention_backend",
            f"{asked} is not a DeepSeek V4 attention backend. Use FLASHINFER_MLA_SPARSE_DSV4 for DeepSeek V4 "
            "FlashInfer sparse MLA.",
        )
    if card.is_rocm or card.family not in (9, 10, 12):
        raise EngineArgsError(
            "gpu", f"DeepSeek-V4's kernels are planned here for Hopper and Blackwell; {card.name} is neither"
        )
    if asked == FLASHINFER.name or (card.family == 12 and asked not in ("FLASHMLA_SPARSE", FLASHMLA.name)):
        return FLASHINFER
    return FLASHMLA


def cache_dtypes(backend: Backend, card: Card, kv_cache_dtype: str) -> tuple[str, str]:
    """--kv-cache-dtype under vLLM's name, and the storage dtype (attention.py:69 _resolve_dsv4_kv_cache_dtype)."""
    if backend is FLASHMLA or card.family == 12:
        if not kv_cache_dtype.startswith("fp8"):
            raise EngineArgsError(
                "kv_cache_dtype",
                f"DeepseekV4 fp8_ds_mla layout only supports fp8 kv-cache, got {kv_cache_dtype}. "
                "Set kv_cache_dtype to fp8.",
            )
        return "fp8_ds_mla", "uint8"
    return kv_cache_dtype, "float8_e4m3fn" if kv_cache_dtype.startswith("fp8") else "bfloat16"


def in_order(layer: Layer) -> Layer:
    """vLLM's order of registration: the indexer and its sums, the window, the latents and their sums."""
    attention = [cache for cache in layer if isinstance(cache, AttentionCache)]
    sums = sorted((c for c in attention if c.kind == "compressor"), key=lambda c: c.head_size)
    indexer = [c for c in attention if c.kind == "indexer"]
    rank = {"sliding_mla": 0, "mla": 1}
    rest = sorted((c for c in attention if c.kind in rank), key=lambda c: rank[c.kind])
    return (*indexer, *sums[:-1], *rest, *sums[-1:]) if indexer else (*rest, *sums)


def spec(cache: AttentionCache, kv_cache_dtype: str, stored: str) -> LayerSpec:
    """One of the five caches. `kv_cache_dtype` and `stored` are those of cache_dtypes()."""
    alignment = PACKED_ALIGNMENT if kv_cache_dtype == "fp8_ds_mla" else ROW_ALIGNMENT
    size = cache.head_size
    match cache.kind:
        case "sliding_mla":
            return LayerSpec(
                "sliding_mla", WINDOW_BLOCK_SIZE, 1, size, dtype=stored, cache_dtype=kv_cache_dtype,
                sliding_window=cache.sliding_window, alignment=alignment, model_version="deepseek_v4",
            )  # fmt: skip
        case "mla":
            return LayerSpec(
                "mla", BLOCK_SIZE, 1, size, size, dtype=stored, cache_dtype=kv_cache_dtype,
                compress_ratio=cache.compress_ratio, alignment=alignment, model_version="deepseek_v4",
            )  # fmt: skip
        case "indexer":
            return LayerSpec(
                "mla", BLOCK_SIZE, 1, size, size, dtype="uint8", cache_dtype=None,
                compress_ratio=cache.compress_ratio, alignment=alignment,
            )  # fmt: skip
        case "compressor":
            return LayerSpec(
                "sliding_mla", SUMS_BLOCK_SIZE[cache.compress_ratio], 1, size, dtype="float32", cache_dtype=None,
                sliding_window=cache.sliding_window, alignment=alignment,
            )  # fmt: skip
        case other:
            raise EngineArgsError("config", f"DeepSeek-V4 has no layers of kind {other!r}")
