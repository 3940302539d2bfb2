"""A pool of equal blocks, handed out one at a time to whoever needs one: PagedAttention's memory.

Order of vLLM 0.26.0's `BlockPool` with prefix caching off: blocks leave the front of the free queue, and a finished
request's blocks come back to its front, last block first (`SingleTypeKVCacheManager.free`, `BlockPool.free_blocks`).
Left out: the null block (vLLM sets block 0 aside; here every block can be used), sharing, and prefix caching, with
which full blocks would go to the back of the queue so that their content lives on for a while.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator


def cdiv(a: int, b: int) -> int:
    """a / b, rounded up; vLLM's name."""
    return -(-a // b)


class BlockPool:
    """`num_blocks` blocks of `block_size` tokens, numbered from 0."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        if num_blocks < 1 or block_size < 1:
            raise ValueError(f"need at least 1 block of at least 1 token, not {num_blocks} of {block_size}")
        self.num_blocks = num_blocks
        self.block_size = block_size
        self._free = array("i", range(num_blocks - 1, -1, -1))  # the front of the queue is the end of the list

    @property
    def spare(self) -> int:
        """Blocks a running sequence could still get."""
        return len(self._free)

    @property
    def taken_tokens(self) -> int:
        """Tokens of memory in sequences' hands."""
        return (self.num_blocks - len(self._free)) * self.block_size

    def needed(self, tokens: int) -> int:
        """Blocks that hold so many tokens."""
        return cdiv(tokens, self.block_size)

    def holds(self, tokens: int) -> bool:
        """Whether a sequence of so many tokens could ever fit."""
        return self.needed(tokens) <= self.num_blocks

    def get_new_blocks(self, num_blocks: int) -> array[int]:
        """Take blocks from the front of the free queue. Raises ValueError when there are fewer."""
        if num_blocks > len(self._free):
            raise ValueError(f"cannot get {num_blocks} free blocks from the pool: {len(self._free)} are free")
        left = len(self._free) - num_blocks
        taken = self._free[left:]
        del self._free[left:]
        return taken[::-1]

    def admit(self, tokens: int) -> array[int] | None:
        """The block table of a sequence of so many tokens, or None: it has to wait."""
        need = self.needed(tokens)
        return self.get_new_blocks(need) if need <= len(self._free) else None

    def free_blocks(self, table: array[int]) -> None:
        """Give a table back: its last block will be the next one handed out."""
        self._free.extend(table)


def spread(table: array[int], tokens: int, block_size: int, cell: int) -> Iterator[tuple[int, int, int, int]]:
    """Where a sequence lies in cells of `cell` tokens, a multiple of the block: cell, offset, stored, reserved."""
    group = cell // block_size
    blocks = table[: cdiv(tokens, block_size)]
    tail, empty = blocks[-1] // group, -tokens % block_size
    ordered, first = sorted(blocks), 0
    while first < len(ordered):
        at = ordered[first] // group
        last = bisect_left(ordered, (at + 1) * group, first)
        reserved = (last - first) * block_size
        yield at, 0, reserved - (empty if at == tail else 0), reserved
        first = last
