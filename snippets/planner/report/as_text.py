"""A plan as a short report for a terminal: the answer first."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from snippets.planner.plan import Plan
from snippets.planner.report.answer import (
    budget_rows,
    ends,
    fact_rows,
    group_rows,
    headline,
    keeps_cache,
    sentence,
    way_out,
)

WIDTH = 100
GROUP_HEADER = ("group", "layers", "tokens a block", "page bytes", "blocks a request")


def table(rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> list[str]:
    """Rows as aligned lines, the first its header; columns in `right` align right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return lines


def wrapped(text: str, mark: str = "- ") -> list[str]:
    """Lines of at most WIDTH characters."""
    indent = " " * len(mark)  # a flag is not broken at its hyphens: it is copied
    return textwrap.wrap(text, WIDTH, initial_indent=mark, subsequent_indent=indent, break_on_hyphens=False)


def to_text(plan: Plan, command: str = "", more: Sequence[str] = ()) -> str:
    """The report; `more` are answers beside the plan, and `command` is shown last."""
    blocks: list[list[str]] = [[headline(plan), *wrapped(ends(plan), "")]]
    for error in plan.errors:
        field = f"{error.field}: " if error.field else ""
        blocks.append([*wrapped(f"{field}{sentence(error.message)}", ""), *wrapped(way_out(error, plan), "→ ")])
    if plan.cache and plan.cache.log_lines:
        blocks.append(["What the log will say:", *(f"  {line}" for line in plan.cache.log_lines)])
    if facts := fact_rows(plan):
        blocks.append(table(facts, frozenset({1})))
    if plan.budget:
        blocks.append(["Memory of one card:", *table(budget_rows(plan.budget, keeps_cache(plan)), frozenset({1}))])
    if groups := group_rows(plan):
        blocks.append(table([GROUP_HEADER, *groups], frozenset({1, 2, 3, 4})))
    if plan.notes:
        blocks.append(["Notes:", *(line for note in plan.notes for line in wrapped(note))])
    blocks += [[text.rstrip("\n")] for text in more]
    if command and plan.cache is not None:  # a command that was just refused is not to be copied
        blocks.append([command])
    return "\n\n".join("\n".join(line for line in block if line) for block in blocks) + "\n"


def to_explanation(plan: Plan) -> str:
    """Each number with its formula and vLLM's source line."""
    lines = []
    for number in plan.explained:
        lines += [f"{number.name} = {number.value}", f"    {number.formula}", f"    {number.numbers}"]
        lines.append(f"    {number.source}")
    return "\n".join(lines) + "\n" if lines else ""
