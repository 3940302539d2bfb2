"""The choice of a backend, as vLLM makes it: priorities per card, then every demand in turn."""

from __future__ import annotations

from dataclasses import dataclass, replace

from snippets.planner.engine_args import EngineArgsError
from snippets.planner.settings.attention.backends import BACKENDS, Backend
from snippets.planner.settings.card import Card

FLASHINFER_MLA_NOPE = (64, 128, 192)  # v1/attention/backends/mla/flashinfer_mla.py supports_combination
FLASHINFER_SPARSE_NOPE = (128, 192)  # v1/attention/backends/mla/flashinfer_mla_sparse.py


@dataclass(frozen=True)
class Question:
    """What one attention layer asks for (v1/attention/selector.py AttentionSelectorConfig)."""

    head_size: int
    dtype: str
    kv_cache_dtype: str
    block_size: int | None = None  # only when the user gave --block-size
    use_mla: bool = False
    has_sink: bool = False
    use_sparse: bool = False
    use_mm_prefix: bool = False
    use_per_head_quant_scales: bool = False
    attn_type: str = "decoder"
    has_sliding_window: bool = False
    num_heads: int | None = None  # query heads on this rank; MLA only
    qk_nope_head_dim: int = 0
    qk_rope_head_dim: int = 0
    v_head_dim: int = 0
    index_topk: int | None = None
    flash_attn_version: int | None = None  # forced by the model (Gemma-4) or by TurboQuant
    decode_context_parallel_size: int = 1

    def __str__(self) -> str:
        """As vLLM prints it in "No valid attention backend found"."""
        return (
            f"AttentionSelectorConfig(head_size={self.head_size}, dtype=torch.{self.dtype}, "
            f"kv_cache_dtype={self.kv_cache_dtype}, block_size={self.block_size}, use_mla={self.use_mla}, "
            f"has_sink={self.has_sink}, use_sparse={self.use_sparse}, use_mm_prefix={self.use_mm_prefix}, "
            f"use_per_head_quant_scales={self.use_per_head_quant_scales}, "
            f"attn_type=AttentionType.{self.attn_type.upper()}, "
            f"has_sliding_window={self.has_sliding_window}, use_non_causal=False, use_batch_invariant=False, "
            "use_kv_connector=False, use_pcp=False)"
        )


def priorities(card: Card, question: Question) -> tuple[str, ...]:
    """Backends in the order they are tried (platforms/cuda.py:80 and platforms/rocm.py:407 _get_backend_priorities)."""
    if card.is_rocm:
        if question.use_sparse:
            return ("ROCM_AITER_MLA_SPARSE",)
        return ("TRITON_MLA",) if question.use_mla else ("ROCM_ATTN", "TRITON_ATTN", "TURBOQUANT")
    if not question.use_mla:
        first = ("FLASHINFER", "FLASH_ATTN") if card.family == 10 else ("FLASH_ATTN", "FLASHINFER")
        return (*first, "TRITON_ATTN", "FLEX_ATTENTION", "TURBOQUANT")
    if card.family == 12:
        return ("TRITON_MLA", "FLASHINFER_MLA_SPARSE_SM120")
    if card.family != 10:
        return (
            "FLASH_ATTN_MLA",
            "FLASHMLA",
            "FLASHINFER_MLA",
            "TRITON_MLA",
            "FLASH_ATTN_MLA_SPARSE",
            "FLASHMLA_SPARSE",
        )
    few_heads = question.num_heads is not None and question.num_heads <= 16
    flashinfer_first = is_quantized(question.kv_cache_dtype) or few_heads
    sparse = ("FLASHINFER_MLA_SPARSE", "FLASHMLA_SPARSE")
    dense = ("FLASHINFER_MLA", "TOKENSPEED_MLA", "CUTLASS_MLA", "FLASH_ATTN_MLA", "FLASHMLA", "TRITON_MLA")
    return (*dense, *(sparse if flashinfer_first else sparse[::-1]))


def is_quantized(kv_cache_dtype: str) -> bool:
    """Whether vLLM calls the cache quantized (utils/torch_utils.py:75 is_quantized_kv_cache)."""
    return kv_cache_dtype.startswith("fp8") or kv_cache_dtype.endswith("per_token_head") or kv_cache_dtype == "nvfp4"


def choose_backend(card: Card, question: Question, selected: str | None) -> Backend:
    """The selected backend, or the first in the card's order that can do what the layer asks.

    Raises EngineArgsError with vLLM's words when the selected one cannot, or none can (platforms/cuda.py:386).
    """
    if selected is not None:
        backend = named(selected)
        reasons = invalid_reasons(card, backend, question)
        if reasons:
            raise EngineArgsError(
                "attention_backend",
                f"Selected backend AttentionBackendEnum.{backend.name} is not valid for this configuration. "
                f"Reason: {reasons}",
            )
        return backend
    refused: list[str] = []
    for name in priorities(card, question):
        reasons = invalid_reasons(card, BACKENDS[name], question)
        if not reasons:
            return BACKENDS[name]
        refused.append(f"{name}: [{', '.join(reasons)}]")
    device = "rocm" if card.is_rocm else "cuda"
    raise EngineArgsError(
        _field_at_fault(card, question),
        f"No valid attention backend found for {device} with {question}. Reasons: {{{', '.join(refused)}}}.",
    )


def named(name: str) -> Backend:
    """A backend by the name --attention-backend takes; an unknown one is refused with the known ones."""
    try:
        return BACKENDS[name.upper()]
    except KeyError:
        raise EngineArgsError(
            "attention_backend", f"Unknown attention backend: {name!r}. This planner knows: {', '.join(BACKENDS)}"
        ) from None


def _field_at_fault(card: Card, question: Question) -> str:
    """The setting whose default would be accepted."""
    for field, plainer in (
        ("kv_cache_dtype", replace(question, kv_cache_dtype="auto")),
        ("block_size", replace(question, block_size=None)),
        ("dtype", replace(question, dtype="bfloat16")),
    ):
        if any(not invalid_reasons(card, BACKENDS[name], plainer) for name in priorities(card, plainer)):
            return field
    return "gpu"


def invalid_reasons(card: Card, backend: Backend, question: Question) -> list[str]:
    """Why the backend cannot serve the layer; [] when it can (v1/attention/backend.py:311 validate_configuration)."""
    q = question
    reasons = []
    if not _supports_head_size(card, backend, q.head_size):
        reasons.append("head_size not supported")
    if q.dtype not in backend.dtypes:
        reasons.append("dtype not supported")
    if not _supports_kv_cache_dtype(card, backend, q):
        reasons.append("kv_cache_dtype not supported")
    if q.block_size is not None and not backend.supports_block_size(q.block_size):
        reasons.append("block_size not supported")
    if q.use_mm_prefix and not _supports_mm_prefix(card, backend):
        reasons.append("partial multimodal token full attention not supported")
    if q.use_mla != backend.is_mla:
        reasons.append("MLA not supported" if q.use_mla else "non-MLA not supported")
    if q.has_sink and not _supports_sink(card, backend, q):
        reasons.append("attention sinks not supported")
    if q.use_sparse != backend.is_sparse:
        reasons.append("sparse not supported" if q.use_sparse else "non-sparse not supported")
    if q.use_per_head_quant_scales and not _supports_per_head_scales(card, backend, q):
        reasons.append("per-head quant scales not supported")
    low, high = backend.capability
    if not low <= card.capability <= high:
        reasons.append("compute capability not supported")
    if q.attn_type not in backend.attn_types:
        reasons.append(f"attention type {q.attn_type} not supported")
    if q.has_sliding_window and not backend.sliding_window:
        reasons.append("sliding window not supported")
    combination = _combination_reason(card, backend, q)
    return [*reasons, combination] if combination else reasons


def fa_version(card: Card, question: Question, head_size: int | None = None, has_sinks: bool = False) -> int | None:
    """The FlashAttention version in use, None where there is none (v1/attention/backends/fa_utils.py:113)."""
    if card.is_rocm or card.capability < (8, 0):
        return None
    version = {9: 3, 10: 4}.get(card.family, 2)
    if question.flash_attn_version is not None:
        version = question.flash_attn_version
    if card.family == 9 and version == 3 and head_size is not None and head_size > 256:
        version = 4
    if version == 4 and card.family >= 10 and head_size is not None and head_size > 128 and head_size != 192:
        version = 2
    return version if supports_fa(card, version) else None


def supports_fa(card: Card, version: int) -> bool:
    """Whether the wheel's FlashAttention of that version runs on the card (vllm_flash_attn_interface.py)."""
    if card.is_rocm:
        return False
    return {2: card.capability >= (8, 0), 3: card.family == 9, 4: card.family in (9, 10, 11)}[version]


def _supports_head_size(card: Card, backend: Backend, head_size: int) -> bool:
    if backend.name in ("FLASH_ATTN", "FLASH_ATTN_DIFFKV"):
        return head_size % 8 == 0 and head_size <= (512 if supports_fa(card, 4) else 256)
    return (not backend.head_sizes or head_size in backend.head_sizes) and head_size >= backend.min_head_size


def _supports_kv_cache_dtype(card: Card, backend: Backend, question: Question) -> bool:
    wanted = question.kv_cache_dtype
    if backend.name in ("FLASH_ATTN", "FLASH_ATTN_DIFFKV") and wanted in ("fp8", "fp8_e4m3"):
        return fa_version(card, question) == 3 and card.family == 9
    if backend.name == "FLASHINFER" and wanted == "nvfp4":
        return card.family == 10
    return wanted in backend.kv_cache_dtypes


def _supports_mm_prefix(card: Card, backend: Backend) -> bool:
    return backend.mm_prefix or (backend.name == "FLASH_ATTN" and supports_fa(card, 4))


def _supports_sink(card: Card, backend: Backend, question: Question) -> bool:
    if backend.name == "FLASH_ATTN":
        return fa_version(card, question) in (3, 4)
    return backend.sink or (backend.name == "FLASHINFER" and card.family == 10)


def _supports_per_head_scales(card: Card, backend: Backend, question: Question) -> bool:
    return backend.name == "FLASH_ATTN" and (fa_version(card, question) or 0) >= 3


def _combination_reason(card: Card, backend: Backend, q: Question) -> str | None:
    """The supports_combination of each backend."""
    match backend.name:
        case "FLASH_ATTN" | "FLASH_ATTN_DIFFKV":
            if q.has_sink and card.capability < (9, 0):
                return "sink not supported on compute capability < 9.0"
            if q.use_mm_prefix and fa_version(card, q, q.head_size, q.has_sink) != 4:
                return (
                    "mm_prefix (PrefixLM bidirectional attention) requires FlashAttention v4, which does not resolve "
                    "for this head_size"
                )
        case "FLASH_ATTN_MLA" | "FLASH_ATTN_MLA_SPARSE":
            return _flash_attn_mla_reason(card, backend, q)
        case "FLASHMLA" if not q.use_sparse and card.family != 9:
            return "FlashMLA Dense is only supported on Hopper devices."
        case "FLASHMLA" if q.use_sparse and card.family not in (9, 10):
            return "FlashMLA Sparse is only supported on Hopper and Blackwell DC devices."
        case "FLASHINFER_MLA" if q.qk_nope_head_dim not in FLASHINFER_MLA_NOPE:
            return f"FlashInfer MLA kernel requires qk_nope_head_dim in [64, 128, 192], but got {q.qk_nope_head_dim}"
        case "TOKENSPEED_MLA" if (q.qk_nope_head_dim, q.qk_rope_head_dim, q.v_head_dim) != (128, 64, 128):
            return (
                "tokenspeed_mla requires DeepSeek R1 MLA dimensions (qk_nope_head_dim=128, qk_rope_head_dim=64, "
                f"v_head_dim=128), got ({q.qk_nope_head_dim}, {q.qk_rope_head_dim}, {q.v_head_dim})"
            )
        case "FLASHINFER_MLA_SPARSE":
            if q.kv_cache_dtype == "fp8_ds_mla":
                return "FLASHINFER_MLA_SPARSE SM10 does not support fp8_ds_mla kv-cache dtype"
            if q.qk_nope_head_dim not in FLASHINFER_SPARSE_NOPE:
                return (
                    "FlashInfer MLA Sparse kernel requires qk_nope_head_dim in [128, 192], "
                    f"but got {q.qk_nope_head_dim}"
                )
            if q.index_topk is None:
                return "FlashInfer MLA Sparse requires model with index_topk config"
        case "FLASHINFER_MLA_SPARSE_SM120" if q.index_topk is None:
            return "FLASHINFER_MLA_SPARSE_SM120 requires a model with index_topk config"
        case "FLASHINFER_MLA_SPARSE_SM120" if q.index_topk != 2048:
            return f"FLASHINFER_MLA_SPARSE_SM120 requires index_topk=2048; got {q.index_topk}"
    return None


def _flash_attn_mla_reason(card: Card, backend: Backend, q: Question) -> str | None:
    if backend.is_sparse and q.kv_cache_dtype not in ("auto", "float16", "bfloat16"):
        return "FlashAttention MLA Sparse currently supports only FP16/BF16 KV cache"
    if card.family != 9:
        return "FlashAttention MLA not supported on this device"
    if backend.is_sparse and q.decode_context_parallel_size > 1:
        return "FlashAttention MLA Sparse does not support DCP for now"
    if backend.is_sparse and q.index_topk is None:
        return "FlashAttention MLA Sparse requires model with index_topk"
    return None
