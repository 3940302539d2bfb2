"""The backend of every attention layer of a model, and what a choice does to the cache's dtype."""

from __future__ import annotations

from collections.abc import Iterable

from snippets.model_config.model_config import AttentionCache, ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings.attention.backends import BACKENDS, Backend
from snippets.planner.settings.attention.select import Question, choose_backend, fa_version, is_quantized, supports_fa
from snippets.planner.settings.card import Card
from snippets.planner.settings.kind import GEMMA4_TYPES, SINK_ARCHITECTURES, is_mm_prefix_lm
from snippets.planner.settings.pages import deepseek_v4

Backends = dict[tuple[AttentionCache, bool], Backend]
WITHOUT_CHOICE = ("indexer", "compressor", "encoder_only")
SM120_SPARSE = ("auto", "fp8", "fp8_e4m3")


def backends_of(
    config: ModelConfig, args: EngineArgs, card: Card, dtype: str, kv_cache_dtype: str, skipped: frozenset[int]
) -> Backends:
    """Backend per distinct attention cache, in layer order; True in the key: the layer stays unquantized.

    Raises EngineArgsError with vLLM's words when none fits.
    """
    found: Backends = {}
    if deepseek_v4.is_deepseek_v4(config):
        backend = deepseek_v4.choose(args, card)
        caches = (cache for layer in config.layers for cache in layer if isinstance(cache, AttentionCache))
        return dict.fromkeys(((cache, False) for cache in caches), backend)
    if config.model_type.startswith("mimo_v2"):
        kv_cache_dtype = "auto"  # its layers get no cache_config, so the flag does not reach them (mimo_v2.py:397)
    for cache, is_skipped in _attention(config, skipped):
        if (cache, is_skipped) not in found:
            layer_dtype = "auto" if is_skipped else kv_cache_dtype
            found[cache, is_skipped] = _backend(config, args, card, cache, dtype, layer_dtype)
    return found


def _attention(config: ModelConfig, skipped: frozenset[int]) -> Iterable[tuple[AttentionCache, bool]]:
    for i, layer in enumerate(config.layers):
        for cache in layer:
            if isinstance(cache, AttentionCache) and cache.kind not in WITHOUT_CHOICE:
                yield cache, i in skipped


def _backend(
    config: ModelConfig, args: EngineArgs, card: Card, cache: AttentionCache, dtype: str, kv_cache_dtype: str
) -> Backend:
    if cache.kind == "full" or cache.kind == "sliding":
        different = _different_value_size(config, args, card, cache)
        if different is not None:
            return different
    question = question_of(config, args, card, cache, dtype, kv_cache_dtype)
    backend = choose_backend(card, question, _selected(config, args, card))
    _verify(card, backend, kv_cache_dtype, cache)
    return backend


def question_of(
    config: ModelConfig, args: EngineArgs, card: Card, cache: AttentionCache, dtype: str, kv_cache_dtype: str
) -> Question:
    """What the layer asks the selector (attention/attention.py:352, mla_attention.py:400)."""
    text = config.text_fields
    is_mla = cache.kind in ("mla", "sliding_mla")
    topk = text.get("index_topk")
    return Question(
        head_size=cache.head_size,
        dtype=dtype,
        kv_cache_dtype=kv_cache_dtype,
        block_size=args.block_size,
        use_mla=is_mla,
        has_sink=config.architecture in SINK_ARCHITECTURES,
        use_sparse=cache.is_sparse,
        use_mm_prefix=not is_mla and cache.kind != "cross" and is_mm_prefix_lm(config),
        use_per_head_quant_scales=_per_head_scales(config),
        attn_type="encoder_decoder" if cache.kind == "cross" else "decoder",
        has_sliding_window=cache.kind == "sliding",
        num_heads=config.num_attention_heads // args.tensor_parallel_size if is_mla else None,
        qk_nope_head_dim=_int(text.get("qk_nope_head_dim"), 1),
        qk_rope_head_dim=_int(text.get("qk_rope_head_dim"), 0),
        v_head_dim=_int(text.get("v_head_dim"), 0),
        index_topk=topk if isinstance(topk, int) else None,
        flash_attn_version=_forced_fa(config, card, kv_cache_dtype),
        decode_context_parallel_size=args.decode_context_parallel_size,
    )


def canonical_kv_cache_dtype(kv_cache_dtype: str, backends: Iterable[Backend]) -> str:
    """Sparse MLA backends name the packed layout (attention/mla_attention.py:329)."""
    for backend in backends:
        if backend.name == "FLASHMLA_SPARSE" and is_quantized(kv_cache_dtype):
            return "fp8_ds_mla"
        if backend.name == "FLASHINFER_MLA_SPARSE_SM120" and kv_cache_dtype in SM120_SPARSE:
            return "fp8_ds_mla"
    return kv_cache_dtype


def _selected(config: ModelConfig, args: EngineArgs, card: Card) -> str | None:
    """The user's backend, or the one Gemma-4 forces without FlashAttention 4 (models/config.py:201)."""
    if args.attention_backend is not None and args.attention_backend.lower() != "auto":
        return args.attention_backend
    if _gemma4_mixed(config) and not card.is_rocm and not supports_fa(card, 4):
        return "TRITON_ATTN"
    return None


def _forced_fa(config: ModelConfig, card: Card, kv_cache_dtype: str) -> int | None:
    if kv_cache_dtype.startswith("turboquant_"):
        return 2  # engine/arg_utils.py:2190
    return 4 if _gemma4_mixed(config) and supports_fa(card, 4) else None


def _gemma4_mixed(config: ModelConfig) -> bool:
    """Two head sizes in one model (models/config.py:213)."""
    sizes = (config.text_fields.get("head_dim"), config.text_fields.get("global_head_dim"))
    return config.model_type in GEMMA4_TYPES and None not in sizes and sizes[0] != sizes[1]


def _different_value_size(config: ModelConfig, args: EngineArgs, card: Card, cache: AttentionCache) -> Backend | None:
    """Values of another size than keys take backends of their own (models/mimo_v2.py:302)."""
    if cache.head_size == cache.head_size_v:
        return None
    asked = (args.attention_backend or "").upper()
    if asked.endswith("_DIFFKV"):
        return BACKENDS[asked]
    question = question_of(config, args, card, cache, config.dtype, "auto")
    version = fa_version(card, question, cache.head_size)
    return BACKENDS["FLASH_ATTN_DIFFKV" if version in (3, 4) else "TRITON_ATTN_DIFFKV"]


def _verify(card: Card, backend: Backend, kv_cache_dtype: str, cache: AttentionCache) -> None:
    """What the backend's own constructor refuses (v1/attention/backends/triton_attn.py:517, flashinfer.py:794)."""
    capability = f"{card.capability[0]}.{card.capability[1]}"
    if backend.name == "TRITON_ATTN" and not card.is_rocm:
        if kv_cache_dtype.startswith("fp8") and card.capability < (8, 9):
            plainer = "float16" if card.capability < (8, 0) else "bfloat16"
            raise EngineArgsError(
                "kv_cache_dtype",
                f"FP8 KV cache is not supported by the Triton attention backend on {card.name} (compute capability "
                f"{capability}); native FP8 (fp8e4nv) requires SM89+. Re-run with --kv-cache-dtype {plainer}.",
            )
        if kv_cache_dtype == "bfloat16" and card.capability < (8, 0):
            raise EngineArgsError(
                "kv_cache_dtype",
                f"bfloat16 KV cache is not supported on {card.name} (compute capability {capability}); bfloat16 "
                "requires SM80+. Re-run with --kv-cache-dtype float16.",
            )
    if backend.name == "TRITON_MLA" and not card.is_rocm:
        _verify_triton_mla(card, capability, kv_cache_dtype)
    if backend.name == "FLASHINFER" and card.capability == (9, 0) and cache.kind == "sliding":
        raise EngineArgsError(
            "attention_backend",
            "FlashInfer backend on SM90 currently crashes with sliding-window attention layers. Use the default "
            "attention backend.",
        )


def _verify_triton_mla(card: Card, capability: str, kv_cache_dtype: str) -> None:
    """v1/attention/backends/mla/triton_mla.py TritonMLAImpl."""
    here = f"is not supported by the Triton MLA backend on {card.name} (compute capability {capability})"
    if kv_cache_dtype.startswith("fp8") and card.capability < (8, 9):
        plainer = "float16" if card.capability < (8, 0) else "bfloat16"
        raise EngineArgsError(
            "kv_cache_dtype",
            f"FP8 KV cache {here}; native FP8 (fp8e4nv) requires SM89+. Re-run with --kv-cache-dtype {plainer}.",
        )
    if kv_cache_dtype == "bfloat16" and card.capability < (8, 0):
        raise EngineArgsError(
            "kv_cache_dtype",
            f"bfloat16 KV cache {here}; bfloat16 requires SM80+. Re-run with --kv-cache-dtype float16.",
        )


def _per_head_scales(config: ModelConfig) -> bool:
    if config.quantization is None:
        return False
    scheme = config.quantization.fields.get("kv_cache_scheme")
    return isinstance(scheme, dict) and scheme.get("strategy") == "attn_head"


def _int(value: object, default: int) -> int:
    return value if isinstance(value, int) else default
