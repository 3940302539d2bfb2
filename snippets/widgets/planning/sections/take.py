"""The plan to take along: files that the page saves."""

from __future__ import annotations

import json

from snippets.draw.figure import Layout
from snippets.planner.report.as_csv import to_csv
from snippets.planner.report.as_json import to_json
from snippets.planner.report.as_markdown import to_markdown
from snippets.widgets.declare import Download, Shown, Values
from snippets.widgets.parts.nodes import el, words
from snippets.widgets.planning import options
from snippets.widgets.planning.question import Answered, answered

WORDS = {
    "intro": "The plan as a file, made on this page. Copy link, at the foot, holds the settings.",
    "markdown": "Save Markdown",
    "csv": "Save CSV",
    "json": "Save JSON",
    "none": "There is no plan yet: choose a model.",
}


def take_section(values: Values, layout: Layout) -> Shown:
    """A button for each file."""
    buttons = (el("button", WORDS[one.name], type="button", data_file=one.name) for one in DOWNLOADS)
    return Shown((words(WORDS["intro"]), el("div", *buttons, class_="button-row")))


def _name(found: Answered, values: Values, end: str) -> str:
    model = "own" if values["model"] == options.PASTE else values["model"]
    return f"plan-{model}-{values['gpu']}.{end}"


def _markdown(values: Values) -> tuple[str, str]:
    found = answered(values)
    if found is None:
        return "plan.md", WORDS["none"]
    return _name(found, values, "md"), to_markdown(found.plan, found.question.repository)


def _csv(values: Values) -> tuple[str, str]:
    found = answered(values)
    return ("plan.csv", WORDS["none"]) if found is None else (_name(found, values, "csv"), to_csv(found.plan))


def _json(values: Values) -> tuple[str, str]:
    found = answered(values)
    if found is None:
        return "plan.json", "null"
    answer = to_json(found.plan, found.question.repository)
    return _name(found, values, "json"), json.dumps(answer, indent=2, ensure_ascii=False) + "\n"


DOWNLOADS = (
    Download("markdown", "text/markdown", _markdown),
    Download("csv", "text/csv", _csv),
    Download("json", "application/json", _json),
)
