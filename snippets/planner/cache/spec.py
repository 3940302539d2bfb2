"""A layer's spec as vLLM compares it: the class, and only the fields that class has (v1/kv_cache_interface.py)."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from snippets.planner.cache.dtypes import quant_mode, torch_dtype
from snippets.planner.specs import CacheError, Kind, LayerSpec

FULL = "FullAttentionSpec"
MLA = "MLAAttentionSpec"
TURBOQUANT = "TQFullAttentionSpec"
SLIDING = "SlidingWindowSpec"
SLIDING_MLA = "SlidingWindowMLASpec"
CHUNKED = "ChunkedLocalAttentionSpec"
CROSS = "CrossAttentionSpec"
MAMBA = "MambaSpec"

CLASS_OF: dict[Kind, str] = {
    "full": FULL,
    "mla": MLA,
    "turboquant": TURBOQUANT,
    "sliding": SLIDING,
    "sliding_mla": SLIDING_MLA,
    "chunked": CHUNKED,
    "cross": CROSS,
    "mamba": MAMBA,
}
KIND_OF = {name: kind for kind, name in CLASS_OF.items()}
FULL_TYPES = {FULL, MLA, TURBOQUANT}  # FullAttentionSpec and its subclasses
SLIDING_TYPES = {SLIDING, SLIDING_MLA}


class Spec(NamedTuple):
    """Equal exactly when vLLM's spec objects are equal: fields that a class lacks keep the value below."""

    cls: str
    block_size: int
    num_kv_heads: int = 0
    head_size: int = 0
    head_size_v: int = 0
    dtype: str = ""
    kv_quant_mode: str = "none"
    page_size_padded: int | None = None
    indexes_kv_by_block_stride: bool = False
    sliding_window: int | None = None
    attention_chunk_size: int | None = None
    tq_slot_size: int = 0
    cache_dtype_str: str | None = None
    alignment: int | None = None
    compress_ratio: int = 1
    model_version: str | None = None
    shapes: tuple[tuple[int, ...], ...] = ()
    dtypes: tuple[str, ...] = ()
    mamba_type: str = ""
    mamba_cache_mode: str = ""
    num_speculative_blocks: int = 0


def _positive(spec: LayerSpec, *names: str) -> None:
    for name in names:
        value = getattr(spec, name)
        if value < 1:
            raise CacheError(f"{name} is {value} in a layer of kind {spec.kind}; it must be 1 or more", field=name)


def normalised(layer: LayerSpec) -> Spec | None:
    """The spec as given to vLLM's class, before alignment; None for encoder-only attention, which gets none.

    Source: model_executor/layers/attention/attention.py get_kv_cache_spec. Raises CacheError for a kind that is not
    planned here and for sizes below 1.
    """
    if layer.kind == "encoder_only":
        return None
    cls = CLASS_OF.get(layer.kind)
    if cls is None:
        raise CacheError(f"kind is {layer.kind!r}; planned are {', '.join((*CLASS_OF, 'encoder_only'))}", field="kind")
    _positive(layer, "block_size")
    if cls == MAMBA:
        return _mamba(layer)
    _positive(layer, "num_kv_heads", "head_size", "compress_ratio")
    spec = Spec(
        cls,
        layer.block_size,
        layer.num_kv_heads,
        layer.head_size,
        dtype=torch_dtype(layer.dtype),
        kv_quant_mode=quant_mode(layer.cache_dtype),
        page_size_padded=layer.page_size_padded,
        indexes_kv_by_block_stride=layer.indexes_kv_by_block_stride,
    )
    if cls in FULL_TYPES or cls == SLIDING:
        value = 0 if cls == MLA else layer.head_size_v  # MLA keeps no values of their own
        spec = spec._replace(head_size_v=value or layer.head_size)
    if cls in SLIDING_TYPES:
        _positive(layer, "sliding_window")
    if cls in SLIDING_TYPES or cls in FULL_TYPES:
        spec = spec._replace(sliding_window=layer.sliding_window or None)
    if cls == CHUNKED:
        _positive(layer, "attention_chunk_size")
    if cls == CHUNKED or cls in FULL_TYPES:
        spec = spec._replace(attention_chunk_size=layer.attention_chunk_size or None)
    if cls == TURBOQUANT:
        return spec._replace(tq_slot_size=layer.tq_slot_size)
    if cls in (MLA, SLIDING_MLA):
        return spec._replace(
            cache_dtype_str=layer.cache_dtype,
            alignment=layer.alignment,
            compress_ratio=layer.compress_ratio,
            model_version=layer.model_version,
        )
    return spec


def _mamba(layer: LayerSpec) -> Spec:
    if not layer.shapes or len(layer.shapes) != len(layer.dtypes):
        raise CacheError(
            f"a mamba layer has {len(layer.shapes)} shapes and {len(layer.dtypes)} dtypes; give one dtype per shape",
            field="shapes" if not layer.shapes else "dtypes",
        )
    return Spec(
        MAMBA,
        layer.block_size,
        page_size_padded=layer.page_size_padded,
        shapes=layer.shapes,
        dtypes=tuple(map(torch_dtype, layer.dtypes)),
        mamba_type=layer.mamba_type,
        mamba_cache_mode=layer.mamba_cache_mode,
        num_speculative_blocks=layer.num_speculative_blocks,
    )


@lru_cache(maxsize=4096)
def as_layer_spec(spec: Spec) -> LayerSpec:
    """Back to the form of the contracts; `cache_dtype` is the packed layout's name where there is one."""
    return LayerSpec(
        kind=KIND_OF[spec.cls],
        block_size=spec.block_size,
        num_kv_heads=spec.num_kv_heads or 1,
        head_size=spec.head_size,
        head_size_v=spec.head_size_v,
        dtype=spec.dtype or "bfloat16",
        cache_dtype=_cache_dtype(spec),
        sliding_window=spec.sliding_window or 0,
        attention_chunk_size=spec.attention_chunk_size or 0,
        shapes=spec.shapes,
        dtypes=spec.dtypes,
        page_size_padded=spec.page_size_padded,
        indexes_kv_by_block_stride=spec.indexes_kv_by_block_stride,
        num_speculative_blocks=spec.num_speculative_blocks,
        tq_slot_size=spec.tq_slot_size,
        compress_ratio=spec.compress_ratio,
        alignment=spec.alignment,
        model_version=spec.model_version,
        mamba_cache_mode=spec.mamba_cache_mode or "none",
        mamba_type=spec.mamba_type,
    )


def _cache_dtype(spec: Spec) -> str | None:
    if spec.cls in (MLA, SLIDING_MLA):
        return spec.cache_dtype_str
    return "auto" if spec.kv_quant_mode == "none" else spec.kv_quant_mode
