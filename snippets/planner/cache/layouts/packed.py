"""The packed layout: latent layers and windows whose pages differ (DeepSeek-V4, SlidingWindowMLASpec).

Layers with pages of several sizes form tuples, one layer per size; a group holds whole tuples, and one block id takes a
row with room for the largest number of layers that any group has of each page size.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from snippets.planner.cache.layers import Group, Layers, dealt, gathered
from snippets.planner.cache.layouts.merge import is_uniform_type
from snippets.planner.cache.needs import cdiv, request_blocks
from snippets.planner.cache.pages import page_size_bytes
from snippets.planner.cache.spec import MLA, SLIDING_MLA
from snippets.planner.specs import CacheError, Limits


def is_packed(layers: Layers) -> bool:
    """Sliding MLA layers with several page sizes (group_and_unify_kv_cache_specs)."""
    return any(spec.cls == SLIDING_MLA for spec in layers) and len(set(map(page_size_bytes, layers))) > 1


def _refused(why: str, field: str = "block_size") -> CacheError:
    return CacheError(f"{why}: vLLM 0.26.0 asserts otherwise for layers packed with sliding MLA", field=field)


def packed_groups(layers: Layers) -> list[Group]:
    """The latent layers in the first group, the windows behind (_get_kv_cache_groups_uniform_groups)."""
    latent = {spec: counts for spec, counts in layers.items() if spec.cls == MLA}
    windows: dict[tuple[int, int | None], Layers] = {}
    for spec, counts in layers.items():
        if spec.cls == SLIDING_MLA:
            windows.setdefault((spec.block_size, spec.sliding_window), {})[spec] = counts
    if not latent:
        raise _refused("there is no layer of kind mla", "kind")
    if not is_uniform_type(list(latent)):
        raise _refused("layers of kind mla have several block sizes")
    tuples = [_num_layer_tuples(_by_page(latent)), *(_num_layer_tuples(_by_page(part)) for part in windows.values())]
    tuples_per_group = approximate_gcd(tuples, tuples[0])
    pages = {page_size_bytes(spec) for spec in latent}
    groups = [Group(next(iter(latent)), _sum(latent.values()), latent)]
    for part in windows.values():
        groups += _split(part, pages, tuples_per_group)
    return groups


def _split(part: Layers, pages: set[int], tuples_per_group: int) -> list[Group]:
    """Windows padded to the next page size of the latent layers, dealt to groups of whole tuples."""
    by_page: dict[int, Layers] = {}
    for spec, counts in part.items():
        own = page_size_bytes(spec)
        if own > max(pages):
            raise _refused(f"a sliding page of {own} bytes is larger than any of the mla layers", "head_size")
        page = min(size for size in pages if size >= own)
        padded = spec._replace(page_size_padded=page) if own < page else spec
        by_page[page] = gathered([*by_page.get(page, {}).items(), (padded, counts)])
    sizes = {sum(map(sum, same.values())) for same in by_page.values()}
    if len(sizes) > 1:
        raise _refused(f"sliding layers come in unequal numbers per page size ({sorted(sizes)})", "n")
    num_groups = cdiv(sizes.pop(), tuples_per_group)
    return [_group(by_page, num_groups, i) for i in range(num_groups)]


def _group(by_page: dict[int, Layers], num_groups: int, i: int) -> Group:
    members = {}
    for same in by_page.values():
        shares = dealt(_sum(same.values()), num_groups, i)
        members[next(iter(same))] = shares  # equal pages and windows: which of the specs it is changes nothing
    return Group(next(iter(members)), _sum(members.values()), members)


def approximate_gcd(values: Sequence[int], lower_bound: int) -> int:
    """The group size of least padding, the larger one where two are equal (_approximate_gcd)."""
    sizes = range(max(1, lower_bound), max(values) + 1)
    return min(sizes, key=lambda size: (sum(-value % size for value in values), -size), default=max(1, lower_bound))


def _sum(rows: Iterable[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def _by_page(members: Layers, stage: int | None = None) -> dict[int, int]:
    """Layers per page size, on one stage or on all."""
    found: dict[int, int] = {}
    for spec, counts in members.items():
        number = sum(counts) if stage is None else counts[stage]
        if number:
            page = page_size_bytes(spec)
            found[page] = found.get(page, 0) + number
    return found


def _num_layer_tuples(by_page: dict[int, int]) -> int:
    return max(by_page.values())


class Packed:
    """The rows of the packed layout."""

    def __init__(self, layers: Layers) -> None:
        self._groups = packed_groups(layers)
        self._stages = [self._pages_on(stage) for stage in range(len(self._groups[0].per_stage))]
        self.unassigned = [spec.cls for spec in layers if spec.cls not in (MLA, SLIDING_MLA)]

    def _pages_on(self, stage: int) -> list[dict[int, int]]:
        return [_by_page(members, stage) for _, _, members in self._groups if members is not None]

    def _counted_on(self, stage: int) -> list[dict[int, int]]:
        """A group without layers on the stage counts with all its layers, as vLLM leaves it then."""
        return [
            here or _by_page(group.members or {}) for here, group in zip(self._stages[stage], self._groups, strict=True)
        ]

    def _blocks(self, max_model_len: int, limits: Limits) -> list[int]:
        return [request_blocks(group.spec, max_model_len, limits) for group in self._groups]

    def groups(self) -> list[Group]:
        return self._groups

    def bytes_per_block(self, stage: int) -> int:
        rows: dict[int, int] = {}
        for by_page in self._stages[stage]:
            for page, number in by_page.items():
                rows[page] = max(rows.get(page, 0), number)
        return sum(page * number for page, number in rows.items())

    def needed_bytes(self, stage: int, max_model_len: int, limits: Limits) -> int:
        here = self._counted_on(stage)
        tuple_bytes = sum(here[0])
        return max(map(_num_layer_tuples, here)) * tuple_bytes * sum(self._blocks(max_model_len, limits))

    def blocks_per_request(self, stage: int, max_model_len: int, limits: Limits) -> int:
        row_bytes = [sum(page * number for page, number in by_page.items()) for by_page in self._counted_on(stage)]
        blocks = self._blocks(max_model_len, limits)
        return cdiv(sum(b * r for b, r in zip(blocks, row_bytes, strict=True)), row_bytes[0])
