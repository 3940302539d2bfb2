"""How the estimate did on real logs that it was not fitted to: the table for the page, as tools/fit_memory wrote it."""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Row:
    """One log, predicted without it. Memory in GiB."""

    id: str
    model: str
    vllm_version: str  # "" where the log does not say
    engine: str  # "V0" or "V1"
    source: str
    card_inferred: bool  # the card was worked out from the memory figures, not stated
    utilization: float
    utilization_stated: bool  # False: the version's default
    low_gib: float
    expected_gib: float
    high_gib: float
    measured_gib: float
    error: float  # predicted over measured, minus one: above zero promises memory that is not there
    inside: bool  # the range holds the measured figure
    baseline_gib: float | None = None
    baseline_error: float | None = None


@dataclass(frozen=True)
class Score:
    """How a set of predictions did."""

    logs: int
    within_10_percent: int
    median_absolute_error: float
    inside: int | None = None  # how many ranges hold the measured figure; the baseline states none


@dataclass(frozen=True)
class Evidence:
    """Everything the page shows."""

    logs: tuple[Row, ...]  # discrete cards; each left out of the fit
    of_0_26: tuple[Row, ...]  # logs of this version, not among the collection; each source left out of the fit
    unified_memory: tuple[Row, ...]
    left_out: dict[str, str]  # id of a log that prints weights or memory → why it is in no table
    breakdowns: int  # further logs that print the parts
    scores: dict[str, dict[str, dict[str, Score]]]  # set of logs → what was left out → "estimate" or "baseline"


@cache
def evidence() -> Evidence:
    """The stored evidence."""
    raw = pkgutil.get_data("snippets.planner.memory", "evidence.json")
    if raw is None:
        raise FileNotFoundError("snippets/planner/memory/evidence.json")
    fields: dict[str, Any] = json.loads(raw)
    scores = {
        group: {leave: {who: Score(**numbers) for who, numbers in pair.items()} for leave, pair in by_leave.items()}
        for group, by_leave in fields["summary"].items()
    }

    def rows(name: str) -> tuple[Row, ...]:
        return tuple(Row(**row) for row in fields[name])

    return Evidence(
        rows("logs"), rows("of_0_26"), rows("unified_memory"), fields["left_out"], fields["breakdowns"], scores
    )
