"""What the planner's page shows for a state, and where to find things in it."""

from __future__ import annotations

import json
from pathlib import Path

from snippets.widgets.declare import Shown
from snippets.widgets.parts.nodes import Element, Node
from snippets.widgets.planner import WIDGET
from snippets.widgets.run import Answer, look

EVERY = tuple(section.name for section in WIDGET.sections)
# A log of Qwen2.5-7B: 7.21 GiB of cache; 57,344 bytes a token and blocks of 16, so int(7.21 * 2**30 / 917,504) blocks
GIVEN = {"available_gib": "7.21"}
PUBLISHED = json.loads((Path(__file__).parents[2] / "model_config" / "published.json").read_text(encoding="utf-8"))
FIELDS = {one["repo"]: json.dumps(one["fields"]) for one in PUBLISHED["configs"]}
LLAMA = {"model": "llama-3.1-8b", "max_model_len": "", "available_gib": "6.48"}


def answer(*seen: str, **state: str) -> Answer:
    found = look(WIDGET, state, {}, "wide", seen)
    assert found.errors == {}
    return found


def text_of(node: Node) -> str:
    """All text in a tree, parts set apart."""
    return node if isinstance(node, str) else " ".join(map(text_of, node.children))


def said(shown: Shown) -> str:
    return " ".join(map(text_of, (*shown.before, *shown.after)))


def elements(node: Node, tag: str) -> list[Element]:
    """All elements of a kind in a tree."""
    if isinstance(node, str):
        return []
    inside = [found for child in node.children for found in elements(child, tag)]
    return [node, *inside] if node.tag == tag else inside


def rows(shown: Shown, caption: str) -> list[list[str]]:
    """The cells of the table with a caption."""
    for node in (*shown.before, *shown.after):
        for table in elements(node, "table"):
            if caption in text_of(elements(table, "caption")[0]):
                return [[text_of(cell) for cell in row.children] for row in elements(table, "tr")]
    raise AssertionError(f"no table {caption!r}")


def readout(found: Answer, name: str) -> str:
    one = next(one for one in found.view.readouts if one.name == name)
    return f"{one.value} {one.unit}".strip()
