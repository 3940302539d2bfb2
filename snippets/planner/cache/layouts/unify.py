"""Making layers alike: one page size for all kinds, or full attention for all when the hybrid manager is off."""

from __future__ import annotations

from collections.abc import Mapping

from snippets.planner.cache.layers import Layers, gathered
from snippets.planner.cache.layouts.merge import is_uniform_type, merge
from snippets.planner.cache.pages import aligned, page_size_bytes
from snippets.planner.cache.spec import CHUNKED, FULL, FULL_TYPES, MAMBA, MLA, SLIDING, SLIDING_MLA, SLIDING_TYPES, Spec
from snippets.planner.specs import CacheError

HYBRID_MANAGER_IS_OFF = (
    "Hybrid KV cache manager is disabled for this hybrid model, "
    "This means we do not enable any optimizations for saving KV cache "
    "memory (e.g., dropping the KV cache outside the sliding window). "
    "The compute of layers like sliding window is still saved."
)
NOT_ONE_TYPE = "Hybrid KV cache manager is disabled but failed to convert the KV cache specs to one unified type."


def unify_page_sizes(layers: Layers, names: Mapping[Spec, str]) -> Layers:
    """Smaller pages get larger blocks or padding (unify_kv_cache_spec_page_size). Raises CacheError if neither fits."""
    page = max(map(page_size_bytes, layers))
    return gathered((_with_page(spec, page, names[spec]), counts) for spec, counts in layers.items())


def _with_page(spec: Spec, page: int, name: str) -> Spec:
    own = page_size_bytes(spec)
    if own == page:
        return spec
    if spec.cls == MAMBA:
        return spec._replace(page_size_padded=page)
    if page % own == 0:
        unified = aligned(spec._replace(block_size=spec.block_size * (page // own)))
    elif spec.indexes_kv_by_block_stride:
        unified = aligned(spec._replace(page_size_padded=page))
    else:
        raise CacheError(
            f"Layer {name}: page size is not divisible by the maximum page size and cannot be padded. Padding is only "
            "supported for attention layers whose backend indexes KV pages by the block stride "
            "(indexes_kv_by_block_stride is True).",
            field="block_size",
        )
    if page_size_bytes(unified) != page:
        raise CacheError(
            f"layer {name}: its page of {own} bytes cannot become one of {page}, since it is padded already "
            "(page_size_padded or alignment): vLLM 0.26.0 asserts that it can",
            field="page_size_padded",
        )
    return unified


def without_hybrid_manager(layers: Layers) -> tuple[Layers, bool]:
    """Windows and chunks kept as full attention (unify_hybrid_kv_cache_specs); and whether vLLM warns of it.

    Raises CacheError with vLLM's text where the layers still are of several types.
    """
    if _one_type(layers):
        return layers, False
    classes = {spec.cls for spec in layers}
    has_full = bool(classes & FULL_TYPES)
    if SLIDING_MLA in classes and not has_full:
        raise CacheError(
            "disable_hybrid_kv_cache_manager is set and sliding MLA layers have no full layer beside them: "
            "vLLM 0.26.0 asserts one; leave the manager on",
            field="disable_hybrid_kv_cache_manager",
        )
    if has_full and classes & (SLIDING_TYPES | {CHUNKED}):
        first_full = next(spec for spec in layers if spec.cls in FULL_TYPES)
        layers = gathered((_as_full(spec, first_full.block_size), counts) for spec, counts in layers.items())
    if not _one_type(layers):
        raise CacheError(NOT_ONE_TYPE, field="disable_hybrid_kv_cache_manager")
    return layers, True


def _one_type(layers: Layers) -> bool:
    specs = list(layers)
    return not specs or merge(specs) is not None or is_uniform_type(specs)


def _as_full(spec: Spec, block_size: int) -> Spec:
    if spec.cls == SLIDING_MLA:  # DeepSeek-V4: all blocks as large as the full layers'
        latent = spec._replace(
            cls=MLA,
            block_size=block_size,
            head_size_v=spec.head_size,
            kv_quant_mode="none",
            indexes_kv_by_block_stride=False,
            sliding_window=None,
        )
        return aligned(latent)
    if spec.cls == SLIDING:
        return spec._replace(cls=FULL, indexes_kv_by_block_stride=False)
    if spec.cls == CHUNKED:
        return spec._replace(
            cls=FULL, head_size_v=spec.head_size, kv_quant_mode="none", indexes_kv_by_block_stride=False
        )
    return spec
