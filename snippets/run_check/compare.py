"""Predicted beside measured, part by part, with what became of each prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from snippets.planner.budget import requested_bytes
from snippets.planner.evidence.predict import Figures
from snippets.planner.specs import CachePlan
from snippets.planner.versions import kv_cache_size_tokens
from snippets.run_check.predict import Prediction, version_of
from snippets.run_check.run import Run

Unit = Literal["bytes", "blocks", "tokens", "times"]
Verdict = Literal["equal", "inside", "near", "outside", "not told", "not predicted"]
NEAR_SHARE = 0.02  # of weights: what a kernel repacks or pads is of this size
PRINTED = 0.005  # of a concurrency, printed to two digits


@dataclass(frozen=True)
class Row:
    """One part. Sizes in bytes; the prediction is a range, whose ends are equal where it is exact."""

    name: str
    unit: Unit
    low: float | None
    expected: float | None
    high: float | None
    measured: float | None
    is_exact: bool = False  # must be equal, but for what the print rounds

    @property
    def verdict(self) -> Verdict:
        """What became of the prediction."""
        if self.measured is None:
            return "not told"
        if self.low is None or self.high is None:
            return "not predicted"
        slack = PRINTED + 1e-9 if self.unit == "times" else 0
        if self.low - slack <= self.measured <= self.high + slack:
            return "equal" if self.is_exact else "inside"
        near = self.name == "weights" and self.expected and abs(self.measured / self.expected - 1) <= NEAR_SHARE
        return "near" if near else "outside"

    @property
    def off(self) -> float | None:
        """Measured minus the nearest end of the prediction; 0 inside it."""
        if self.measured is None or self.low is None or self.high is None:
            return None
        return self.measured - min(max(self.measured, self.low), self.high)


@dataclass(frozen=True)
class Comparison:
    """A run beside its prediction."""

    run: Run
    prediction: Prediction
    memory: tuple[Row, ...]  # before the start
    cache: tuple[Row, ...]  # from the memory that was reported
    before: tuple[Row, ...]  # the same figures before the start


def compare(run: Run, prediction: Prediction) -> Comparison:
    """All rows for which there is anything to say."""
    cache = _cache_rows(run, prediction)
    return Comparison(run, prediction, _memory_rows(run, prediction), cache, _before_rows(run, prediction))


def requested(run: Run, prediction: Prediction) -> int | None:
    """Bytes that vLLM may use of the card."""
    budget = prediction.plan.budget if prediction.plan else None
    if budget is not None:
        return budget.requested_bytes
    return None if run.total is None else requested_bytes(run.total, prediction.args.gpu_memory_utilization)


def measured_other(run: Run, prediction: Prediction) -> int | None:
    """What neither weights nor cache take: the parts as printed, or what is left over."""
    if run.activation is not None and run.non_torch is not None:
        return run.activation + run.non_torch
    asked = requested(run, prediction)
    if asked is None or run.weights is None or run.available is None or run.settings.get("kv_cache_memory_bytes"):
        return None
    return asked - run.weights - run.available - (run.estimated_graphs or 0)


def _memory_rows(run: Run, prediction: Prediction) -> tuple[Row, ...]:
    if run.is_cpu:  # what its cache gets is what was asked for
        return ()
    budget = prediction.plan.budget if prediction.plan else None
    weights = budget.weights_bytes if budget else None
    activation, non_torch, graphs, available = (
        (budget.activation, budget.non_torch, budget.cuda_graphs, budget.available) if budget else (None,) * 4
    )

    def ranged(name: str, one: object, measured: float | None) -> Row:
        low, expected, high = (getattr(one, end, None) for end in ("low", "expected", "high"))
        return Row(name, "bytes", low, expected, high, measured)

    rows = [Row("weights", "bytes", weights, weights, weights, run.weights)]
    if run.activation is not None or run.non_torch is not None:
        rows += [ranged("activations", activation, run.activation), ranged("context", non_torch, run.non_torch)]
    else:
        low, expected, high = (
            (activation.low + non_torch.low, activation.expected + non_torch.expected, activation.high + non_torch.high)
            if activation and non_torch
            else (None,) * 3
        )
        rows.append(Row("other", "bytes", low, expected, high, measured_other(run, prediction)))
    if run.estimated_graphs is not None or (graphs is not None and graphs.high):
        rows.append(ranged("graphs", graphs, run.estimated_graphs))
    rows.append(ranged("cache", available, run.available))
    return tuple(row for row in rows if row.measured is not None or row.expected is not None)


def _figure_rows(low: Figures, high: Figures, run: Run, is_exact: bool) -> tuple[Row, ...]:
    found: list[Row] = []
    names: tuple[tuple[str, Unit, str, float | None], ...] = (
        ("blocks", "blocks", "gpu_blocks", run.num_gpu_blocks),
        ("tokens", "tokens", "kv_tokens", run.kv_tokens),
        ("concurrency", "times", "max_concurrency", run.max_concurrency),
        ("needed", "bytes", "error_needed_bytes", run.needed),
        ("longest", "tokens", "error_estimated_max_len", run.estimated_max_len),
    )
    for name, unit, field, measured in names:
        least, most = getattr(low, field), getattr(high, field)
        if name in ("needed", "longest") and (measured is None or not (least and most)):
            continue
        if name == "needed":  # printed to 0.01 GiB
            least, most = least - 5_368_710, most + 5_368_710
        is_told = name in ("tokens", "concurrency") and high.error_needed_bytes is None
        if measured is not None or (most is not None and is_told):
            middle = None if least is None or most is None else (least + most) / 2
            found.append(Row(name, unit, least, middle, most, measured, is_exact))
    return tuple(found)


def _cache_rows(run: Run, prediction: Prediction) -> tuple[Row, ...]:
    ends = prediction.cache
    return _figure_rows(ends.low, ends.high, run, True) if ends else ()


def _before_rows(run: Run, prediction: Prediction) -> tuple[Row, ...]:
    plan = prediction.plan
    if plan is None or plan.budget is None or plan.cache_high is None:
        return ()
    low, high = plan.cache_low, plan.cache_high
    dcp = prediction.args.decode_context_parallel_size
    version = version_of(run)

    def figures(cache: CachePlan) -> Figures:
        return Figures(cache.num_gpu_blocks, kv_cache_size_tokens(version, cache, dcp), cache.max_concurrency)

    rows = _figure_rows(figures(low) if low else Figures(0, 0, 0.0), figures(high), run, False)
    return tuple(row for row in rows if row.name in ("tokens", "concurrency"))
