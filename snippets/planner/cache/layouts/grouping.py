"""Which layers share a block table: the first layout that fits, in vLLM's order (get_kv_cache_groups)."""

from __future__ import annotations

from collections.abc import Mapping

from snippets.planner.cache.layers import Layers
from snippets.planner.cache.layouts.merge import is_uniform_type, merge
from snippets.planner.cache.layouts.packed import Packed, is_packed
from snippets.planner.cache.layouts.pools import Dealt, EqualGroups, OwnPages, Pool
from snippets.planner.cache.layouts.unify import HYBRID_MANAGER_IS_OFF, unify_page_sizes, without_hybrid_manager
from snippets.planner.cache.needs import cdiv
from snippets.planner.cache.spec import Spec
from snippets.planner.specs import CacheError

MUCH_LARGER = 1.5  # a kind this many times as frequent as the rarest is split instead of padded to


def pool_of(layers: Layers, names: Mapping[Spec, str], hybrid_manager_off: bool, warnings: list[str]) -> Pool:
    """The layout of these layers; `warnings` receives what vLLM logs as warnings. Raises CacheError where none fits."""
    if hybrid_manager_off:
        layers, warned = without_hybrid_manager(layers)
        warnings += [HYBRID_MANAGER_IS_OFF] * warned
    specs = list(layers)
    merged = merge(specs)
    if merged is not None:
        return EqualGroups([Dealt(merged, 1, [sum(column) for column in zip(*layers.values(), strict=True)])])
    if is_uniform_type(specs):
        return OwnPages(layers)
    if is_packed(layers):
        return Packed(layers)
    return _equal_groups(unify_page_sizes(layers, names), warnings)


def _equal_groups(layers: Layers, warnings: list[str]) -> EqualGroups:
    """Groups of one size, the last of each kind padded (_get_kv_cache_groups_uniform_page_size)."""
    numbers = {spec: sum(counts) for spec, counts in layers.items()}
    fewest, most = min(numbers.values()), max(numbers.values())
    group_size = most if most < fewest * MUCH_LARGER else fewest
    kinds = []
    for spec, counts in layers.items():
        number = numbers[spec]
        padding = -number % group_size
        if padding:
            waste = padding / number * 100
            warnings.append(f"Add {padding} padding layers, may waste at most {waste:.2f}% KV cache memory")
        merged = merge([spec])
        if merged is None:
            raise CacheError(
                "a full attention layer has sliding_window and attention_chunk_size: vLLM 0.26.0 asserts that it has "
                "at most one",
                field="attention_chunk_size",
            )
        kinds.append(Dealt(merged, cdiv(number, group_size), counts))
    return EqualGroups(kinds)
