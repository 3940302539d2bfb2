"""The drawing says what its numbers say, and stays inside its width."""

from __future__ import annotations

import re
import xml.etree.ElementTree as etree

import pytest
from planned import concurrency, planned

from snippets.draw.figure import LAYOUTS, WIDTH_PX, Layout, same_text
from snippets.draw.svg import text_width
from snippets.draw.throughput_ceilings import throughput_ceilings

FIT = int(concurrency(planned()))
DRAW = throughput_ceilings("test")


def test_finding_names_the_first_ceiling_and_the_rate_there() -> None:
    # As many fit as the planner says; a token for each per reading of 14.14 GB + 0.47 GB for each at 1,008 GB/s.
    rate = FIT / ((14.141238272 + FIT * 0.469762048) / 1008)
    assert (
        DRAW("wide").finding
        == f"Memory is full at {FIT} sequences, below every other ceiling: at most {rate:.0f} tokens per second"
    )


def test_both_widths_say_the_same() -> None:
    assert same_text([DRAW(layout) for layout in LAYOUTS])


def test_table_says_what_fits() -> None:
    assert [(row[0], row[3]) for row in DRAW("wide").table.rows] == [
        ("1", "yes"), ("4", "yes"), ("8", "yes"), (f"{FIT}", "yes"), (f"{2 * FIT}", "no"), ("256", "no"),
    ]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_label_lies_inside_the_drawing(layout: Layout) -> None:
    for label in etree.fromstring(DRAW(layout).svg).iter("{http://www.w3.org/2000/svg}text"):
        words, x = label.text or "", float(label.get("x", "0"))
        width = text_width(
            words, 12 if "t-small" in label.get("class", "") else 13, "t-strong" in label.get("class", "")
        )
        left = x - {"middle": width / 2, "end": width}.get(label.get("text-anchor", ""), 0)
        assert left >= -0.5 and left + width <= WIDTH_PX[layout] + 0.5, words


@pytest.mark.parametrize("layout", LAYOUTS)
def test_colours_are_classes(layout: Layout) -> None:
    assert not re.search(r'style=|fill="#|stroke="#', DRAW(layout).svg)
