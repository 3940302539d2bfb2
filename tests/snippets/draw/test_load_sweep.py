"""A sweep as a drawing: the band of the knee, and the same words in both widths."""

from __future__ import annotations

import re

import pytest
from drawn import collisions, labels
from hypothesis import given
from hypothesis import strategies as st

from snippets.draw.figure import LAYOUTS, Layout, same_text
from snippets.draw.load_sweep import load_sweep
from snippets.load.knee import RatePoint

SWEEP = [
    RatePoint(1, 0.98, 0.98, 10),
    RatePoint(4, 3.7, 3.5, 40),
    RatePoint(16, 5.0, 0.5, 160),
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_knee_is_a_band_between_two_rates(layout: Layout) -> None:
    figure = load_sweep(SWEEP)(layout)
    assert figure.finding == "The server keeps up with 4 requests/s and no longer with 16"
    (left, wide), *_ = re.findall(r'<rect x="([\d.]+)" y="40" width="([\d.]+)"', figure.svg)
    start, *_, end = re.findall(r'<line x1="([\d.]+)" y1="262" x2="([\d.]+)"', figure.svg)[0]
    assert float(left) == pytest.approx(float(start) + (float(end) - float(start)) * 4 / 16, abs=0.1)
    assert float(left) + float(wide) == pytest.approx(float(end), abs=0.1)
    assert figure.table.rows[2] == ("16", "5", "0.50", "10 %", "no")
    assert collisions(figure.svg) == []


def test_a_sweep_that_does_not_reach_the_knee_has_no_band() -> None:
    for some, finding in (
        (SWEEP[:2], "The server keeps up with all of these rates, up to 4 requests/s"),
        (SWEEP[2:], "The server keeps up with none of these rates"),
    ):
        figure = load_sweep(some)("wide")
        assert figure.finding == finding
        assert "the knee lies here" not in [one.words for one in labels(figure.svg)]


def test_no_rates_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one rate"):
        load_sweep([])


@given(st.lists(st.tuples(st.floats(0.1, 500), st.floats(0.1, 1)), min_size=1, max_size=9))
def test_labels_never_collide_and_both_widths_say_the_same(rates: list[tuple[float, float]]) -> None:
    sweep = [RatePoint(sent, sent * share, sent * share / 2, 9) for sent, share in rates]
    figures = [load_sweep(sweep)(layout) for layout in LAYOUTS]
    assert same_text(figures)
    assert all(collisions(one.svg) == [] for one in figures)
