"""Memory as cells: to scale, in bounds, and the same size whatever is in it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from drawn import collisions, labels

from snippets.draw.cells import GAP_PX, Memory, Words, columns, draw_cells
from snippets.draw.figure import LAYOUTS, WIDTH_PX, Layout
from snippets.sim.allocation import Piece

WORDS = Words()
SVG = "{http://www.w3.org/2000/svg}"


def drawn(memory: Memory, layout: Layout = "wide", words: Words = WORDS) -> str:
    return draw_cells("cells", memory, layout, "cells-finding", words)


def boxes(svg: str, class_: str) -> list[tuple[float, ...]]:
    """x, y and width of every rect of a class; the hatched ones have none."""
    found = ElementTree.fromstring(svg).iter(f"{SVG}rect")
    return [
        tuple(float(one.get(key, "nan")) for key in ("x", "y", "width"))
        for one in found
        if one.get("class", "") == class_ and one.get("height") == "26"
    ]


def whole(svg: str, class_: str | None) -> int:
    """How many whole cells of a fill were drawn."""
    paths = ElementTree.fromstring(svg).iter(f"{SVG}path")
    return sum(one.get("d", "").count("M") for one in paths if one.get("class") == class_)


def test_a_block_of_16_with_4_tokens_is_a_quarter_full() -> None:
    svg = drawn(Memory(24 * 16, 16, [Piece(0, 0, 1, 4, 16)]))
    cell = (680 + GAP_PX) / 24 - GAP_PX  # 24 cells to a row of 680 px
    (stored,) = boxes(svg, "f-kv-1")
    assert stored[0] == 0 and stored[2] == pytest.approx(cell / 4, abs=0.05)
    empty = [one for one in boxes(svg, "") if one[0] > 0]
    assert empty[0][2] == pytest.approx(cell * 3 / 4, abs=0.05)


def test_every_cell_is_drawn_once() -> None:
    pieces = [Piece(0, 0, 1, 16, 16), Piece(1, 0, 1, 0, 16), Piece(5, 0, 2, 16, 16)]
    svg = drawn(Memory(96 * 16, 16, pieces))
    counts = [whole(svg, class_) for class_ in ("f-kv-1", "f-kv-2", None, "f-none s-free")]
    assert counts == [1, 1, 1, 93]


def test_the_last_cell_is_as_short_as_the_memory_left() -> None:
    svg = drawn(Memory(24 * 16 + 4, 16, []))
    (short,) = boxes(svg, "f-none s-free")
    assert short[2] == pytest.approx(((680 + GAP_PX) / 24 - GAP_PX) / 4, abs=0.05)


def test_sequences_step_through_six_shades_and_begin_again() -> None:
    svg = drawn(Memory(96, 8, [Piece(n, 0, n + 1, 8, 8) for n in range(8)]))
    assert [whole(svg, f"f-kv-{n}") for n in range(1, 7)] == [2, 2, 1, 1, 1, 1]
    numbers = {one.words: one.class_ for one in labels(svg)}
    assert numbers["6"] == "t-small on-kv-6" and numbers["7"] == "t-small on-kv-1"


def test_a_number_stands_on_paper_where_too_little_is_stored_for_it() -> None:
    svg = drawn(Memory(96, 16, [Piece(0, 0, 3, 1, 16)]))
    assert 'class="t-small t-kv"' in svg and "f-paper" in svg


def test_two_sequences_in_a_cell_share_it_without_a_number() -> None:
    svg = drawn(Memory(24 * 16, 16, [Piece(0, 0, 1, 8, 8), Piece(0, 8, 2, 4, 8)]))
    one, two = boxes(svg, "f-kv-1")[0], boxes(svg, "f-kv-2")[0]
    assert one[2] == pytest.approx(2 * two[2], abs=0.1) and two[0] == pytest.approx(one[2], abs=0.05)
    assert not {"1", "2"} & {label.words for label in labels(svg)}


def test_more_sequences_than_can_be_told_apart_are_drawn_as_one() -> None:
    svg = drawn(Memory(24 * 16, 16, [Piece(0, 0, n, 1, 1) for n in range(1, 17)]))
    assert len(re.findall(r'class="f-kv-\d"', svg)) == 1


def test_a_reservation_says_how_much_of_it_is_empty() -> None:
    pieces = [Piece(0, 0, 1, 10, 16)] + [Piece(n, 0, 1, 0, 16) for n in range(1, 16)]
    assert "246 empty" in drawn(Memory(96 * 16, 16, pieces, row_cells=16))
    assert "246 empty" not in drawn(Memory(96 * 16, 16, pieces, row_cells=16), words=Words(empty_run=""))


def test_neighbours_touched_by_one_event_get_one_frame() -> None:
    svg = drawn(Memory(48 * 16, 16, [], marked={3, 4, 5, 23, 24}))
    assert svg.count("s-ink") == 3  # 3 to 5, 23 at the end of the first row, 24 in the second


@pytest.mark.parametrize("layout", LAYOUTS)
def test_those_who_wait_are_listed_as_far_as_there_is_room(layout: Layout) -> None:
    svg = drawn(Memory(96 * 16, 16, [], waiting=range(1, 65), sequences=64), layout)
    shown = [one.words for one in labels(svg) if one.words.isdecimal()]
    assert shown == [str(n + 1) for n in range(len(shown))]
    assert f"+{64 - len(shown)}" in svg
    assert collisions(svg) == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_size_depends_on_the_pool_alone(layout: Layout) -> None:
    empty = drawn(Memory(96 * 16, 16, []), layout)
    full = drawn(Memory(96 * 16, 16, [Piece(n, 0, n + 1, 9, 16) for n in range(64)], marked={1}, waiting=[7]), layout)
    assert re.findall(r'viewBox="[^"]*"', empty) == re.findall(r'viewBox="[^"]*"', full)
    assert f'viewBox="0 0 {WIDTH_PX[layout]} ' in empty


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("cells", [1, 5, 96, 123, 240])
def test_rows_are_filled_or_divided_by_a_reservation_where_that_is_possible(cells: int, layout: Layout) -> None:
    found = columns(cells, 16, layout)
    assert found == cells or found % 16 == 0 or 16 % found == 0
    assert -(-cells // found) <= 30


def test_words_can_be_replaced() -> None:
    svg = drawn(Memory(96, 16, [], sequences=3), words=Words("gespeichert", "reserviert", "frei", "", "", "fertig"))
    assert {one.words for one in labels(svg)} - {""} == {"gespeichert", "reserviert", "frei", "fertig"}
