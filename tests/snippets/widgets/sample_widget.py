"""A small widget with every kind of control, for the tests of what all widgets share."""

from __future__ import annotations

from snippets.draw.figure import WIDTH_PX, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.svg import rect, svg, text
from snippets.units import count
from snippets.widgets.declare import (
    Action,
    Choice,
    ControlState,
    Group,
    Number,
    Option,
    Preset,
    PresetBar,
    Readout,
    Values,
    View,
    Widget,
)

BROKEN_RATIO = 0.5
HEADS = (1, 2, 4, 8, 16, 32, 64)
KINDS = (Option("mha", "MHA"), Option("gqa", "GQA"), Option("mla", "MLA"))


def _int(values: Values, name: str) -> int:
    value = values[name]
    assert isinstance(value, int)
    return value


def _figure(cells: int, total: int, layout: Layout) -> Figure:
    width = WIDTH_PX[layout]
    drawn = svg(
        width,
        80,
        rect(0, 30, width * cells / total, 30, "f-kv"),
        text(0, 20, f"{cells} cells", "t-strong t-kv"),
        labelled_by=finding_id("sample-bar"),
    )
    table = Table(("cells", "of"), ((count(cells), count(total)),))
    return Figure("sample-bar", f"{count(cells)} of {count(total)} cells are taken.", drawn, "The rest is free.", table)


def view(values: Values, layout: Layout) -> View:
    layers, heads, kv_heads = (_int(values, name) for name in ("layers", "heads", "kv_heads"))
    cells = layers * kv_heads
    moment = layers - 3 if values["moment"] is None else _int(values, "moment")
    ratio = values["ratio"]
    if ratio == BROKEN_RATIO:
        raise ZeroDivisionError("the sample breaks here on purpose")
    return View(
        readouts=(
            Readout("cells", "Cells", count(cells), "cells", "kv", f"{layers} layers"),
            Readout("share", "Query heads per KV head", count(heads // kv_heads)),
        ),
        figures=(_figure(cells, 200 * 64, layout),),
        notes=(f"Ratio {ratio}.",) if ratio is not None else ("No ratio.", "None was given."),
        controls={
            "kv_heads": ControlState(
                shown=f"{kv_heads} of {heads}", stops=tuple(stop for stop in HEADS if heads % stop == 0)
            ),
            "rank": ControlState(hidden=values["kind"] != "mla"),
            "moment": ControlState(shown=f"{moment} of {layers}", stops=tuple(range(layers + 1)), if_empty=layers - 3),
        },
        actions={
            "next": {"layers": str(layers + 1)} if layers < 200 else None,
            "tick": {"moment": str(moment + 1)} if moment < layers else None,
            "start": {"moment": "0"},
        },
    )


def check(values: Values) -> dict[str, str]:
    heads, kv_heads = _int(values, "heads"), _int(values, "kv_heads")
    return {} if heads % kv_heads == 0 else {"kv_heads": f"KV heads must divide the {heads} query heads."}


WIDGET = Widget(
    name="sample",
    title="A sample",
    groups=(
        Group(
            "Shape",
            (
                Choice("kind", "Attention", "gqa", KINDS),
                Number("layers", "Layers", 80, 1, 200, help="One cache per layer."),
                Number("heads", "Query heads", 64, 1, 64, stops=HEADS),
                Number("kv_heads", "KV heads", 8, 1, 64, stops=HEADS),
                Number("rank", "Latent rank", 512, 1, 4096, unit="numbers"),
                Number("moment", "Moment", None, 0, 200, optional=True, momentary=True),
            ),
        ),
        Group(
            "More",
            (
                Number("ratio", "Ratio", None, 0, 1, whole=False, optional=True, slider=False),
                Choice("form", "Form", "a", (Option("a", "First"), Option("b", "Second")), style="select"),
            ),
            folded=True,
        ),
    ),
    view=view,
    check=check,
    preset_bars=(
        PresetBar(
            "Models",
            (
                Preset("big", "Big", {"layers": "80", "heads": "64", "kv_heads": "8"}),
                Preset("small", "Small", {"layers": "28", "heads": "16", "kv_heads": "4"}),
                *(Preset(f"p{n}", f"Model {n} of many", {"layers": str(n)}) for n in range(3, 9)),
            ),
        ),
    ),
    actions=(
        Action("step", "Step", "next"),
        Action("play", "Play", "next", repeats=True),
        Action("run", "Run", "tick", repeats=True, restart="start"),
    ),
    source="sample-python",
)
