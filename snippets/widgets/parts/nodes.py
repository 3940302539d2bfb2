"""A tree of elements and text. `html.py` prints it into the page, `live/parts.mjs` builds the same in the browser.

Only the elements and attributes named here exist, and text is always text: nothing in a tree can act by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

TAGS = frozenset(
    {"p", "div", "span", "strong", "em", "code", "pre", "ul", "ol", "li", "dl", "dt", "dd", "button"}
    | {"table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"}
)
ATTRIBUTES = frozenset({"class", "scope", "role", "tabindex", "type", "colspan", "id", "hidden", "open"})


class Element(NamedTuple):
    """One element; as JSON `[tag, attributes, children]`."""

    tag: str
    attributes: dict[str, str]
    children: tuple[Any, ...]  # of Node: a named tuple cannot name itself


Node = Element | str


def el(tag: str, /, *children: Node, **attributes: str | bool | None) -> Element:
    """An element. `class_` is class, `data_copy` data-copy; True is a bare attribute, None and False are left out."""
    if tag not in TAGS:
        raise ValueError(f"<{tag}> is none of the elements a widget may show: {', '.join(sorted(TAGS))}")
    named: dict[str, str] = {}
    for key, value in attributes.items():
        name = key.rstrip("_").replace("_", "-")
        if name not in ATTRIBUTES and not name.startswith(("data-", "aria-")):
            raise ValueError(f"attribute {name!r} is none of those a widget may set")
        if value is not None and value is not False:
            named[name] = "" if value is True else value
    return Element(tag, named, children)


def to_html(node: Node) -> str:
    """The tree as HTML. Buttons are off until scripts run."""
    if isinstance(node, str):
        return escape(node, quote=False)
    shown = "".join(f' {name}="{escape(value)}"' if value else f" {name}" for name, value in node.attributes.items())
    off = " disabled" if node.tag == "button" else ""
    return f"<{node.tag}{shown}{off}>{''.join(map(to_html, node.children))}</{node.tag}>"


def words(text: str, class_: str | None = None) -> Element:
    """A paragraph."""
    return el("p", text, class_=class_)


def paragraphs(texts: Iterable[str], class_: str | None = None) -> tuple[Element, ...]:
    """One paragraph for each."""
    return tuple(words(text, class_) for text in texts)


def code_block(label: str, text: str, copy: str, name: str) -> Element:
    """Code with its label above and a button that copies it."""
    button = el("button", copy, type="button", data_copy=True, aria_describedby=f"{name}-label")
    head = el("div", el("span", label, class_="code-label", id=f"{name}-label"), button, class_="code-head")
    return el("div", head, el("pre", el("code", text), tabindex="0", aria_labelledby=f"{name}-label"), class_="code")


def table(
    caption: str,
    head: Sequence[str],
    rows: Sequence[Sequence[Node]],
    numbers: Sequence[int] = (),
    marked: Sequence[int] = (),
    name: str = "",
) -> Element:
    """A table whose first column names the rows. Columns in `numbers` stand right; rows in `marked` stand out."""

    def at(column: int) -> str | None:
        return "number" if column in numbers else None

    heads = (el("th", cell, scope="col", class_=at(column)) for column, cell in enumerate(head))
    lines = []
    for index, row in enumerate(rows):
        cells = [
            el("td", cell, class_=at(n)) if n else el("th", cell, scope="row", class_=at(n))
            for n, cell in enumerate(row)
        ]
        lines.append(el("tr", *cells, class_="marked" if index in marked else None))
    whole = el(
        "table",
        el("caption", caption, id=f"{name}-caption"),
        el("thead", el("tr", *heads)),
        el("tbody", *lines),
        class_="part-table",
    )
    return el("div", whole, class_="part-scroll", role="region", tabindex="0", aria_labelledby=f"{name}-caption")


def disclosure(summary: Sequence[Node], *inside: Node, class_: str | None = None) -> Element:
    """A line that opens to more."""
    return el("details", el("summary", *summary), *inside, class_=class_)
