"""Where a server stops keeping up: the knee of a load sweep, from what `vllm bench serve` reports at each rate.

A rate is kept up with when the requests answered per second are at least KEPT_UP of those sent per second. The knee
is the highest rate tried before the first that is not kept up with; the truth lies between it and that one.

vLLM counts the duration from the first request sent to the last answer complete, and its last request is sent at
number of requests / rate. So answered is never above sent, and for a load of T seconds whose last answer takes L more,
answered / sent = T / (T + L): a load that is short beside one answer looks like a server that falls behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

KEPT_UP = 0.9
ATTAINED = 0.9  # share of requests within the targets, as in DistServe (arXiv 2401.09670)


@dataclass(frozen=True)
class RatePoint:
    """One rate of the sweep. Rates are requests a second."""

    request_rate: float  # sent
    request_throughput: float  # answered
    request_goodput: float  # answered within the targets
    completed: int
    failed: int = 0

    @property
    def kept_up(self) -> bool:
        """Whether the server kept up with the rate; one request that failed says no."""
        return not self.failed and self.request_throughput >= KEPT_UP * self.request_rate

    @property
    def attainment(self) -> float:
        """Share of all requests that were answered within the targets; a failed one was not."""
        if not self.completed:
            return 0.0
        return self.request_goodput / self.request_throughput * self.completed / (self.completed + self.failed)


@dataclass(frozen=True)
class Knee:
    """The last rate kept up with and the first not; None where the sweep did not reach."""

    kept_up: float | None
    not_kept_up: float | None


def find_knee(points: Iterable[RatePoint]) -> Knee:
    """The knee of a sweep, whatever the order the rates were tried in."""
    kept_up: float | None = None
    for point in sorted(points, key=lambda one: one.request_rate):
        if not point.kept_up:
            return Knee(kept_up, point.request_rate)
        kept_up = point.request_rate
    return Knee(kept_up, None)


def highest_attained(points: Sequence[RatePoint], share: float = ATTAINED) -> RatePoint | None:
    """The highest rate tried up to which every rate had at least `share` of its requests within the targets."""
    best: RatePoint | None = None
    for point in sorted(points, key=lambda one: one.request_rate):
        if point.attainment < share:
            break
        best = point
    return best


def load_seconds_needed(answer_seconds: float) -> float:
    """The shortest load that a server which answers in so many seconds can pass: T / (T + L) = KEPT_UP."""
    return answer_seconds / (1 / KEPT_UP - 1)
