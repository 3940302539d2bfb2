"""What four settings of vLLM 0.26.0 do to the memory it has for the KV cache, seen from a start that was measured.

gpu_memory_utilization moves the whole budget (v1/worker/utils.py:430). max_num_batched_tokens is the size of the trial
run, whose activations the cache does not get (v1/worker/gpu_worker.py:541). max_model_len and block_size are in neither
of the two: they decide how the same bytes are counted. The CPU build takes the bytes it is told to, whatever these four
say (v1/worker/cpu_worker.py).
"""

from __future__ import annotations

from math import ceil
from typing import Any

from snippets import baseline

NOISE_BYTES = 64 * 2**20  # assumed: as much may the same start differ from another one on a card

_LESS, _MORE = baseline.estimated_other(2048), baseline.estimated_other(8192)
LOW_BYTES_PER_BATCHED_TOKEN = (_MORE.low - _LESS.low) // (8192 - 2048)
HIGH_BYTES_PER_BATCHED_TOKEN = (_MORE.high - _LESS.high) // (8192 - 2048)


def available_after(
    available: int,
    total_bytes: int | None,
    before: dict[str, Any],
    after: dict[str, Any],
    activation_bytes: tuple[int, int],
) -> tuple[int, int]:
    """Lowest and highest bytes for the cache once `before` (engine arguments) has become `after`.

    `total_bytes` is None for the CPU build. `activation_bytes`: the least and the most that one more token in the trial
    run takes.
    """
    if total_bytes is None:
        return available, available
    shares = (ceil(total_bytes * args["gpu_memory_utilization"]) for args in (after, before))
    moved = next(shares) - next(shares)
    tokens = after["max_num_batched_tokens"] - before["max_num_batched_tokens"]
    taken = sorted(tokens * each for each in activation_bytes)
    return available + moved - taken[1] - NOISE_BYTES, available + moved - taken[0] + NOISE_BYTES


def moves(before: float, ends: tuple[float, float], slack: float) -> bool:
    """Does a number leave its place? Not when an end of what it becomes is within `slack` (a share) of it."""
    low, high = ends
    return not low - slack * before <= before <= high + slack * before
