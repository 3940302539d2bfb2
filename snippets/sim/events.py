"""What can happen to memory while requests are served, and the memory's state after it."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Kind = Literal["admitted", "grew", "wrote", "finished", "waits", "preempted"]


class Event(NamedTuple):
    """One thing that happened. Sequences are numbered from 1 in the order they came.

    Memory changes hands when a sequence is admitted, grew into a new block, finished or was preempted. "wrote" says
    that the tokens up to a sequence's last one were stored since, "waits" that the first in line did not fit.
    """

    kind: Kind
    sequence: int  # whom it happened to; for "grew" the one that got the last block
    tokens: int  # admitted: computed now; grew, wrote: stored now; finished, preempted: given up; waits: asked for
    blocks: Sequence[int] = ()  # taken or given back
    for_sequence: int = 0  # preempted: who needed the block


@dataclass
class Stay:
    """A sequence's time in memory, from admission until it ends or is preempted."""

    sequence: int
    table: array[int]  # its blocks in logical order; at a moment, as many of the first as its tokens need


class Moment(NamedTuple):
    """The state after an event."""

    event: Event | None  # None: before anything happened
    step: int  # engine steps so far; in one step every running sequence gets one token
    stays: tuple[Stay, ...]  # who is in memory, in running order
    tokens: tuple[int, ...]  # the tokens each of them has stored
    waiting: tuple[int, ...]  # sequences without memory, first in line first
    stored_tokens: int
    reserved_tokens: int

    @property
    def held(self) -> Iterator[tuple[Stay, int]]:
        """Who is in memory, with the tokens stored."""
        return zip(self.stays, self.tokens, strict=True)


@dataclass
class Run:
    """A whole run, from empty to empty."""

    moments: list[Moment] = field(default_factory=list)
    blocks_per_event: int = 1  # how many blocks one "grew" hands out at most
    steps: int = 0
    stored_token_steps: int = 0  # tokens stored, summed over all steps
    reserved_token_steps: int = 0
    sequence_steps: int = 0  # sequences in memory, summed over all steps
    preemptions: int = 0
    recomputed_tokens: int = 0

    @property
    def opening(self) -> int:
        """Index of the moment with the most tokens stored before the first sequence leaves; the first of equals."""
        events = (moment.event for moment in self.moments)
        first = next(i for i, event in enumerate(events) if event and event.kind in ("finished", "preempted"))
        return max(range(first), key=lambda i: (self.moments[i].stored_tokens, -i))

    @property
    def at_once(self) -> float:
        """Sequences in memory, on average over all steps."""
        return self.sequence_steps / self.steps

    @property
    def utilization(self) -> float:
        """Share of the reserved memory that held tokens, over the whole run."""
        return self.stored_token_steps / self.reserved_token_steps
