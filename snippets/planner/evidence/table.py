"""The agreement as a table: per kind of model, how many logs agree, how closely, and which do not and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from snippets.planner.evidence.agreement import COMPARABLE, Agreement, agreements

CATEGORIES = ("GQA", "MHA", "MLA", "sliding window", "recurrent state", "FP8 KV", "TP above the KV heads")


@dataclass(frozen=True)
class CategoryRow:
    """One kind of model. A log can be of several kinds."""

    category: str
    logs: int
    comparable: int  # with known layout, printed memory, and a figure to hold against it
    agree: int  # within the rounding of the print
    largest_deviation: float  # of those that agree: planner / log - 1, with sign
    consistent: int  # without printed memory, but with figures that fit each other
    optimistic: int  # that promise over 1 % more than was there, known exceptions among them
    others: tuple[Agreement, ...]  # comparable, but without agreement
    left_out: tuple[Agreement, ...]  # not comparable

    @property
    def tells(self) -> str:
        """The count as a fraction."""
        return f"{self.agree} of {self.comparable}"


def category_rows(of: Iterable[Agreement] | None = None) -> tuple[CategoryRow, ...]:
    """A row for each category, and one for all: of the collection unless other agreements are given."""
    every = tuple(agreements() if of is None else of)
    rows = [_row(name, [one for one in every if name in one.layout.categories]) for name in CATEGORIES]
    return (*rows, _row("all", every))


def _row(category: str, of: Iterable[Agreement]) -> CategoryRow:
    every = tuple(of)
    comparable = [one for one in every if one.status in COMPARABLE]
    agree = [one for one in comparable if one.status == "agrees"]
    deviations = [one.deviation for one in agree if one.deviation is not None]
    return CategoryRow(
        category=category,
        logs=len(every),
        comparable=len(comparable),
        agree=len(agree),
        largest_deviation=max(deviations, key=abs, default=0.0),
        consistent=sum(one.status == "consistent" for one in every),
        optimistic=sum(one.is_optimistic for one in comparable),
        others=tuple(one for one in comparable if one.status != "agrees"),
        left_out=tuple(one for one in every if one.status not in COMPARABLE),
    )
