"""Serve requests from one memory: who gets in, who grows, who waits, who is thrown out.

The rules of vLLM 0.26.0's scheduler, first come, first served. In a step, every running sequence stores one token, in
the order they started; one that needs a block when none is free makes the last one to start give its memory back
(preemption: it returns to the head of the queue and computes its tokens again). Only in a step without preemption,
waiting requests are let in while the first in line fits. Left out: the limits on tokens and sequences per step, so
that a whole prompt is computed in the step that admits it; prefix caching; arrivals over time: all requests are there
at the start.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from snippets.sim.events import Event, Kind, Moment, Run, Stay
from snippets.sim.lengths import Request
from snippets.sim.paged import cdiv

MAX_GROWTH_EVENTS = 120


class Pool(Protocol):
    """What serving needs of a memory; see `paged.BlockPool` and `contiguous.ContiguousPool`."""

    @property
    def spare(self) -> int: ...
    @property
    def taken_tokens(self) -> int: ...
    def holds(self, tokens: int) -> bool: ...
    def admit(self, tokens: int) -> array[int] | None: ...
    def get_new_blocks(self, num_blocks: int) -> array[int]: ...
    def free_blocks(self, table: array[int]) -> None: ...


class _Running:
    def __init__(self, stay: Stay, tokens: int, steps_left: int) -> None:
        self.stay, self.tokens, self.steps_left = stay, tokens, steps_left


class _Server:
    def __init__(self, requests: Sequence[Request], pool: Pool, block_size: int, blocks_per_event: int) -> None:
        self.requests, self.pool, self.block_size = requests, pool, block_size
        self.answered = [0] * len(requests)  # tokens of each answer so far; they survive a preemption
        self.waiting = deque(range(1, len(requests) + 1))
        self.refused = 0  # the last sequence that was told to wait
        self.running: list[_Running] = []
        self.run = Run(blocks_per_event=blocks_per_event)
        self.record(None)

    def record(self, event: Event | None) -> None:
        """Note the state after an event."""
        tokens = tuple([one.tokens for one in self.running])
        self.note(event, self.run.steps, tuple([one.stay for one in self.running]), tokens, self.pool.taken_tokens)

    def note(
        self, event: Event | None, step: int, stays: tuple[Stay, ...], tokens: tuple[int, ...], reserved: int
    ) -> None:
        self.run.moments.append(Moment(event, step, stays, tokens, tuple(self.waiting), sum(tokens), reserved))

    def admit(self) -> None:
        """Let the first in line in while they fit."""
        while self.waiting:
            sequence = self.waiting[0]
            request, answered = self.requests[sequence - 1], self.answered[sequence - 1]
            tokens = request.prompt_tokens + answered
            table = self.pool.admit(tokens)
            if table is None:
                if self.refused != sequence:
                    self.refused = sequence
                    self.record(Event("waits", sequence, tokens))
                return
            self.waiting.popleft()
            self.run.recomputed_tokens += tokens if answered else 0
            steps_left = request.output_tokens - answered - 1  # computing the prompt gives one token
            self.running.append(_Running(Stay(sequence, table), tokens, steps_left))
            self.record(Event("admitted", sequence, tokens, table[:]))

    def leave(self, one: _Running, kind: Kind, for_sequence: int = 0) -> None:
        """Give a sequence's memory back."""
        self.running.remove(one)
        self.pool.free_blocks(one.stay.table)
        sequence = one.stay.sequence
        if kind == "preempted":
            request = self.requests[sequence - 1]
            self.answered[sequence - 1] = request.output_tokens - one.steps_left
            self.waiting.appendleft(sequence)
            self.refused = sequence  # that it waits is said by the preemption
            self.run.preemptions += 1
        self.record(Event(kind, sequence, one.tokens, one.stay.table, for_sequence))

    def decode(self, steps: int) -> None:
        """So many steps in which everyone gets what they need.

        Everyone begins a new block once in `block_size` steps, so blocks go round in a fixed order.
        """
        size, running, reserved = self.block_size, self.running, self.pool.taken_tokens
        offsets = self.offsets()
        turn = sorted(range(len(running)), key=offsets.__getitem__)  # of equals the first to start comes first
        begun = self.begun(offsets, steps)
        blocks = self.pool.get_new_blocks(begun)
        in_steps = 0
        for place, i in enumerate(turn[: len(blocks)]):
            taken = blocks[place :: len(turn)]
            running[i].stay.table += taken
            # A block is reserved from the step that begins it: the first for steps - offset, each next for `size` less.
            in_steps += len(taken) * (steps - offsets[i]) - size * len(taken) * (len(taken) - 1) // 2
        self.run.reserved_token_steps += reserved * steps + size * in_steps
        stays, base = tuple([one.stay for one in running]), [one.tokens for one in running]
        for first in range(0, begun, self.run.blocks_per_event):
            last = min(first + self.run.blocks_per_event, begun) - 1
            rounds, place = divmod(last, len(turn))
            i, done = turn[place], offsets[turn[place]] + rounds * size
            tokens = (*[n + done + 1 for n in base[: i + 1]], *[n + done for n in base[i + 1 :]])
            event = Event("grew", stays[i].sequence, tokens[i], blocks[first : last + 1])
            handed_out = min(last + 1, len(blocks)) * size
            self.note(event, self.run.steps + done, stays, tokens, reserved + handed_out)
        self.run.sequence_steps += steps * len(running)
        self.run.stored_token_steps += steps * sum(base) + len(running) * (steps * (steps + 1) // 2)
        for one in running:
            one.tokens += steps
            one.steps_left -= steps

    def offsets(self) -> list[int]:
        """In how many steps each running sequence begins a new block; 0: in the next one."""
        size = self.block_size
        return [-one.tokens % size for one in self.running]

    def begun(self, offsets: Sequence[int], steps: int) -> int:
        """How many blocks are begun in so many steps."""
        if steps == 1:
            return offsets.count(0)
        up = steps + self.block_size - 1
        return sum([(up - offset) // self.block_size for offset in offsets if offset < steps])

    def steps_that_fit(self, offsets: Sequence[int]) -> int:
        """For how many steps the free blocks last; everyone begins one in every `block_size` steps."""
        rounds = self.pool.spare // len(offsets) * self.block_size
        within = range(rounds, rounds + self.block_size)
        return rounds - 1 + bisect_right(within, self.pool.spare, key=lambda steps: self.begun(offsets, steps))

    def decode_crowded(self) -> bool:
        """One step in which there are fewer blocks than needed; returns whether anyone was preempted."""
        at, preempted = 0, False
        begun, spare = array("i"), self.pool.spare

        def grew(one: _Running) -> None:
            if begun:
                self.record(Event("grew", one.stay.sequence, one.tokens, begun[:]))
                del begun[:]

        while at < len(self.running):
            one = self.running[at]
            begins = one.tokens % self.block_size == 0
            while begins and spare == 0 and at < len(self.running):
                grew(self.running[at - 1])
                preempted = True
                self.leave(self.running[-1], "preempted", one.stay.sequence)
                spare = self.pool.spare
            if at == len(self.running):  # the one that needed a block was the last to start
                break
            if begins:
                blocks = self.pool.get_new_blocks(1)
                spare -= 1
                one.stay.table += blocks
                begun += blocks
            one.tokens += 1
            one.steps_left -= 1
            at += 1
            if len(begun) == self.run.blocks_per_event:
                grew(one)
        grew(self.running[-1])
        self.run.sequence_steps += len(self.running)
        self.run.stored_token_steps += sum(one.tokens for one in self.running)
        self.run.reserved_token_steps += self.pool.taken_tokens
        return preempted

    def serve(self) -> Run:
        may_admit = True
        while self.waiting or self.running:
            steps, preempted = 1, False
            if self.running:
                steps = 1 if may_admit else min(one.steps_left for one in self.running)
                offsets = self.offsets()
                if self.begun(offsets, steps) > self.pool.spare:
                    steps = self.steps_that_fit(offsets)
                if steps:
                    self.decode(steps)
                else:
                    steps, preempted = 1, self.decode_crowded()
            if may_admit and not preempted:
                before, reserved = len(self.running), self.pool.taken_tokens
                self.admit()  # a prompt is in memory for the whole step that computes it
                self.run.sequence_steps += len(self.running) - before
                self.run.stored_token_steps += sum(one.tokens for one in self.running[before:])
                self.run.reserved_token_steps += self.pool.taken_tokens - reserved
                may_admit = False
            self.run.steps += steps
            done = [one for one in self.running if one.steps_left == 0]
            if done and sum(one.tokens for one in self.running) != self.run.moments[-1].stored_tokens:
                self.record(Event("wrote", done[0].stay.sequence, done[0].tokens))
            for one in done:
                self.leave(one, "finished")
                may_admit = True
        return self.run


def serve(requests: Sequence[Request], pool: Pool, block_size: int, max_growth_events: int = MAX_GROWTH_EVENTS) -> Run:
    """Serve all requests to their end. Raises ValueError when one could never fit into the empty pool.

    Every begun block is an event; in a run with more of them than `max_growth_events`, one event begins several.
    """
    for number, request in enumerate(requests, 1):
        if not pool.holds(request.stored_tokens):
            raise ValueError(f"request {number} stores {request.stored_tokens} tokens, more than the pool can hold")
    begun = sum(cdiv(one.stored_tokens, block_size) - cdiv(one.prompt_tokens, block_size) for one in requests)
    return _Server(requests, pool, block_size, max(1, cdiv(begun, max_growth_events))).serve()
