"""The answer itself, and why there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from snippets.draw.figure import Layout
from snippets.widgets.declare import Shown, Values
from snippets.widgets.parts.nodes import Node, code_block, el
from snippets.widgets.planning.answer import headline, surely, verdict
from snippets.widgets.planning.more import more
from snippets.widgets.planning.question import answered
from snippets.widgets.planning.refusal import refusal, weights_button
from snippets.widgets.planning.surer import surer

WORDS = {
    "get": "It stands on the model's page on Hugging Face under Files. In a terminal",
    "command": "hf download ORG/MODEL config.json",
    "copy": "Copy",
}


def answer_section(defaults: Mapping[str, str]) -> Callable[[Values, Layout], Shown]:
    """The section; `defaults` are the controls that a button may set."""

    def show(values: Values, layout: Layout) -> Shown:
        found = answered(values)
        sure = surely(found)
        inside: list[Node] = [el("strong", headline(found))]
        if sure:
            inside += [" ", el("span", sure, class_="verdict-range")]
        line = el(
            "p", *inside, class_=f"verdict verdict-{verdict(found).replace(' ', '-')}", data_said=True, tabindex="-1"
        )
        if found is None:
            get = code_block(WORDS["get"], WORDS["command"], WORDS["copy"], "planner-get")
            return Shown((line, get))
        parts = (*refusal(found.plan, defaults), *surer(found), *more(found))
        if verdict(found) == "no cache" and not found.plan.weights_bytes:
            parts = (el("div", weights_button(), class_="button-row"),)
        return Shown((line, *parts))

    return show
