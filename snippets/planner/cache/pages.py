"""Bytes of one page: `block_size` tokens (or one state) in one layer (v1/kv_cache_interface.py, page_size_bytes)."""

from __future__ import annotations

from functools import lru_cache
from math import prod

from snippets.planner.cache.dtypes import DTYPE_BYTES, PER_TOKEN_HEAD
from snippets.planner.cache.spec import (
    CHUNKED,
    CROSS,
    FULL_TYPES,
    MAMBA,
    MLA,
    SLIDING_MLA,
    TURBOQUANT,
    Spec,
    normalised,
)
from snippets.planner.specs import CacheError, LayerSpec

SCALE_BYTES = 4  # one float32 per token and head for K, one for V
DS_MLA_BYTES = 656  # V3.2 and before: 512 latent FP8, 64 rotary BF16, 4 scales
DEEPSEEK_V4_BYTES = 584  # 448 latent FP8, 64 rotary BF16, 8 scales


def nvfp4_bytes(head_size: int) -> int:
    """One head packed as FP4 (half a byte) with an FP8 scale per 16 elements (utils/torch_utils.py)."""
    return head_size // 2 + head_size // 16


def real_page_size_bytes(spec: Spec) -> int:
    """Keys and values alone, without scales and padding (real_page_size_bytes of each class)."""
    if spec.cls in (MLA, SLIDING_MLA):
        return _latent_page(spec)
    if spec.cls == TURBOQUANT and spec.tq_slot_size > 0:
        return spec.block_size * spec.num_kv_heads * spec.tq_slot_size
    if spec.kv_quant_mode == "nvfp4":
        key, value = nvfp4_bytes(spec.head_size), nvfp4_bytes(spec.head_size_v)
    elif spec.kv_quant_mode == "int4_per_token_head" and (spec.cls in FULL_TYPES or spec.cls in (CHUNKED, CROSS)):
        key, value = spec.head_size // 2, spec.head_size_v // 2  # a sliding window's page is not halved
    else:
        key, value = spec.head_size, spec.head_size_v
    if spec.cls in (CHUNKED, CROSS):
        value = key  # these classes know one head size
    return spec.block_size * spec.num_kv_heads * (key + value) * DTYPE_BYTES[spec.dtype]


def _latent_page(spec: Spec) -> int:
    """MLA stores one latent vector per token, for all heads; DeepSeek-V4 one per `compress_ratio` tokens."""
    stored_tokens = spec.block_size // spec.compress_ratio
    packed = spec.cache_dtype_str == "fp8_ds_mla"
    if packed and spec.model_version == "deepseek_v4":
        return stored_tokens * DEEPSEEK_V4_BYTES
    if spec.cls == SLIDING_MLA and spec.model_version not in (None, "deepseek_v4"):
        raise CacheError(
            f"model_version is {spec.model_version!r}; sliding MLA layers are of deepseek_v4 or have none",
            field="model_version",
        )
    if packed and spec.cls == MLA:
        return spec.block_size * DS_MLA_BYTES
    halved = spec.cls == MLA and spec.kv_quant_mode == "int4_per_token_head"
    head_size = spec.head_size // 2 if halved else spec.head_size
    return stored_tokens * spec.num_kv_heads * head_size * DTYPE_BYTES[spec.dtype]


def unpadded_page_size_bytes(spec: Spec) -> int:
    """With per-token-head scales; a state layer's page is the sum of its states."""
    if spec.cls == MAMBA:
        return sum(prod(shape) * DTYPE_BYTES[dtype] for shape, dtype in zip(spec.shapes, spec.dtypes, strict=True))
    scales = 2 * spec.block_size * spec.num_kv_heads * SCALE_BYTES if spec.kv_quant_mode in PER_TOKEN_HEAD else 0
    return real_page_size_bytes(spec) + scales


def aligned(spec: Spec) -> Spec:
    """The spec with its page padded to its `alignment`; one that fits stays as it is (_apply_alignment_padding)."""
    if spec.alignment is None:
        return spec
    real = real_page_size_bytes(spec)
    padded = -(-real // spec.alignment) * spec.alignment
    return spec if padded == real else spec._replace(page_size_padded=padded)


@lru_cache(maxsize=4096)
def spec_of(layer: LayerSpec) -> Spec | None:
    """The spec as vLLM holds it, aligned; None where a layer caches nothing. Raises CacheError for a bad field."""
    spec = normalised(layer)
    return None if spec is None else aligned(spec)


@lru_cache(maxsize=4096)
def page_size_bytes(spec: Spec) -> int:
    """Bytes of a page as allocated. Raises CacheError when the padding is smaller than what it must hold."""
    unpadded = unpadded_page_size_bytes(spec)
    if spec.page_size_padded is None:
        if unpadded < 1:
            raise CacheError("a page holds 0 bytes; check head_size and compress_ratio", field="head_size")
        return unpadded
    if spec.page_size_padded < unpadded:
        raise CacheError(
            f"page_size_padded is {spec.page_size_padded} bytes and the page needs {unpadded}: vLLM 0.26.0 asserts "
            "that padding never shrinks a page; leave it out or raise it",
            field="page_size_padded",
        )
    return spec.page_size_padded
