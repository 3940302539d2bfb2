"""How well the estimate does on logs it was not fitted to, beside the plain baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from tools.fit_memory.cases import Case, Cases
from tools.fit_memory.fit import expected_gib, fit

Leave = Literal["log", "source"]
CLOSE = 0.10


@dataclass(frozen=True)
class Prediction:
    """KV GiB of one log, predicted without it."""

    case: Case
    low_gib: float
    expected_gib: float
    high_gib: float

    @property
    def measured_gib(self) -> float:
        """What the log prints."""
        assert self.case.available_gib is not None
        return self.case.available_gib

    @property
    def error(self) -> float:
        """Predicted over measured, minus one; positive promises memory that is not there."""
        return (self.expected_gib - self.measured_gib) / abs(self.measured_gib)

    @property
    def inside(self) -> bool:
        """Whether the stated range holds what the log prints."""
        return self.low_gib <= self.measured_gib <= self.high_gib


@dataclass(frozen=True)
class Score:
    """The summary of a set of predictions."""

    logs: int
    within_10_percent: int
    median_absolute_error: float
    inside: int


def score(predictions: Sequence[Prediction]) -> Score:
    """Counts and median."""
    return Score(
        logs=len(predictions),
        within_10_percent=sum(abs(p.error) <= CLOSE for p in predictions),
        median_absolute_error=median(abs(p.error) for p in predictions),
        inside=sum(p.inside for p in predictions),
    )


def predict(case: Case, others: Sequence[Case]) -> Prediction:
    """The estimate for one log, fitted to `others`. A log of a later version gets this version's spread."""
    era = "v1" if case.era == "later" else case.era
    fitted = fit(others, (era,))
    rest, ends = expected_gib(case, fitted), fitted.spread[era]
    before = _before(case)
    return Prediction(case, before - rest * ends.high, before - rest, before - rest * ends.low)


def left_out(cases: Cases, which: Sequence[Case], leave: Leave = "log") -> list[Prediction]:
    """Each log predicted from the others; with leave "source" also without the other logs of its source."""

    def others(case: Case) -> list[Case]:
        if leave == "log":
            return [other for other in cases.every if other.id != case.id]
        return [other for other in cases.every if other.source != case.source]

    return [predict(case, others(case)) for case in which]


def baseline(logs: Sequence[Case], leave: Leave = "log") -> list[Prediction]:
    """Nominal card size × utilization − logged weights − the median of the other logs' left-over, in GiB.

    Nominal: the number in the card's name, taken as GiB, as memory calculators do.
    """
    overs = {case.id: _nominal_before(case) - (case.available_gib or 0) for case in logs}
    found = []
    for case in logs:
        kept = [c for c in logs if (c.id != case.id if leave == "log" else c.source != case.source)]
        guess = _nominal_before(case) - median(overs[other.id] for other in kept)
        found.append(Prediction(case, guess, guess, guess))
    return found


def _before(case: Case) -> float:
    """Requested memory minus weights."""
    assert case.left_over_gib is not None and case.available_gib is not None
    return case.left_over_gib + case.available_gib


def _nominal_before(case: Case) -> float:
    assert case.sold_as_gb is not None and case.utilization is not None and case.weights_gib is not None
    return case.sold_as_gb * case.utilization - case.weights_gib
