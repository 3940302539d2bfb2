"""Widths of the bars are bytes to scale; shares and times are worked out by hand."""

import re

import pytest

from snippets.draw.decode_bytes import Load, decode_bytes, kv_share
from snippets.draw.figure import LAYOUTS, Layout

# 3 GB of weights; a step also reads 1 GB or 3 GB of keys and values, on a card of 1,000 GB/s.
LOADS = (Load("light", 1e9), Load("heavy", 3e9, fits=False))
DRAWN = decode_bytes(3e9, LOADS, 1000e9, finding="3 GB of weights")


def test_share_is_kv_of_all_that_is_read() -> None:
    assert kv_share(3e9, 1e9) == 0.25
    assert kv_share(3e9, 3e9) == 0.5
    assert kv_share(3e9, 0) == 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bars_are_drawn_to_scale(layout: Layout) -> None:
    svg = DRAWN(layout).svg
    bars = re.findall(r'<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)" height="30" rx="3" class="([^"]+)"', svg)
    widths = [(float(width), kind) for width, kind in bars]
    (weights, _), (light, light_class), _, (heavy, heavy_class) = widths
    assert heavy == pytest.approx(3 * light, abs=0.2)
    assert weights + 2 == pytest.approx(heavy, abs=0.2)  # 2 px of the page part the two
    assert (light_class, heavy_class) == ("f-kv", "f-kv-soft s-limit")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_load_that_does_not_fit_says_so_in_words(layout: Layout) -> None:
    assert DRAWN(layout).svg.count("does not fit on the card") == 1


def test_table_gives_bytes_share_and_the_time_the_reads_alone_take() -> None:
    # 4 GB at 1,000 GB/s is 4.0 ms, 6 GB is 6.0 ms.
    assert DRAWN("wide").table.rows == (
        ("light", "3.00 GB", "1.00 GB", "25.0 %", "4.0 ms"),
        ("heavy", "3.00 GB", "3.00 GB", "50.0 %", "6.0 ms"),
    )
