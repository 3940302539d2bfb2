"""The bars of a run beside its prediction: labels stay apart in both widths, and the saved file stands alone."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from drawn import collisions, labels

from snippets.draw.figure import LAYOUTS, Layout
from snippets.draw.place import Box
from snippets.draw.run_check.bars import Bar, Drawing, Group, Part, bars_figure
from snippets.draw.run_check.standalone import LIGHT, standalone
from snippets.units import GIB

ROOT = Path(__file__).resolve().parents[3]


def memory_bar(kind: str, weights: float, other: float, cache: float, low: float, high: float) -> Bar:
    parts = (Part("weights", weights * GIB), Part("activations", other * GIB))
    return Bar(kind, parts, cache * GIB, low * GIB, high * GIB)


def memory(*titles: str, weights: float = 14.2, other: float = 0.4) -> Drawing:
    left = 21.28 - weights - other
    groups = tuple(
        Group(
            title,
            (
                memory_bar("predicted", weights, other, left, left - 0.5, left + 0.3),
                memory_bar("measured", weights, other + 0.2, left - 0.2, left - 0.2, left - 0.2),
            ),
            21.28 * GIB,
            23.64 * GIB,
        )
        for title in titles
    )
    return Drawing("The KV cache got 6.48 GiB", "Both bars end at the limit.", "bytes", groups)


TOKENS = Drawing(
    "Tokens are what the formula says in 2 of 2 starts",
    "",
    "tokens",
    tuple(
        Group(name, (Bar("predicted", (), n, n, n), Bar("measured", (), n, n, n)))
        for name, n in (("BF16", 18_688.0), ("FP8", 37_376.0))
    ),
)
CASES = {
    "one start": memory(""),
    "four starts": memory("BF16", "FP8 KV", "AWQ", "AWQ and FP8 KV"),
    "a long name": memory("a setting whose name is longer than any page is wide " * 3),
    "hardly a cache": memory("", weights=20.7, other=0.5),
    "a small model": memory("", weights=0.9, other=0.3),
    "tokens": TOKENS,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CASES)
def test_labels_stay_apart_and_inside(name: str, layout: Layout) -> None:
    assert collisions(bars_figure(CASES[name], "x", layout).svg) == []


def test_the_widths_say_the_same_and_the_numbers_stand_in_the_table() -> None:
    wide, narrow = (bars_figure(CASES["one start"], "x", layout) for layout in LAYOUTS)
    assert (wide.finding, wide.detail, wide.table) == (narrow.finding, narrow.detail, narrow.table)
    rows = {(bar, part): (size, span) for _, bar, part, size, span in wide.table.rows}
    assert rows["predicted", "KV cache"] == ("6.68 GiB", "6.18 to 6.98 GiB")
    assert rows["measured", "KV cache"] == ("6.48 GiB", "")
    assert {"predicted", "measured", "6.68 GiB", "6.48 GiB", "vLLM may use 21.28 GiB"} <= {
        label.words for label in labels(wide.svg)
    }


def test_bars_are_to_scale() -> None:
    """14.2 GiB of weights and 6.68 of cache on one axis: the rectangles are as long as that, less a gap of 1 px."""
    root = ElementTree.fromstring(bars_figure(CASES["one start"], "x", "wide").svg)
    rects = [element for element in root.iter("{http://www.w3.org/2000/svg}rect") if element.get("height") == "20"]
    widths = {element.get("class"): float(element.get("width", "0")) + 1 for element in reversed(rects)}
    assert widths["f-weights"] / widths["f-kv"] == pytest.approx(14.2 / 6.68, rel=0.01)


def test_without_starts_nothing_is_drawn() -> None:
    assert bars_figure(Drawing("", "", "bytes", ()), "x", "wide").svg == ""


@pytest.mark.parametrize("name", CASES)
def test_a_saved_drawing_is_a_whole_file_with_its_own_colours(name: str) -> None:
    figure = bars_figure(CASES[name], "x", "wide")
    text = standalone(figure.svg, figure.finding, "start-up log of <vLLM> & others")
    root = ElementTree.fromstring(text)
    used = {word for element in root.iter() for word in element.get("class", "").split()}
    style = next(element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}style"))
    assert {name for name in used if f".{name}{{" not in style} <= {"t"}
    assert "start-up log of <vLLM> & others" in [element.text for element in root.iter()]


def test_colours_of_a_saved_drawing_are_the_sites() -> None:
    css = (ROOT / "docs/stylesheets/site.css").read_text(encoding="utf-8")
    first = dict(reversed(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6})", css)))
    assert {name: first[name] for name in LIGHT} == LIGHT


def test_what_is_no_drawing_is_not_saved() -> None:
    with pytest.raises(ValueError, match="no drawing to save"):
        standalone("", "", "")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_line_of_the_limit_crosses_no_label(layout: Layout) -> None:
    svg = bars_figure(CASES["four starts"], "x", layout).svg
    lines = [one for one in ElementTree.fromstring(svg).iter() if one.get("class") == "s-limit"]
    assert len(lines) == 8
    for one in lines:
        x, y1, y2 = (float(one.get(name, "nan")) for name in ("x1", "y1", "y2"))
        line = Box(x - 0.5, y1, x + 0.5, y2)
        assert [label.words for label in labels(svg) if label.box.overlaps(line)] == []
