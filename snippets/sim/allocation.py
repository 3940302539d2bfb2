"""One setting of the two memories: what a run depends on, the run, and where everything lies at a moment of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from snippets.sim import contiguous, paged
from snippets.sim.contiguous import ContiguousPool
from snippets.sim.events import Moment, Run
from snippets.sim.lengths import Request, draw_requests
from snippets.sim.paged import BlockPool, cdiv
from snippets.sim.serving import serve

Strategy = Literal["contiguous", "paged"]
STRATEGIES: tuple[Strategy, ...] = ("contiguous", "paged")


class Piece(NamedTuple):
    """One sequence's share of a cell, in tokens."""

    cell: int
    offset: int  # where it begins in the cell, at the earliest
    sequence: int
    stored: int
    reserved: int


class Setup(NamedTuple):
    """What a run depends on. Sizes are in tokens."""

    sequences: int
    block_size: int
    max_context: int
    pool: int
    lengths: str  # one of lengths.DISTRIBUTIONS
    seed: int

    @property
    def num_blocks(self) -> int:
        """Whole blocks in the pool."""
        return self.pool // self.block_size

    @property
    def longest_context(self) -> int:
        """The longest maximum context that fits into the whole blocks of the pool."""
        return self.num_blocks * self.block_size

    @property
    def smallest_pool(self) -> int:
        """The smallest pool with the blocks of one maximum context."""
        return self.blocks_of(self.max_context) * self.block_size

    def requests(self) -> tuple[Request, ...]:
        """The requests to serve, first come, first served."""
        return _requests(self)

    def blocks_of(self, tokens: int) -> int:
        """Blocks that hold so many tokens."""
        return cdiv(tokens, self.block_size)

    def would_fit(self, strategy: Strategy) -> int:
        """Sequences of these lengths, each at its longest, that the pool holds at once."""
        if strategy == "contiguous":
            return self.pool // self.max_context
        return self.num_blocks * self.sequences // sum(self.blocks_of(one.stored_tokens) for one in self.requests())

    def pieces(self, strategy: Strategy, moment: Moment, cell: int) -> list[Piece]:
        """Who holds what, in cells of `cell` tokens (a multiple of the block)."""
        found = []
        for stay, tokens in moment.held:
            shares: Iterator[tuple[int, int, int, int]]
            if strategy == "paged":
                shares = paged.spread(stay.table, tokens, self.block_size, cell)
            else:
                shares = contiguous.spread(stay.table[0], tokens, self.max_context, cell)
            found += [Piece(at, offset, stay.sequence, stored, reserved) for at, offset, stored, reserved in shares]
        return found

    def touched(self, strategy: Strategy, moment: Moment, cell: int) -> set[int]:
        """The cells that the last event took, wrote or gave back."""
        event = moment.event
        if event is None or event.kind == "waits":
            return set()
        if event.kind == "wrote" or (event.kind == "grew" and strategy == "contiguous"):
            table = next(stay.table for stay in moment.stays if stay.sequence == event.sequence)
            token = event.tokens - 1  # the last one written
            if strategy == "contiguous":
                return {(table[0] * self.max_context + token) // cell}
            return {table[token // self.block_size] * self.block_size // cell}
        if strategy == "contiguous":
            return {at for at, *_ in contiguous.spread(event.blocks[0], 0, self.max_context, cell)}
        return {block * self.block_size // cell for block in event.blocks}


@lru_cache(maxsize=16)
def _requests(setup: Setup) -> tuple[Request, ...]:
    return draw_requests(setup.lengths, setup.sequences, setup.max_context, setup.seed)


@lru_cache(maxsize=16)
def run_of(setup: Setup, strategy: Strategy) -> Run:
    """The whole run; every moment of it is then only looked up."""
    if strategy == "paged":
        return serve(setup.requests(), BlockPool(setup.num_blocks, setup.block_size), setup.block_size)
    return serve(setup.requests(), ContiguousPool(setup.pool, setup.max_context), setup.block_size)
