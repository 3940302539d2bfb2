"""One piece of memory per sequence, as long as the longest sequence may become: how serving worked before paging.

Every piece has the same length, so the pool is a row of slots, first fit. What is left over behind the last slot is
too short for anyone: external fragmentation.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from heapq import heappop, heappush

NEVER_SHORT = 1 << 62


class ContiguousPool:
    """A pool of `pool_tokens`, given out in pieces of `max_context` tokens."""

    spare = NEVER_SHORT  # a running sequence never asks for more: its whole piece was taken when it arrived

    def __init__(self, pool_tokens: int, max_context: int) -> None:
        if not 1 <= max_context <= pool_tokens:
            raise ValueError(f"max_context must be from 1 to the pool's {pool_tokens} tokens, not {max_context}")
        self.pool_tokens = pool_tokens
        self.max_context = max_context
        self.num_slots = pool_tokens // max_context
        self._free = list(range(self.num_slots))  # in order, so it is a heap

    @property
    def taken_tokens(self) -> int:
        """Tokens of memory in sequences' hands."""
        return (self.num_slots - len(self._free)) * self.max_context

    def holds(self, tokens: int) -> bool:
        """Whether a sequence of so many tokens could ever fit."""
        return tokens <= self.max_context

    def admit(self, tokens: int) -> array[int] | None:
        """The lowest free slot, in a list of one, or None: the sequence has to wait."""
        return array("i", [heappop(self._free)]) if self._free else None

    def get_new_blocks(self, num_blocks: int) -> array[int]:
        """Nothing: growing needs no new memory here."""
        return array("i")

    def free_blocks(self, table: array[int]) -> None:
        """Give the slot back."""
        heappush(self._free, table[0])


def spread(slot: int, tokens: int, max_context: int, cell: int) -> Iterator[tuple[int, int, int, int]]:
    """Where a sequence lies in cells of `cell` tokens: cell, offset in it, stored, reserved."""
    start = slot * max_context
    end = start + max_context
    for at in range(start // cell, (end - 1) // cell + 1):
        low, high = max(start, at * cell), min(end, (at + 1) * cell)
        yield at, low - at * cell, min(max(start + tokens - low, 0), high - low), high - low
