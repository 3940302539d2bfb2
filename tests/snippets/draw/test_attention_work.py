"""The cells of the drawing are the work there is: counted here by walking through every step."""

import re

import pytest

from snippets.draw.attention_work import STEPS, Work, attention_work, with_cache, without_cache
from snippets.draw.figure import LAYOUTS, WIDTH_PX, Layout


def walk(tokens: int, cached: bool) -> Work:
    """Do the loops of causal attention and count, instead of summing a series."""
    positions = scores = 0
    for step in range(1, tokens + 1):
        queries = [step] if cached else range(1, step + 1)
        for query in queries:
            positions += 1
            scores += len(range(1, query + 1))  # keys at or before the query
    return Work(positions, scores)


@pytest.mark.parametrize("tokens", [1, 2, 3, 6, 40])
def test_counts_agree_with_walking_through_the_loops(tokens: int) -> None:
    assert with_cache(tokens) == walk(tokens, cached=True)
    assert without_cache(tokens) == walk(tokens, cached=False)


def test_scores_stay_quadratic_with_the_cache_and_are_cubic_without() -> None:
    # Doubling the tokens of a long sequence: 2**2 = 4 times the scores with the cache, 2**3 = 8 times without.
    assert with_cache(20_000).scores / with_cache(10_000).scores == pytest.approx(4, rel=1e-3)
    assert without_cache(20_000).scores / without_cache(10_000).scores == pytest.approx(8, rel=1e-3)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_score_and_every_position_is_one_square(layout: Layout) -> None:
    svg = attention_work()(layout).svg
    in_legend = 1
    # Six steps by hand: 1+3+6+10+15+21 = 56 scores without, 1+2+3+4+5+6 = 21 with; 21 and 6 positions.
    assert svg.count('class="f-activations"') == 56 + 21 + in_legend
    assert svg.count('class="f-kv"') == 21 + 6 + in_legend
    assert svg.count('class="f-kv-soft s-kv"') == 15 + in_legend  # 0+1+2+3+4+5 read from the cache
    assert svg.count('class="f-none s-free"') == 56 - 21 + in_legend


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_square_lies_outside_the_drawing(layout: Layout) -> None:
    svg = attention_work()(layout).svg
    rects = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', svg)
    assert max(float(x) + float(width) for x, width in rects) <= WIDTH_PX[layout]


def test_finding_and_table_are_the_same_in_both_widths() -> None:
    wide, narrow = (attention_work()(layout) for layout in LAYOUTS)
    assert (wide.finding, wide.detail, wide.table) == (narrow.finding, narrow.detail, narrow.table)
    assert "56 scores without the cache, 21 with it" in wide.finding
    assert wide.table.rows[0] == (str(STEPS), "21", "6", "56", "21")
