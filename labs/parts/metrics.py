"""Numbers from `llm.get_metrics()`; the engine must be started with disable_log_stats=False."""

from __future__ import annotations

from typing import Any


def counters(llm: Any) -> dict[str, float]:
    """Counters and gauges by name, summed over engines; of a histogram `NAME_sum` and `NAME_count`."""
    found: dict[str, float] = {}
    for metric in llm.get_metrics():
        if hasattr(metric, "value"):
            found[metric.name] = found.get(metric.name, 0) + metric.value
        elif hasattr(metric, "buckets"):
            for part in ("sum", "count"):
                found[f"{metric.name}_{part}"] = found.get(f"{metric.name}_{part}", 0) + getattr(metric, part)
    return found


def grown(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """What each number grew by; metrics only ever count up, so a phase is a difference."""
    return {name: value - before.get(name, 0) for name, value in after.items()}
