"""How the planner does on start-up logs that others published: two tables for the page, made while it is built."""

from __future__ import annotations

from collections.abc import Sequence

from snippets.planner.evidence.table import CategoryRow, category_rows
from snippets.planner.memory.evidence import evidence
from snippets.units import percent

AGREEMENT_HEAD = ("kind of model", "logs", "with all that is needed", "agree", "largest difference of those")
BUDGET_HEAD = ("KV memory foreseen", "logs", "within 10 %", "typical error", "inside the range")
WORDS = {
    "estimate": "this planner, each log left out of its fit",
    "baseline": "card × utilization − weights − the median of the rest",
    "none": "no range",
    "largest": "{deviation} %",
}


def row(category: str) -> CategoryRow:
    """One row of the agreement by its name."""
    return next(one for one in category_rows() if one.category == category)


def within_10_percent(which: str) -> int:
    """Logs whose KV memory was foreseen within 10 %: "estimate" or "baseline"."""
    return evidence().scores["all"]["leave_one_log_out"][which].within_10_percent


def logs_of_0_26() -> tuple[int, int]:
    """Logs of vLLM 0.26 itself, and how many lie inside the range."""
    logs = evidence().of_0_26
    return len(logs), sum(log.inside for log in logs)


def exceptions() -> tuple[str, ...]:
    """Each log that does not agree, and why, as a sentence."""
    return tuple(f"{one.log.model}: {one.layout.exception}" for one in row("all").others)


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ("---", *("---:" for _ in head[1:]))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *rows))


def agreement_markdown() -> str:
    """Per kind of model: from the memory a log prints to its tokens and concurrency."""
    rows = [
        (
            one.category,
            str(one.logs),
            str(one.comparable),
            str(one.agree),
            WORDS["largest"].format(deviation=f"{100 * abs(one.largest_deviation):.2f}"),
        )
        for one in category_rows()
    ]
    return _markdown(AGREEMENT_HEAD, rows)


def budget_markdown() -> str:
    """How well the memory itself is foreseen, each log predicted without it."""
    scores = evidence().scores["all"]["leave_one_log_out"]
    rows = [
        (
            WORDS[name],
            str(score.logs),
            str(score.within_10_percent),
            percent(score.median_absolute_error, 1),
            WORDS["none"] if score.inside is None else str(score.inside),
        )
        for name, score in scores.items()
    ]
    return _markdown(BUDGET_HEAD, rows)
