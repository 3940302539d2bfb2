"""The comparison as bars: memory where it is known, else what became of the cache in tokens."""

from __future__ import annotations

from snippets.draw.figure import Figure, Layout
from snippets.draw.run_check.bars import Bar, Drawing, Group, Part, bars_figure
from snippets.run_check.compare import Comparison, measured_other, requested
from snippets.widgets.checking.asked import Asked
from snippets.widgets.checking.words import amount, predicted, row_named

NAME = "check_run-bars"
WORDS = {
    "memory": "The KV cache got {measured}; predicted: {predicted}",
    "memory many": "The KV cache got what was predicted in {n} of {all} starts",
    "memory alone": "The KV cache got {measured} of the {asked} that vLLM may use",
    "detail": "Both bars end where vLLM's share of the card ends. The bar over the first spans where nine of ten "
    "start-up logs would have begun the cache.",
    "detail alone": "There is no prediction beside it; below it says why.",
    "tokens": "The KV cache holds {measured}, and by the formula {predicted}",
    "tokens many": "Tokens are what the formula says in {n} of {all} starts",
    "tokens detail": "From the memory that was reported, to the rounding of its print.",
}


def figure_of(found: Asked | None, layout: Layout) -> Figure:
    """The drawing; an empty one where nothing can be drawn."""
    drawing = None if found is None else _memory(found) or _tokens(found)
    return Figure(NAME, "", "") if drawing is None else bars_figure(drawing, NAME, layout)


def _memory(found: Asked) -> Drawing | None:
    groups = [group for one in found.comparisons if (group := _memory_group(one))]
    if not groups:
        return None
    drawn = [one for one in found.comparisons if _memory_group(one)]
    compared = [one for one in drawn if one.prediction.plan and one.prediction.plan.budget]
    first = row_named(drawn[0], "cache")
    assert first is not None
    if not compared:
        asked = amount(requested(drawn[0].run, drawn[0].prediction), "bytes")
        finding = WORDS["memory alone"].format(measured=amount(first.measured, "bytes"), asked=asked)
        return Drawing(finding, WORDS["detail alone"], "bytes", tuple(groups))
    if len(drawn) == 1:
        finding = WORDS["memory"].format(measured=amount(first.measured, "bytes"), predicted=predicted(first))
    else:
        rows = [row_named(one, "cache") for one in compared]
        good = sum(row is not None and row.verdict == "inside" for row in rows)
        finding = WORDS["memory many"].format(n=good, all=len(rows))
    return Drawing(finding, WORDS["detail"], "bytes", tuple(groups))


def _memory_group(one: Comparison) -> Group | None:
    run, asked = one.run, requested(one.run, one.prediction)
    if asked is None or run.available is None or run.is_cpu:
        return None
    budget = one.prediction.plan.budget if one.prediction.plan else None
    bars = []
    if budget is not None:
        other = budget.activation.expected + budget.non_torch.expected
        parts = _parts(budget.weights_bytes, other, budget.cuda_graphs.expected)
        left = budget.available
        bars.append(Bar("predicted", parts, left.expected, left.low, left.high))
    rest = max(measured_other(run, one.prediction) or 0, 0)
    measured = _parts(run.weights or 0, rest, run.estimated_graphs or 0)
    gap = asked - sum(part.size for part in measured) - run.available
    if gap > 0 and run.weights is None:  # what is not told apart stands as other memory
        measured = _parts(0, gap, 0)
    bars.append(Bar("measured", measured, run.available, run.available, run.available))
    end = budget.total_bytes if budget else run.total
    return Group(run.name, tuple(bars), asked, end)


def _parts(weights: float, other: float, graphs: float) -> tuple[Part, ...]:
    sizes = (("weights", weights), ("activations", other), ("graphs", graphs))
    return tuple(Part(tone, size) for tone, size in sizes if size > 0)


def _tokens(found: Asked) -> Drawing | None:
    rows = [(one, row_named(one, "tokens")) for one in found.comparisons]
    told = [(one, row) for one, row in rows if row is not None and row.measured is not None and row.expected]
    if not told:
        return None
    groups = []
    for one, row in told:
        assert row.measured is not None and row.low is not None and row.high is not None and row.expected is not None
        bars = (
            Bar("predicted", (), row.expected, row.low, row.high),
            Bar("measured", (), row.measured, row.measured, row.measured),
        )
        groups.append(Group(one.run.name, bars))
    first = told[0][1]
    if len(told) == 1:
        finding = WORDS["tokens"].format(measured=amount(first.measured, "tokens"), predicted=predicted(first))
    else:
        good = sum(row.verdict == "equal" for _, row in told)
        finding = WORDS["tokens many"].format(n=good, all=len(told))
    return Drawing(finding, WORDS["tokens detail"], "tokens", tuple(groups))
