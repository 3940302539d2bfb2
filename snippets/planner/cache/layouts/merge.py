"""Whether layers can share one group: vLLM's `merge` of each spec class, and its looser "uniform type"."""

from __future__ import annotations

from collections.abc import Sequence

from snippets.planner.cache.spec import (
    CHUNKED,
    CROSS,
    FULL_TYPES,
    MAMBA,
    MLA,
    SLIDING_MLA,
    SLIDING_TYPES,
    TURBOQUANT,
    Spec,
)
from snippets.planner.specs import CacheError

WINDOWS_DIFFER = "All attention layers in the same KV cache group must have the same window size."


def merge(specs: Sequence[Spec]) -> Spec | None:
    """One spec for all, as `specs[0].merge(specs)`; None where vLLM's assertion fails.

    Raises CacheError with vLLM's text where full layers carry different windows.
    """
    first = specs[0]
    if first.cls == MLA:
        return _merge_mla(specs)
    if first.cls in FULL_TYPES:
        return _merge_full(specs)
    if first.cls == SLIDING_MLA:
        return _merge_sliding_mla(specs)
    return first if all(spec == first for spec in specs) else None


def _merge_full(specs: Sequence[Spec]) -> Spec | None:
    first = specs[0]
    if any(spec.cls not in FULL_TYPES or spec.cls == MLA for spec in specs):
        return None
    window = _one_size({spec.sliding_window for spec in specs})
    chunk = _one_size({spec.attention_chunk_size for spec in specs})
    if any(_attention_fields(spec) != _attention_fields(first) for spec in specs):  # head_size_v is not compared
        return None
    if window is not None and chunk is not None:
        return None
    if first.cls == TURBOQUANT:
        if any(spec.cls != TURBOQUANT for spec in specs):
            raise CacheError(
                "kind is turboquant in some layers and full in others with the same fields: vLLM 0.26.0 fails on it; "
                "give the unquantized layers their own dtype",
                field="kind",
            )
        if any(spec.tq_slot_size != first.tq_slot_size for spec in specs):
            return None
    return first._replace(sliding_window=window, attention_chunk_size=chunk)


def _attention_fields(spec: Spec) -> tuple[object, ...]:
    """The fields of AttentionSpec, which stand side by side in Spec, without head_size_v."""
    return (
        spec.block_size,
        spec.num_kv_heads,
        spec.head_size,
        spec.dtype,
        spec.kv_quant_mode,
        spec.page_size_padded,
        spec.indexes_kv_by_block_stride,
    )


def _one_size(sizes: set[int | None]) -> int | None:
    known = sizes - {None}
    if len(known) > 1:
        raise CacheError(WINDOWS_DIFFER, field="sliding_window")
    return known.pop() if known else None


def _merge_mla(specs: Sequence[Spec]) -> Spec | None:
    """Sizes are not compared: layers that differ only in head_size merge, and the first one's page counts."""
    kept = {
        (spec.cls, spec.cache_dtype_str, spec.compress_ratio, spec.model_version, spec.indexes_kv_by_block_stride)
        for spec in specs
    }
    if len(kept) > 1:
        return None
    return specs[0]._replace(
        head_size_v=specs[0].head_size, sliding_window=None, attention_chunk_size=None, alignment=None
    )


def _merge_sliding_mla(specs: Sequence[Spec]) -> Spec | None:
    kept = {
        (
            spec.cls,
            spec.cache_dtype_str,
            spec.compress_ratio,
            spec.model_version,
            spec.sliding_window,
            spec.indexes_kv_by_block_stride,
        )
        for spec in specs
    }
    return specs[0]._replace(alignment=None, kv_quant_mode="none") if len(kept) == 1 else None


def is_uniform_type(specs: Sequence[Spec]) -> bool:
    """All layers need the same number of token slots (UniformTypeKVCacheSpecs.is_uniform_type), pages may differ."""
    first = specs[0]
    if any(spec.block_size != first.block_size for spec in specs):
        return False
    if first.cls in FULL_TYPES:
        return all(spec.cls in FULL_TYPES for spec in specs)
    if first.cls == SLIDING_MLA:
        return all(spec.cls == SLIDING_MLA and spec.sliding_window == first.sliding_window for spec in specs)
    if first.cls in SLIDING_TYPES:
        return all(spec.cls in SLIDING_TYPES and spec.sliding_window == first.sliding_window for spec in specs)
    if first.cls == CHUNKED:
        return all(spec.cls == CHUNKED and spec.attention_chunk_size == first.attention_chunk_size for spec in specs)
    if first.cls == MAMBA:
        return all(spec.cls == MAMBA and spec.num_speculative_blocks == first.num_speculative_blocks for spec in specs)
    assert first.cls == CROSS
    return all(spec.cls == CROSS for spec in specs)
