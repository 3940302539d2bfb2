"""--layouts with lengths or a price: the requests, the bounds of speed and cost of each layout, and a line to paste."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

from snippets.planner.answers.in_flight import InFlight
from snippets.planner.answers.layouts import Layout, Layouts
from snippets.planner.command.questions.bounds import Bounds, bounds, bounds_json
from snippets.planner.command.questions.layout_table import layout_json, layout_text
from snippets.planner.command.questions.traffic import traffic_answer, traffic_json
from snippets.planner.engine_args import EngineArgs
from snippets.planner.plan import Plan
from snippets.planner.report.as_text import table, wrapped
from snippets.units import count, exact_enough

MOST_ROWS = 16
SIZES = ("TP", "PP", "DP", "EP", "DCP")
TRAFFIC, BOUNDS = ("without preemption", "on average"), ("tokens/s at most", "per million at least")


class Answered(NamedTuple):
    """A layout that fits, planned, with what is asked about it."""

    row: Layout
    plan: Plan
    traffic: InFlight | None
    bound: Bounds | None

    @property
    def safe(self) -> int:
        """Requests of the traffic without preemption, all replicas together."""
        each = self.traffic.running_safely if self.traffic else 0
        return each * self.row.data_parallel_size

    @property
    def cost(self) -> float | None:
        """The least that a million tokens costs."""
        return self.bound.cost if self.bound else None


class LayoutAnswers(NamedTuple):
    """The table of layouts and, best first, those that fit."""

    table: Layouts
    answered: tuple[Answered, ...]

    @property
    def best(self) -> Plan | None:
        """The one to start: cheapest where a price is given, else most requests; None where none fits."""
        return self.answered[0].plan if self.answered else None


def layout_answers(
    values: argparse.Namespace, made: Layouts, args: EngineArgs, planned: Callable[[EngineArgs], Plan]
) -> LayoutAnswers:
    """What is asked of every layout that fits; only the best is planned where nothing is. Raises UsageError."""
    fits = [row for row in made.rows if row.state == "fits"]
    if values.price_per_hour is None and values.prompt_len is None and values.output_len is None:
        fits = fits[:1]
    answered = []
    for row in fits:
        plan = planned(row.args(args))
        traffic = traffic_answer(values, plan)
        answered.append(Answered(row, plan, traffic, bounds(values, plan, traffic)))
    return LayoutAnswers(made, tuple(sorted(answered, key=_order)))


def _order(one: Answered) -> tuple[object, ...]:
    """What surely starts first, then what keeps a layer in one machine; then the cheapest, then most requests."""
    cost = one.cost
    return (not one.row.is_sure, one.row.crosses_machines, cost is None, cost or 0.0, -one.safe)


def answers_text(made: LayoutAnswers, command: str) -> str:
    """The table, what is asked of each layout, and the best one's command."""
    parts = [layout_text(made.table).rstrip("\n")]
    shown = made.answered[:MOST_ROWS]
    with_traffic = any(one.traffic for one in shown)
    with_bounds = any(one.bound and one.bound.decode for one in shown)
    if with_traffic or with_bounds:
        header = (*SIZES, *(TRAFFIC if with_traffic else ()), *(BOUNDS if with_bounds else ()))
        rows = [header, *(_row(one, with_traffic, with_bounds) for one in shown)]
        lines = wrapped(_said(with_traffic, with_bounds, len(made.answered)), "")
        parts.append("\n".join([*lines, *table(rows, frozenset(range(len(header))))]))
    if not with_bounds and shown and (none := shown[0].bound) and none.why_none:
        parts.append(f"No bound of speed or cost: {none.why_none}.")
    if command:
        by = "The cheapest at best" if shown[0].cost is not None else "Most requests"
        parts.append(f"{by}, to paste:\n{command}")
    return "\n\n".join(parts) + "\n"


def _said(with_traffic: bool, with_bounds: bool, num_rows: int) -> str:
    what = "Requests of the traffic at once" if with_traffic else "Requests of full length"
    parts = [f"{what}, all replicas together"] if with_traffic or not with_bounds else []
    if with_bounds:
        each = "this traffic" if with_traffic else "requests of full length, as many as fit"
        parts.append(f"bounds of decoding {each}, for all cards")
    first = f"; the first {MOST_ROWS} of {num_rows}" if num_rows > MOST_ROWS else ""
    text = "; ".join(parts) + first
    return f"{text[0].upper()}{text[1:]}:"


def _row(one: Answered, with_traffic: bool, with_bounds: bool) -> tuple[str, ...]:
    row = one.row
    sizes = (row.tensor_parallel_size, row.pipeline_parallel_size, row.data_parallel_size)
    cells = [*map(str, sizes), "yes" if row.enable_expert_parallel else "no", str(row.decode_context_parallel_size)]
    if with_traffic:
        running = one.traffic.running * row.data_parallel_size if one.traffic else None
        cells += [count(one.safe), count(running, 1)] if running is not None else ["-", "-"]
    if with_bounds:
        decode = one.bound.decode if one.bound else None
        speed = decode.tokens_per_second if decode else None
        cells.append("-" if speed is None else count(speed))
        cells.append("-" if one.cost is None else exact_enough(one.cost))
    return tuple(cells)


def answers_json(made: LayoutAnswers) -> list[dict[str, object]]:
    """The rows of the table, with what is asked of a replica; null where nothing is."""
    by_row = {id(one.row): one for one in made.answered}
    rows = []
    for row, shown in zip(made.table.rows, layout_json(made.table), strict=True):
        one = by_row.get(id(row))
        traffic = traffic_json(one.traffic) if one and one.traffic else None
        bound = bounds_json(one.bound) if one and one.bound else None
        rows.append(shown | {"requests_in_flight": traffic, "bounds": bound})
    return rows
