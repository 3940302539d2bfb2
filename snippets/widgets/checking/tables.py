"""The rows of a comparison, for the page and for a Markdown file alike."""

from __future__ import annotations

from snippets.run_check.compare import Comparison
from snippets.run_check.pairs import cells
from snippets.widgets.checking.asked import Asked
from snippets.widgets.checking.words import NAMES, amount, became, predicted

Rows = list[tuple[str, str, str, str]]
WORDS = {
    "memory": "Memory of one card, predicted before the start",
    "cache": "The cache, from the memory that was reported",
    "before": "The cache, predicted before the start",
    "pairs": "What the lab compared itself",
    "part": "part",
    "predicted": "predicted",
    "measured": "measured",
    "became": "difference",
    "captured": "CUDA graphs, as captured",
    "not predicted": "not predicted",
}
HEAD = (WORDS["part"], WORDS["predicted"], WORDS["measured"], WORDS["became"])


def tables(one: Comparison) -> list[tuple[str, Rows]]:
    """Caption and rows of each table that has any."""
    found: list[tuple[str, Rows]] = []
    for key, rows in (("memory", one.memory), ("cache", one.cache), ("before", one.before)):
        lines = [(NAMES[row.name], predicted(row), amount(row.measured, row.unit), became(row)) for row in rows]
        if key == "memory" and lines and one.run.graphs is not None:
            lines.append((WORDS["captured"], amount(None, "bytes"), amount(one.run.graphs, "bytes"), ""))
        if lines:
            found.append((WORDS[key], lines))
    if one.run.pairs:
        found.append((WORDS["pairs"], [cells(pair) for pair in one.run.pairs]))
    return found


def _escaped(cell: str) -> str:
    return "".join("&lt;" if c == "<" else "\\|" if c == "|" else c for c in cell if c.isprintable())


def to_markdown(found: Asked) -> str:
    """All tables, ready to be pasted into an issue."""
    lines = [f"**{_escaped(found.dropped.title)}**", ""]
    for one in found.comparisons:
        run = one.run
        about = [run.name, run.model, run.card, ", ".join(f"{name}={value}" for name, value in run.settings.items())]
        lines += [_escaped(" · ".join(part for part in about if part)), ""]
        for caption, rows in tables(one):
            lines += [f"{caption}:", "", f"| {' | '.join(HEAD)} |", "|---|---:|---:|---|"]
            lines += [f"| {' | '.join(map(_escaped, row))} |" for row in rows]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"
