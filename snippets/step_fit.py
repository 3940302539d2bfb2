"""Fit the step-time law to measured decode steps: what a step costs before it reads anything, and how fast it reads.

    step_seconds = fixed_seconds + bytes_read / bytes_per_second

Ordinary least squares, every point with the same weight. Two numbers are all that such points can tell: weights are
read at every step, so whether they are read as fast as the cache cannot be seen, and the law says that they are. What
grows with the number of sequences and not with bytes (sampling, scheduling, arithmetic) is in the residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class StepFit:
    """The law with its two numbers, and how far each point lies from it: positive where the step took longer."""

    fixed_seconds: float
    bytes_per_second: float
    residual_seconds: tuple[float, ...]


def fit_steps(bytes_read: Sequence[float], step_seconds: Sequence[float]) -> StepFit:
    """The line through measured steps; points that no positive bandwidth fits are refused with the reason."""
    count = len(bytes_read)
    if len(step_seconds) != count:
        raise ValueError(f"{count} sizes and {len(step_seconds)} times are given; each step needs both")
    if len(set(bytes_read)) < 2:
        raise ValueError("a line needs steps that read at least two different amounts; add a context or a batch")
    mean_bytes, mean_seconds = sum(bytes_read) / count, sum(step_seconds) / count
    spread = sum((read - mean_bytes) ** 2 for read in bytes_read)
    together = sum(
        (read - mean_bytes) * (seconds - mean_seconds) for read, seconds in zip(bytes_read, step_seconds, strict=True)
    )
    if together <= 0:
        raise ValueError("steps that read more did not take longer, so no bandwidth fits them; repeat the measurement")
    seconds_per_byte = together / spread
    fixed = mean_seconds - seconds_per_byte * mean_bytes
    residuals = tuple(
        seconds - (fixed + seconds_per_byte * read) for read, seconds in zip(bytes_read, step_seconds, strict=True)
    )
    return StepFit(fixed, 1 / seconds_per_byte, residuals)
