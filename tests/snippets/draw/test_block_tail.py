"""The last block of a sequence, counted by hand."""

from __future__ import annotations

import re

import pytest
from drawn import collisions, labels
from hypothesis import given
from hypothesis import strategies as st

from snippets.draw.block_tail import block_tail
from snippets.draw.figure import LAYOUTS, Layout, same_text

SLOTS = re.compile(r'height="30" rx="2" class="f-kv"')
EMPTY = re.compile(r'height="30" rx="2" fill="url')


@pytest.mark.parametrize("layout", LAYOUTS)
def test_100_tokens_leave_12_of_16_slots_empty(layout: Layout) -> None:
    # 100 = 6 × 16 + 4
    figure = block_tail(100, 16)(layout)
    assert figure.finding == "The last of 7 blocks holds 4 tokens: 12 of its 16 slots stand empty"
    assert len(SLOTS.findall(figure.svg)) == 3 + 4  # three of the six full blocks are drawn
    assert len(EMPTY.findall(figure.svg)) == 12
    assert {"6 full blocks", "4 tokens", "12 empty"} <= {one.words for one in labels(figure.svg)}


def test_whole_blocks_leave_nothing_empty() -> None:
    figure = block_tail(8192, 16)("wide")
    assert figure.finding == "The last block is full: 8,192 tokens fill 512 blocks, and no slot stands empty"
    assert not EMPTY.findall(figure.svg)


def test_one_token_stands_alone_in_its_only_block() -> None:
    assert block_tail(1, 16)("wide").finding == "The only block holds 1 token: 15 of its 16 slots stand empty"


def test_the_average_is_half_a_block_less_half_a_token() -> None:
    assert "(16 − 1) ÷ 2 = 7.5 slots" in block_tail(100, 16)("wide").detail
    assert "(128 − 1) ÷ 2 = 63.5 slots" in block_tail(100, 128)("wide").detail


def test_the_table_compares_block_sizes_at_the_same_length() -> None:
    # 100 tokens: 7 × 16 = 112, 4 × 32 = 128, 2 × 64 = 128, 1 × 128 = 128.
    assert block_tail(100, 16)("wide").table.rows == (
        ("16", "7", "12", "7.5", "89.3 %"),
        ("32", "4", "28", "15.5", "78.1 %"),
        ("64", "2", "28", "31.5", "78.1 %"),
        ("128", "1", "28", "63.5", "78.1 %"),
    )


def test_many_slots_become_one_bar_to_scale() -> None:
    svg = block_tail(64, 256)("wide").svg
    stored, empty = (float(w) for w in re.findall(r'width="([\d.]+)" height="30"', svg))
    assert empty == pytest.approx(3 * stored, abs=0.2)


@given(st.integers(1, 20_000), st.integers(1, 256))
def test_labels_never_collide_and_both_widths_say_the_same(tokens: int, block_size: int) -> None:
    figures = [block_tail(tokens, block_size)(layout) for layout in LAYOUTS]
    assert same_text(figures)
    assert [collisions(one.svg) for one in figures] == [[], []]


@pytest.mark.parametrize(("tokens", "block_size"), [(0, 16), (5, 0)])
def test_nothing_to_draw_is_refused(tokens: int, block_size: int) -> None:
    with pytest.raises(ValueError, match="at least 1 token and blocks of at least 1"):
        block_tail(tokens, block_size)
