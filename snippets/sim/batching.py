"""One request at a time, static batches, and continuous batching: the engine's steps, counted exactly.

The steps are those of `scheduler`, with a cache that holds everybody. A prompt that fits into one step makes its first
token in that step; a longer one is computed in chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from snippets.sim.lengths import Request
from snippets.sim.scheduler import Limits, schedule


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


def continuous(
    requests: Sequence[Request],
    max_num_seqs: int,
    max_num_batched_tokens: int,
    handed_over: Sequence[int] | None = None,
) -> BatchRun:
    """Requests join and leave between any two steps; `handed_over` as in `schedule`."""
    room = Limits(sum(one.stored_tokens for one in requests) + 1, 1, max_num_seqs, max_num_batched_tokens)
    run = schedule(requests, room, handed_over)
    return BatchRun(run.steps, run.sequence_steps, run.first_token_step, run.last_token_step)


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
