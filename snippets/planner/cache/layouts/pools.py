"""How blocks lie in memory: bytes of one block on a stage, and bytes and blocks that one request needs there.

Three layouts: groups of equal size that share their pages; one group whose layers have pages of their own; the packed
layout of DeepSeek-V4 (packed.py). Numbers are of one stage, hence of one rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from snippets.planner.cache.layers import Group, Layers, dealt, totals
from snippets.planner.cache.needs import cdiv, request_blocks
from snippets.planner.cache.pages import page_size_bytes
from snippets.planner.cache.spec import Spec
from snippets.planner.specs import CacheError, Limits


class Pool(Protocol):
    """What planning asks of a layout."""

    def groups(self) -> list[Group]:
        """In vLLM's order."""

    def bytes_per_block(self, stage: int) -> int:
        """Of all layers on the stage (_pool_bytes_per_block); 0 where it has none."""

    def needed_bytes(self, stage: int, max_model_len: int, limits: Limits) -> int:
        """To admit one request of that length (_max_memory_usage_bytes_from_groups)."""

    def blocks_per_request(self, stage: int, max_model_len: int, limits: Limits) -> int:
        """The divisor of the concurrency (get_max_concurrency_for_kv_cache_config)."""


class Dealt(NamedTuple):
    """Equal layers, dealt in turn to `num_groups` groups."""

    spec: Spec
    num_groups: int
    per_stage: Sequence[int]


class EqualGroups:
    """One pool per layer of the largest group; every group takes one page in each."""

    def __init__(self, kinds: Sequence[Dealt]) -> None:
        self.kinds = kinds
        self._page = 0
        self._size = [
            max(cdiv(kind.per_stage[stage], kind.num_groups) for kind in kinds)
            for stage in range(len(kinds[0].per_stage))
        ]

    def page_size_bytes(self) -> int:
        """The one page size (get_uniform_page_size)."""
        if not self._page:
            pages = {page_size_bytes(kind.spec) for kind in self.kinds}
            if len(pages) > 1:
                raise CacheError(
                    f"page sizes of {sorted(pages)} bytes remain after they were made equal: vLLM 0.26.0 asserts one",
                    field="cache_dtype",
                )
            self._page = pages.pop()
        return self._page

    def groups(self) -> list[Group]:
        return [
            Group(kind.spec, dealt(kind.per_stage, kind.num_groups, i))
            for kind in self.kinds
            for i in range(kind.num_groups)
        ]

    def bytes_per_block(self, stage: int) -> int:
        return self._size[stage] * self.page_size_bytes()

    def needed_bytes(self, stage: int, max_model_len: int, limits: Limits) -> int:
        return self.bytes_per_block(stage) * self.blocks_per_request(stage, max_model_len, limits)

    def blocks_per_request(self, stage: int, max_model_len: int, limits: Limits) -> int:
        return sum(kind.num_groups * request_blocks(kind.spec, max_model_len, limits) for kind in self.kinds)


class OwnPages:
    """One group whose layers need equally many blocks, each with a page of its own (UniformTypeKVCacheSpecs)."""

    def __init__(self, members: Layers) -> None:
        self.members = members
        self._totals = totals(members)

    def _on(self, stage: int) -> list[tuple[Spec, int]]:
        """Specs with layers on the stage; all of them where it has none, as vLLM leaves it then."""
        if self._totals[stage]:
            return [(spec, counts[stage]) for spec, counts in self.members.items() if counts[stage]]
        return [(spec, sum(counts)) for spec, counts in self.members.items()]

    def groups(self) -> list[Group]:
        return [Group(next(iter(self.members)), self._totals, self.members)]

    def bytes_per_block(self, stage: int) -> int:
        return sum(count * page_size_bytes(spec) for spec, count in self._on(stage))

    def needed_bytes(self, stage: int, max_model_len: int, limits: Limits) -> int:
        return sum(
            count * page_size_bytes(spec) * request_blocks(spec, max_model_len, limits)
            for spec, count in self._on(stage)
        )

    def blocks_per_request(self, stage: int, max_model_len: int, limits: Limits) -> int:
        return max(request_blocks(spec, max_model_len, limits) for spec, _ in self._on(stage))
