"""The attention backends of vLLM 0.26.0 as data: what each supports (v1/attention/backends/*.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from snippets.planner.settings.card import Capability

HALF = ("float16", "bfloat16")
PLAIN_KV = ("auto", "float16", "bfloat16")
FP8_KV = (*PLAIN_KV, "fp8", "fp8_e4m3")
ALL_FP8_KV = (*FP8_KV, "fp8_e5m2")
PER_TOKEN_HEAD = ("int4_per_token_head", "int8_per_token_head", "fp8_per_token_head")
TURBOQUANT_KV = ("turboquant_k8v4", "turboquant_4bit_nc", "turboquant_k3v4_nc", "turboquant_3bit_nc")
ANY_TYPE = ("decoder", "encoder", "encoder_only", "encoder_decoder")
SM_ANY: tuple[Capability, Capability] = ((0, 0), (99, 9))


@dataclass(frozen=True)
class Backend:
    """One backend. Empty tuples mean "no limit"."""

    name: str
    dtypes: tuple[str, ...] = HALF
    kv_cache_dtypes: tuple[str, ...] = PLAIN_KV
    head_sizes: tuple[int, ...] = ()
    min_head_size: int = 0
    block_sizes: tuple[int, ...] = (16,)
    any_multiple: bool = False  # every multiple of block_sizes is a kernel block size, not these alone
    preferred_block_size: int | None = None
    capability: tuple[Capability, Capability] = SM_ANY  # lowest and highest
    attn_types: tuple[str, ...] = ("decoder",)
    is_mla: bool = False
    is_sparse: bool = False
    sink: bool = False
    sliding_window: bool = False
    mm_prefix: bool = False
    per_head_scales: bool = False
    block_stride: bool = False  # reads padded pages (indexes_kv_by_block_stride)
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def smallest_block(self) -> int:
        """The smallest kernel block size."""
        return min(self.block_sizes)

    def supports_block_size(self, block_size: int) -> bool:
        """A multiple of any kernel block size will do (v1/attention/backend.py:180)."""
        return any(block_size % size == 0 for size in self.block_sizes)

    def default_block_size(self) -> int:
        """16 where supported, else the smallest (v1/attention/backend.py:195 get_preferred_block_size)."""
        if self.preferred_block_size is not None:
            return self.preferred_block_size
        return 16 if self.supports_block_size(16) else self.smallest_block


def _sm(low: Capability, high: Capability = (99, 9)) -> tuple[Capability, Capability]:
    return (low, high)


MLA_HEADS = (320, 576)  # kv_lora_rank + qk_rope_head_dim that the kernels know

BACKENDS: Mapping[str, Backend] = {
    backend.name: backend
    for backend in (
        Backend(
            "FLASH_ATTN",
            any_multiple=True,
            capability=_sm((8, 0)),
            attn_types=ANY_TYPE,
            sliding_window=True,
            block_stride=True,
        ),
        Backend(
            "FLASHINFER",
            kv_cache_dtypes=(*ALL_FP8_KV, "nvfp4"),
            head_sizes=(64, 128, 256, 512),
            block_sizes=(16, 32, 64),
            capability=_sm((8, 0), (12, 1)),
            sliding_window=True,
            block_stride=True,
        ),
        Backend(
            "TRITON_ATTN",
            dtypes=(*HALF, "float32"),
            kv_cache_dtypes=(*ALL_FP8_KV, *PER_TOKEN_HEAD),
            min_head_size=32,
            any_multiple=True,
            attn_types=ANY_TYPE,
            sink=True,
            sliding_window=True,
            mm_prefix=True,
            block_stride=True,
        ),
        Backend(
            "FLEX_ATTENTION",
            dtypes=(*HALF, "float32"),
            any_multiple=True,
            attn_types=("decoder", "encoder_only"),
            sliding_window=True,
            mm_prefix=True,
            block_stride=True,
        ),
        Backend("TURBOQUANT", kv_cache_dtypes=TURBOQUANT_KV, block_sizes=(16, 32, 64, 128)),
        Backend(
            "FLASH_ATTN_DIFFKV",
            any_multiple=True,
            capability=_sm((9, 0)),
            attn_types=ANY_TYPE,
            sink=True,
            sliding_window=True,
            block_stride=True,
        ),
        Backend(
            "TRITON_ATTN_DIFFKV",
            dtypes=(*HALF, "float32"),
            kv_cache_dtypes=("auto", "bfloat16"),
            min_head_size=32,
            any_multiple=True,
            sink=True,
            sliding_window=True,
            mm_prefix=True,
            block_stride=True,
        ),
        Backend(
            "ROCM_ATTN",
            dtypes=(*HALF, "float32"),
            kv_cache_dtypes=ALL_FP8_KV,
            head_sizes=(32, 64, 80, 96, 128, 160, 192, 224, 256),
            any_multiple=True,
            attn_types=("decoder", "encoder", "encoder_only"),
            sliding_window=True,
            mm_prefix=True,
        ),
        Backend(
            "FLASH_ATTN_MLA",
            head_sizes=MLA_HEADS,
            any_multiple=True,
            capability=_sm((9, 0), (9, 9)),
            is_mla=True,
            block_stride=True,
        ),
        Backend(
            "FLASHMLA",
            kv_cache_dtypes=FP8_KV,
            head_sizes=MLA_HEADS,
            block_sizes=(64,),
            capability=_sm((9, 0), (10, 9)),
            is_mla=True,
            block_stride=True,
        ),
        Backend(
            "FLASHINFER_MLA",
            kv_cache_dtypes=FP8_KV,
            head_sizes=MLA_HEADS,
            block_sizes=(32, 64),
            capability=_sm((10, 0), (10, 9)),
            is_mla=True,
            block_stride=True,
        ),
        Backend(
            "TOKENSPEED_MLA",
            kv_cache_dtypes=("fp8", "fp8_e4m3"),
            head_sizes=MLA_HEADS,
            block_sizes=(32, 64),
            capability=_sm((10, 0), (10, 9)),
            is_mla=True,
        ),
        Backend(
            "CUTLASS_MLA",
            kv_cache_dtypes=FP8_KV,
            head_sizes=MLA_HEADS,
            block_sizes=(128,),
            capability=_sm((10, 0), (10, 9)),
            is_mla=True,
            block_stride=True,
        ),
        Backend("TRITON_MLA", kv_cache_dtypes=FP8_KV, any_multiple=True, is_mla=True, block_stride=True),
        Backend(
            "FLASH_ATTN_MLA_SPARSE", block_sizes=(64,), capability=_sm((9, 0), (9, 9)), is_mla=True, is_sparse=True
        ),
        Backend(
            "FLASHMLA_SPARSE",
            dtypes=("bfloat16",),
            kv_cache_dtypes=("auto", "bfloat16", "fp8_ds_mla", "fp8"),
            head_sizes=(576,),
            block_sizes=(64,),
            capability=_sm((9, 0), (10, 9)),
            is_mla=True,
            is_sparse=True,
        ),
        Backend(
            "FLASHINFER_MLA_SPARSE",
            kv_cache_dtypes=FP8_KV,
            block_sizes=(32, 64),
            capability=_sm((10, 0), (10, 9)),
            is_mla=True,
            is_sparse=True,
        ),
        Backend(
            "FLASHINFER_MLA_SPARSE_SM120",
            dtypes=("bfloat16",),
            kv_cache_dtypes=("auto", "fp8", "fp8_e4m3", "fp8_ds_mla"),
            block_sizes=(64, 256),
            capability=_sm((12, 0), (12, 9)),
            is_mla=True,
            is_sparse=True,
        ),
        Backend("ROCM_AITER_MLA_SPARSE", kv_cache_dtypes=FP8_KV, block_sizes=(1, 64), is_mla=True, is_sparse=True),
    )
}

INDEXER_BLOCK_SIZE = 64  # v1/attention/backends/mla/indexer.py: the indexer's cache comes first and sets the block
