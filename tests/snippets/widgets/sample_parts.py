"""A small widget with the parts that the sample does not have: text, words, ticks, sections, files."""

from __future__ import annotations

import json

from snippets.draw.figure import WIDTH_PX, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.svg import rect, svg
from snippets.widgets.declare import (
    Check,
    Choice,
    ControlState,
    Download,
    Group,
    Option,
    Readout,
    Section,
    Shown,
    Text,
    TextError,
    Values,
    View,
    Widget,
    Word,
)
from snippets.widgets.parts.nodes import code_block, disclosure, el, table, words

MOST_BYTES = 200_000
calls: list[str] = []  # what was computed, for tests in CPython


def check_json(typed: str) -> None:
    """JSON, or nothing."""
    if typed.startswith("not-in-link"):
        raise TextError("The text was too long for the link: paste it again.")
    if typed.strip():
        try:
            json.loads(typed)
        except json.JSONDecodeError as error:
            raise TextError(f"Line {error.lineno}: {error.msg}.", error.lineno, error.colno) from None


def check_length(typed: str) -> None:
    """A whole number, with or without a k."""
    if typed and not typed.lower().removesuffix("k").isdigit():
        raise ValueError("Length takes a number, like 8192 or 8k.")


def in_link(typed: str) -> str | None:
    """The text without its blanks, if that is short."""
    short = json.dumps(json.loads(typed), separators=(",", ":")) if typed.strip() else ""
    return short if len(short) <= 100 else None


def keys(values: Values) -> list[str]:
    """The names in the text."""
    typed = str(values["config"])
    return sorted(json.loads(typed)) if typed.strip() else []


def view(values: Values, layout: Layout) -> View:
    return View(
        readouts=(Readout("keys", "Keys", str(len(keys(values))), "", "kv"), Readout("two", "Two", "2")),
        controls={
            "config": ControlState(shown=f"{len(keys(values))} keys", hidden=values["model"] != "own"),
            "length": ControlState(if_empty="4k", position=2),
        },
    )


def answer(values: Values, layout: Layout) -> Shown:
    refused = el("button", "Take 8k", type="button", data_values='{"length":"8k"}')
    said = el("p", f"{len(keys(values))} keys, length {values['length'] or 'open'}", data_said=True)
    return Shown((said, refused))


def names(values: Values, layout: Layout) -> Shown:
    calls.append("names")
    rows = [(name, str(len(name))) for name in keys(values) or ["none"]]
    inside = disclosure(("More",), words("Opened by the reader."))
    return Shown(
        (words("Sorted."),),
        (bar(len(rows), layout),),
        (table("Names", ("name", "letters"), rows, (1,), (0,), "sample_parts-names"), inside),
        f"{len(rows)} in all",
    )


def bar(rows: int, layout: Layout) -> Figure:
    width = WIDTH_PX[layout]
    drawn = svg(width, 60, rect(0, 10, 10 * rows, 40, "f-kv"), labelled_by=finding_id("sample_parts-bar"))
    table = Table(("names",), ((str(rows),),))
    return Figure("sample_parts-bar", f"{rows} names are drawn here.", drawn if rows < 9 else "", "", table)


def code(values: Values, layout: Layout) -> Shown:
    save = el("button", "Save", type="button", data_file="keys")
    return Shown((code_block("Command", f"serve --eager={values['eager']}", "Copy", "sample_parts-code"), save))


def file(values: Values) -> tuple[str, str]:
    return "keys.txt", "\n".join(keys(values))


WIDGET = Widget(
    name="sample_parts",
    title="A sample of parts",
    groups=(
        Group(
            "Model",
            (
                Choice(
                    "model",
                    "Model",
                    "own",
                    (Option("a", "First", "Known"), Option("b", "Second", "Known"), Option("own", "Your own", "Other")),
                    style="select",
                ),
                Text(
                    "config",
                    "config.json",
                    check_json,
                    MOST_BYTES,
                    "More than 200 KB: that is no config.json.",
                    help="Read here; it goes nowhere.",
                    in_link=in_link,
                ),
            ),
        ),
        Group(
            "Settings",
            (
                Word("length", "Length", "", check_length, stops=("1k", "2k", "4k", "8k"), unit="tokens"),
                Check("eager", "Eager", help="No graphs."),
            ),
        ),
    ),
    view=view,
    sections=(
        Section("answer", answer, place="top"),
        Section("code", code, place="side"),
        Section("names", names, "The names"),
    ),
    downloads=(Download("keys", "text/plain", file),),
)
