"""The memory cliff as a drawing. Plain numbers: 1 GiB per 1,024 tokens and request, weights of 100 GiB."""

import re
from bisect import bisect_left
from dataclasses import replace
from itertools import product
from math import ceil, log2

import pytest
from drawn import collisions, labels

from snippets.draw.cliff import Cliff, memory_cliff
from snippets.draw.figure import LAYOUTS, Layout, same_text
from snippets.draw.place import size_px

MIB, GIB = 2**20, 2**30
LIMIT = MIB


def cliff(
    per_token: float = MIB,
    weights: float = 100 * GIB,
    gpu: float = 80 * GIB,
    seq_len: int = 8192,
    batch: int = 4,
    window: int | None = None,
    flat: bool = False,
) -> Cliff:
    """A cliff of round numbers; of layers with a window, all (flat) or half."""

    def kv_bytes(tokens: int) -> int:
        kept = min(tokens, window or tokens)
        return int(batch * per_token * (kept if flat or not window else (kept + tokens) / 2))

    crossing = 1 + bisect_left(range(1, LIMIT + 1), weights, key=kv_bytes)
    one = kv_bytes(seq_len) / batch
    return Cliff(
        kv_bytes,
        weights,
        gpu,
        seq_len,
        batch,
        crossing if crossing <= LIMIT else None,
        ceil(weights / one),
        LIMIT,
        window,
        flat,
    )


def circles(svg: str, class_: str) -> list[tuple[float, float]]:
    return [
        (float(x), float(y)) for x, y in re.findall(rf'<circle cx="([\d.]+)" cy="([\d.]+)"[^>]*class="{class_}"', svg)
    ]


def axis(svg: str) -> tuple[float, float, float]:
    """Left, right and height of the token axis."""
    left, y, right = re.findall(r'<line x1="([\d.]+)" y1="([\d.]+)" x2="([\d.]+)" y2="\2" class="axis"', svg)[0]
    return float(left), float(right), float(y)


def test_finding_names_the_first_whole_context_at_or_above_the_weights() -> None:
    # 100 GiB ÷ (4 × 1 MiB per token) = 25,600 tokens; 100 GiB ÷ 8 GiB per request of 8,192 = 12.5.
    figure = memory_cliff(cliff())("wide")
    assert figure.finding == "KV passes the weights at 25,600 tokens"
    assert figure.detail == "with 4 requests, or at 13 requests of 8,192 tokens."


def test_a_cache_that_never_gets_there_says_so() -> None:
    figure = memory_cliff(cliff(per_token=1024, batch=1))("wide")
    assert figure.finding == "KV stays below the weights up to 1,048,576 tokens"
    assert figure.detail == "with 1 request. 12,800 requests of 8,192 tokens would pass them."


def test_a_window_on_every_layer_stops_the_growth() -> None:
    figure = memory_cliff(cliff(window=4096, flat=True))("wide")
    assert "from 4,096 tokens on the cache stops growing" in figure.detail
    assert "flat from 4,096 tokens" in figure.svg
    assert "only the others grow" in memory_cliff(cliff(window=4096))("wide").detail


def test_table_holds_round_contexts_the_reader_and_the_crossing() -> None:
    # 4 MiB per token; GPUs of 80 GiB hold weights and cache: 104, 132, 200, 356 and 4,196 GiB.
    assert memory_cliff(cliff())("wide").table.rows == (
        ("1,024", "4 GiB", "0.04", "2"),
        ("8,192, where you are", "32 GiB", "0.32", "2"),
        ("25,600, the first at or above the weights", "100 GiB", "1.00", "3"),
        ("65,536", "256 GiB", "2.56", "5"),
        ("1,048,576", "4,096 GiB", "40.96", "53"),
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_marks_stand_where_the_numbers_are(layout: Layout) -> None:
    svg = memory_cliff(cliff())(layout).svg
    left, right, bottom = axis(svg)
    doublings = (right - left) / 10  # from 1k to 1M
    ((here_x, here_y),) = circles(svg, "f-kv")
    ((equal_x, equal_y),) = circles(svg, "f-limit")
    assert here_x == pytest.approx(left + 3 * doublings, abs=0.2)
    assert equal_x == pytest.approx(left + log2(25) * doublings, abs=1.5)
    assert (bottom - here_y) / (bottom - equal_y) == pytest.approx(32 / 100, abs=0.01)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_line_that_leaves_the_plot_ends_in_an_arrow_and_says_how_far_it_goes(layout: Layout) -> None:
    svg = memory_cliff(cliff())(layout).svg
    assert len(re.findall(r'<polygon [^>]*class="f-kv"', svg)) == 1
    assert "to 4,096 GiB at 1M" in svg
    inside = memory_cliff(cliff(per_token=MIB / 32))(layout).svg
    assert not re.findall(r'<polygon [^>]*class="f-kv"', inside)
    assert "128 GiB at 1M" in inside and "to 128 GiB at 1M" not in inside


def test_a_reader_above_the_plot_gets_an_arrow() -> None:
    svg = memory_cliff(cliff(seq_len=LIMIT, batch=64))("wide").svg
    assert circles(svg, "f-kv") == []
    assert any("65,536 GiB ↑" in label.words for label in labels(svg))


def test_axis_reaches_to_a_short_context_and_to_a_short_crossing() -> None:
    first_ticks = {}
    for name, one in {"usual": cliff(), "short": cliff(seq_len=40), "one": cliff(seq_len=1)}.items():
        ticks = [x for x in labels(memory_cliff(one)("wide").svg) if re.fullmatch(r"\d+[kM]?", x.words)]
        first_ticks[name] = min((x.box.left, x.words) for x in ticks if x.box.top > 300)[1]
    assert first_ticks == {"usual": "1k", "short": "32", "one": "1"}


def test_a_phone_gets_fewer_ticks_and_no_text_under_eleven_px() -> None:
    def ticks(layout: Layout) -> int:
        svg = memory_cliff(cliff())(layout).svg
        assert min(size_px(label.class_) for label in labels(svg)) >= 11
        return sum(bool(re.fullmatch(r"[\d,]+[kM]?", label.words)) for label in labels(svg))

    assert ticks("narrow") < ticks("wide")


def test_the_curve_has_at_most_64_points() -> None:
    for one in (cliff(), cliff(window=4096), cliff(seq_len=1, batch=1024)):
        line = re.findall(r'<polyline points="([^"]+)"', memory_cliff(one)("wide").svg)[0]
        assert 10 < len(line.split()) <= 64


def test_both_widths_say_the_same() -> None:
    for one in (cliff(), cliff(per_token=10), cliff(window=100, flat=True)):
        assert same_text([memory_cliff(one)(layout) for layout in LAYOUTS])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("batch", [1, 1024])
def test_labels_never_collide_and_none_is_missing(layout: Layout, batch: int) -> None:
    per_tokens, weights, contexts = (16, 12_288, 327_680, 100 * MIB), (0.005, 14.19, 20_000), (1, 8192, 50_000, LIMIT)
    windows = ((None, False), (4096, False), (4096, True))
    for per_token, weight, context, (window, flat), gpu in product(per_tokens, weights, contexts, windows, (8, 79.19)):
        one = cliff(per_token, weight * GIB, gpu * GIB, context, batch, window, flat)
        svg = memory_cliff(one)(layout).svg
        assert collisions(svg) == [], one
        words = " ".join(label.words for label in labels(svg))
        assert "weights " in words and "here" in words and "KV of" in words, one
        assert bool(circles(svg, "f-limit")) == ("equal at" in words), one


def test_a_crossing_at_the_first_token_is_said_in_words() -> None:
    one = cliff(per_token=100 * MIB, weights=GIB, batch=1024, seq_len=8192)
    assert one.crossing == 1
    assert memory_cliff(one)("wide").finding == "KV is larger than the weights from the first token on"
    assert memory_cliff(replace(one, seq_len=1))("narrow").svg
