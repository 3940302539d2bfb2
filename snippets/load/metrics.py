"""Latency and throughput of served requests, by the definitions of `vllm bench serve`.

vLLM 0.26.0, `calculate_metrics` in vllm/benchmarks/serve.py. Per request: TTFT from being sent to the first token;
E2EL from being sent to the last; TPOT = (E2EL - TTFT) / (output tokens - 1). A request of one output token has no
TPOT: it is left out of TPOT's statistics and meets any TPOT target. Percentiles are numpy's, with linear interpolation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from statistics import fmean


@dataclass(frozen=True)
class ServedRequest:
    """One answered request; moments in seconds on one clock."""

    sent_seconds: float
    first_token_seconds: float
    finished_seconds: float
    output_tokens: int

    @property
    def ttft_ms(self) -> float:
        """Time to the first token."""
        return (self.first_token_seconds - self.sent_seconds) * 1000

    @property
    def e2el_ms(self) -> float:
        """Time to the last token."""
        return (self.finished_seconds - self.sent_seconds) * 1000

    @property
    def tpot_ms(self) -> float | None:
        """Time per output token after the first."""
        if self.output_tokens <= 1:
            return None
        return (self.e2el_ms - self.ttft_ms) / (self.output_tokens - 1)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` percent lie, interpolated between neighbours; 0 of no values, as vLLM prints."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = (len(ordered) - 1) * share / 100
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def latency_metrics(served: Sequence[ServedRequest], shares: Sequence[int] = (90, 99)) -> dict[str, float]:
    """Mean, median and percentiles of TTFT, TPOT and E2EL, under the keys of vLLM's result file."""
    columns = {
        "ttft": [one.ttft_ms for one in served],
        "tpot": [tpot for one in served if (tpot := one.tpot_ms) is not None],
        "e2el": [one.e2el_ms for one in served],
    }
    found: dict[str, float] = {}
    for name, values in columns.items():
        found[f"mean_{name}_ms"] = fmean(values) if values else 0.0
        found[f"median_{name}_ms"] = percentile(values, 50)
        found |= {f"p{share}_{name}_ms": percentile(values, share) for share in shares}
    return found


def throughput_metrics(served: Sequence[ServedRequest], duration_seconds: float) -> dict[str, float]:
    """Requests and output tokens a second, from the first request sent to the last answer complete."""
    return {
        "request_throughput": len(served) / duration_seconds,
        "output_throughput": sum(one.output_tokens for one in served) / duration_seconds,
    }


def request_goodput(served: Sequence[ServedRequest], duration_seconds: float, ttft_ms: float, tpot_ms: float) -> float:
    """Requests a second that met both targets."""
    good = sum(one.ttft_ms <= ttft_ms and (one.tpot_ms or 0.0) <= tpot_ms for one in served)
    return good / duration_seconds
