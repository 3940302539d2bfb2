"""What vLLM 0.26.0's scheduler does in each step, counted: who gets tokens, and when somebody is preempted.

First come, first served (v1/core/sched/scheduler.py, `schedule`). A step hands out at most `max_num_batched_tokens`.

1. The running requests are served in the order they started, each with the tokens it has not computed yet: one when it
   answers, more while its prompt is in work. One that needs a block when none is free makes the last to start give its
   blocks back; that one returns to the head of the queue and will compute all its tokens again.
2. Only in a step without preemption, waiting requests are let in while tokens of the step are left, fewer than
   `max_num_seqs` run, and the blocks of the first in line's tokens so far are free, the answer to come not counted.
   The watermark's share of the blocks must stay free besides, unless nothing runs (kv_cache_manager.py,
   `allocate_slots`).

Block 0 is set aside (block_pool.py). Assumed: full attention in every layer, no prefix caching, no speculative
decoding, no request stopped early, and `async_scheduling` off: with it, blocks come back a step later.
`serving.py` draws memory over time by the same rules, without the limits of a step.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from snippets.sim.lengths import Request
from snippets.sim.paged import cdiv


@dataclass(frozen=True)
class Limits:
    """What the scheduler works within; vLLM's names."""

    num_gpu_blocks: int  # the null block among them
    block_size: int  # tokens
    max_num_seqs: int
    max_num_batched_tokens: int
    watermark: float = 0.0  # share of the blocks kept free when a request is let in

    @property
    def usable_blocks(self) -> int:
        """Blocks that requests can hold: one is the null block."""
        return self.num_gpu_blocks - 1


@dataclass(frozen=True)
class Schedule:
    """What came of a load. Steps are counted from 1."""

    steps: int
    preemptions: int
    first_preemption_step: int | None
    recomputed_tokens: int  # computed, lost to a preemption, and to be computed again
    most_running: int
    sequence_steps: int  # requests with tokens in a step, summed over all steps
    first_token_step: tuple[int, ...]  # of each request
    last_token_step: tuple[int, ...]


@dataclass
class _Running:
    number: int
    request: Request
    answered: int = 0  # tokens of the answer so far; they survive a preemption
    computed: int = 0
    blocks: int = 0
    granted: int = field(default=0, repr=False)  # tokens of this step

    @property
    def tokens(self) -> int:
        return self.request.prompt_tokens + self.answered


def schedule(requests: Sequence[Request], limits: Limits, handed_over: Sequence[int] | None = None) -> Schedule:
    """Serve all requests to their end. Raises ValueError when one could never fit into the empty pool.

    `handed_over` says after how many steps each reaches the scheduler, in order; left out, all are there at the start.
    A step needs somebody: while no request is there, the next one comes without a step in between.
    """
    size, free = limits.block_size, limits.usable_blocks
    for number, request in enumerate(requests, 1):
        if cdiv(request.stored_tokens, size) > free:
            raise ValueError(
                f"request {number} stores {request.stored_tokens:,} tokens, {cdiv(request.stored_tokens, size):,} "
                f"blocks of {size}, and {free:,} can be used: give shorter requests or more memory"
            )
    watermark_blocks = int(limits.watermark * limits.num_gpu_blocks)
    coming = deque(zip(handed_over or [0] * len(requests), map(_Running, range(len(requests)), requests), strict=True))
    waiting, running = deque[_Running](), list[_Running]()
    steps = preemptions = recomputed = most_running = sequence_steps = 0
    first: int | None = None
    first_token_step, last_token_step = [0] * len(requests), [0] * len(requests)
    while coming or waiting or running:
        while coming and (coming[0][0] <= steps or not (waiting or running)):
            waiting.append(coming.popleft()[1])
        steps += 1
        budget, lost, at = limits.max_num_batched_tokens, 0, 0
        while at < len(running) and budget:
            one = running[at]
            one.granted = min(one.tokens - one.computed, budget)
            need = cdiv(one.computed + one.granted, size) - one.blocks
            while need > free and at < len(running):
                victim = running.pop()
                waiting.appendleft(victim)
                free += victim.blocks
                recomputed += victim.computed
                victim.blocks = victim.computed = victim.granted = 0
                lost += 1
            if at == len(running):  # the one that needs blocks was the last to start
                break
            one.blocks, free, budget, at = one.blocks + need, free - need, budget - one.granted, at + 1
        while not lost and waiting and budget and len(running) < limits.max_num_seqs:
            one = waiting[0]
            if cdiv(one.tokens, size) + (watermark_blocks if running else 0) > free:
                break
            one.granted = min(one.tokens, budget)
            one.blocks = cdiv(one.granted, size)
            free, budget = free - one.blocks, budget - one.granted
            running.append(waiting.popleft())
        preemptions += lost
        first = steps if lost and first is None else first
        most_running = max(most_running, len(running))
        sequence_steps += sum(one.granted > 0 for one in running)
        for one in running:
            one.computed, one.granted = one.computed + one.granted, 0
            if one.computed == one.tokens:
                one.answered += 1
                first_token_step[one.number] = first_token_step[one.number] or steps
                last_token_step[one.number] = steps
        done = [one for one in running if one.answered == one.request.output_tokens]
        free += sum(one.blocks for one in done)
        running = [one for one in running if one.answered < one.request.output_tokens]
    tokens = tuple(first_token_step), tuple(last_token_step)
    return Schedule(steps, preemptions, first, recomputed, most_running, sequence_steps, *tokens)


def most_without_preemption(request: Request, limits: Limits) -> int:
    """Requests like this that run at once and can all grow to their end: a max_num_seqs that never preempts."""
    return limits.usable_blocks // cdiv(request.stored_tokens, limits.block_size)


def onset(request: Request, limits: Limits, most: int) -> int | None:
    """The fewest requests like this, all waiting at the start, of which one is preempted; None: not even `most`."""
    least = most_without_preemption(request, limits) + 1  # fewer can all grow to their end
    return next((n for n in range(least, most + 1) if schedule([request] * n, limits).preemptions), None)
