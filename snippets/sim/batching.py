"""Who is in which engine step: one request at a time, static batches, and continuous batching, counted exactly.

The rules of vLLM 0.26.0's `Scheduler.schedule`, first come, first served, with chunked prefill. A step has room for
`max_num_batched_tokens` tokens and `max_num_seqs` requests. Requests that run come first, in the order they started:
each gets the tokens it has not computed yet, as far as the room goes. Then waiting ones are let in. A request whose
tokens are all computed makes one token, so a prompt that fits into one step makes its first token in that step.

Memory is left out: the cache must hold `max_num_seqs` requests of full length (`serving` has the rules of memory).
So are prefix caching, and asynchronous scheduling, which plans a step before the last one's tokens are known.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from snippets.sim.lengths import Request


@dataclass(frozen=True)
class BatchRun:
    """Steps are counted from 1. The tuples have one entry per request, in the order they came."""

    steps: int
    sequence_steps: int  # requests with tokens in a step, summed over all steps
    first_token_step: tuple[int, ...]
    last_token_step: tuple[int, ...]

    def slot_use(self, max_num_seqs: int) -> float:
        """Share of the slots, `max_num_seqs` in every step, in which a request had tokens."""
        return self.sequence_steps / (self.steps * max_num_seqs)


class _Scheduled:
    def __init__(self, number: int, request: Request) -> None:
        self.number, self.left = number, request.output_tokens
        self.uncomputed = request.prompt_tokens


def continuous(
    requests: Sequence[Request],
    max_num_seqs: int,
    max_num_batched_tokens: int,
    handed_over: Sequence[int] | None = None,
) -> BatchRun:
    """Requests join and leave between any two steps.

    `handed_over` says after how many steps each reached the engine, in order; left out, all are there at the start.
    A step needs somebody: while no request is there, the next one is handed over without a step in between.
    """
    coming = deque(
        zip(handed_over or [0] * len(requests), map(_Scheduled, range(len(requests)), requests), strict=True)
    )
    waiting: deque[_Scheduled] = deque()
    running: list[_Scheduled] = []
    first, last = [0] * len(requests), [0] * len(requests)
    step = sequence_steps = 0
    while coming or waiting or running:
        while coming and (coming[0][0] <= step or not (waiting or running)):
            waiting.append(coming.popleft()[1])
        step += 1
        room, computed = max_num_batched_tokens, []
        for one in running:
            tokens = min(one.uncomputed, room)
            if tokens:
                computed.append((one, tokens))
                room -= tokens
        while waiting and room and len(running) < max_num_seqs:
            one = waiting.popleft()
            running.append(one)
            tokens = min(one.uncomputed, room)
            computed.append((one, tokens))
            room -= tokens
        sequence_steps += len(computed)
        for one, tokens in computed:
            one.uncomputed -= tokens
            if one.uncomputed:
                continue
            first[one.number] = first[one.number] or step
            last[one.number] = step
            one.left -= 1
            one.uncomputed = 1  # the token just made
        running = [one for one in running if one.left]
    return BatchRun(step, sequence_steps, tuple(first), tuple(last))


def static_batches(requests: Sequence[Request], batch_size: int, max_num_batched_tokens: int) -> BatchRun:
    """`batch_size` requests at a time, in the order they come; the next batch starts when the last one is done."""
    steps = sequence_steps = 0
    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    for start in range(0, len(requests), batch_size):
        batch = continuous(requests[start : start + batch_size], batch_size, max_num_batched_tokens)
        first += tuple(steps + step for step in batch.first_token_step)
        last += tuple(steps + step for step in batch.last_token_step)
        steps += batch.steps
        sequence_steps += batch.sequence_steps
    return BatchRun(steps, sequence_steps, first, last)


def one_at_a_time(requests: Sequence[Request], max_num_batched_tokens: int) -> BatchRun:
    """Each request alone: a static batch of one."""
    return static_batches(requests, 1, max_num_batched_tokens)


def fewest_steps(requests: Sequence[Request], max_num_seqs: int) -> int:
    """Fewer steps no schedule needs: a step makes one token a request, for `max_num_seqs` requests at most."""
    longest = max(request.output_tokens for request in requests)
    return max(longest, -(-sum(request.output_tokens for request in requests) // max_num_seqs))
