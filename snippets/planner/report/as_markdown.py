"""A plan as a Markdown page."""

from __future__ import annotations

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
from snippets.planner.report.serve_command import serve_command


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines]


def to_markdown(
    plan: Plan, model: str = "MODEL", drafter: str = "DRAFTER", more: Sequence[tuple[str, str]] = ()
) -> str:
    """Answer, log lines, figures, budget, groups, notes, command, and each number with its source.

    `more` are titles and texts of answers beside the plan.
    """
    card = plan.gpu.name if plan.gpu else "unnamed card"
    parts: list[list[str]] = [[f"# {model} on {card}"], [headline(plan)]]
    if text := ends(plan):
        parts.append([text])
    for error in plan.errors:
        field = f"**{error.field}**: " if error.field else ""
        parts.append([f"{field}{sentence(error.message)}"])
        if mend := way_out(error, plan):
            parts.append([mend])
    if plan.cache and plan.cache.log_lines:
        parts.append(["```text", *plan.cache.log_lines, "```"])
    if facts := fact_rows(plan):
        parts.append(_table(("figure", "value"), facts))
    if plan.budget:
        parts += [
            ["## Memory of one card"],
            _table(("part", "expected", "range"), budget_rows(plan.budget, keeps_cache(plan))),
        ]
    if groups := group_rows(plan):
        header = ("kind", "layers", "block size (tokens)", "page (bytes)", "blocks per request")
        parts += [["## Groups"], _table(header, groups)]
    for title, text in more:
        parts += [[f"## {title}"], ["```text", text.rstrip("\n"), "```"]]
    if plan.notes:
        parts += [["## Notes"], [f"- {note}" for note in plan.notes]]
    if plan.cache is not None:  # a command that was just refused is not to be copied
        parts += [["## Command"], ["```bash", serve_command(plan, model, drafter), "```"]]
    if plan.explained:
        rows = [(n.name, n.value, n.formula, n.numbers, n.source) for n in plan.explained]
        parts += [["## How each number is made"], _table(("name", "value", "formula", "numbers", "source"), rows)]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"
