"""Every number, opened: the formula, the numbers in it, the line of vLLM's source, and the settings in force."""

from __future__ import annotations

from snippets.draw.figure import Layout
from snippets.planner.explain import Explained
from snippets.widgets.declare import Shown, Values
from snippets.widgets.parts.nodes import Element, Node, el, table, words
from snippets.widgets.planning.question import answered

WORDS = {
    "intro": "Open a number to see the formula in vLLM's names, the numbers in it, and the line it follows.",
    "formula": "formula",
    "numbers": "with numbers",
    "source": "source",
    "settings": "Settings in force, and why",
    "setting": "setting",
    "value": "value",
    "why": "why",
    "none": "No number was made: see above.",
}


def _opened(number: Explained) -> Element:
    rows = [
        child
        for key, text in (("formula", number.formula), ("numbers", number.numbers), ("source", number.source))
        for child in (el("dt", WORDS[key]), el("dd", el("code", text)))
    ]
    summary = el("summary", el("span", number.name), el("strong", number.value))
    return el("details", summary, el("dl", *rows, class_="explained"))


def numbers_section(values: Values, layout: Layout) -> Shown:
    """The list, in the order vLLM makes the numbers."""
    found = answered(values)
    if found is None or not found.plan.explained:
        return Shown((words(WORDS["none"]),))
    numbers = el("div", *map(_opened, found.plan.explained), class_="explained-list")
    resolved = found.plan.resolved
    after: tuple[Node, ...] = ()
    if resolved is not None and resolved.reasons:
        rows = [(name, str(getattr(resolved, name, "")), reason) for name, reason in resolved.reasons.items()]
        head = (WORDS["setting"], WORDS["value"], WORDS["why"])
        after = (table(WORDS["settings"], head, rows, name="planner-settings"),)
    return Shown((words(WORDS["intro"]), numbers), after=after)
