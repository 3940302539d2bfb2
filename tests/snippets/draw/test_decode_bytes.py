"""Widths of the bars are bytes to scale; shares and times are worked out by hand."""

import re

import pytest
from planned import concurrency, planned

from snippets.draw.decode_bytes import on_the_baseline
from snippets.draw.figure import LAYOUTS, WIDTH_PX, Layout

# By hand: weights without the input embedding 2 × 7,615,616,512 − 2 × 152,064 × 3,584 = 14,141,238,272 bytes,
# KV of 8,192 tokens 8,192 × 57,344 = 469,762,048 bytes. A full card holds as many such sequences as the planner says.
WEIGHTS, ONE = 14_141_238_272, 469_762_048
FIT = int(concurrency(planned()))
FULL = FIT * ONE


@pytest.mark.parametrize("layout", LAYOUTS)
def test_bars_are_drawn_to_scale(layout: Layout) -> None:
    svg = on_the_baseline()(layout).svg
    widths = [float(w) for w in re.findall(r'width="([\d.]+)" height="30"', svg)]
    weights, one, _, full, _, equal = widths
    px_per_byte = (weights + 2) / WEIGHTS  # 2 px of the page part weights and KV
    assert one == pytest.approx(ONE * px_per_byte, abs=0.1)
    assert full == pytest.approx(FULL * px_per_byte, abs=0.1)
    assert equal == pytest.approx(weights + 2, abs=0.1)
    assert weights + 2 + equal == pytest.approx(WIDTH_PX[layout] - 1, abs=0.2)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_does_not_fit_says_so_in_words_and_is_not_drawn_as_stored(layout: Layout) -> None:
    svg = on_the_baseline()(layout).svg
    assert svg.count("does not fit on the card") == 1
    assert svg.count('class="f-kv"') == 2
    assert svg.count('class="f-kv-soft s-limit"') == 1


def test_table_gives_bytes_share_and_the_time_that_reading_alone_takes() -> None:
    # Shares: 0.4698 / 14.6110 = 3.2 %. Times at 1,008 GB/s: 14.5, with a full card a few more, and 28.1 ms.
    share, time = 100 * FULL / (WEIGHTS + FULL), (WEIGHTS + FULL) / 1.008e9
    assert on_the_baseline()("wide").table.rows == (
        ("One sequence: 8,192 tokens", "14.14 GB", "0.47 GB", "3.2 %", "14.5 ms"),
        (f"Full card: {FIT} × 8,192 tokens", "14.14 GB", f"{FULL / 1e9:.2f} GB", f"{share:.1f} %", f"{time:.1f} ms"),
        ("KV = weights: 246,604 tokens", "14.14 GB", "14.14 GB", "50.0 %", "28.1 ms"),
    )


def test_finding_names_both_shares() -> None:
    finding = on_the_baseline()("narrow").finding
    full = f"{100 * FULL / (WEIGHTS + FULL):.1f} %"
    assert finding == f"KV is 3.2 % of what a decode step reads with one long sequence, {full} on a full card"
