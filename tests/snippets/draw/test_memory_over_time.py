"""A run as two areas: what is reserved changes in steps, what is stored in slopes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from drawn import collisions, labels

from snippets.draw.figure import LAYOUTS, WIDTH_PX, Layout
from snippets.draw.memory_over_time import PANEL_PX, TITLE_PX, Level, Panel, draw_memory_over_time, levels
from snippets.sim.contiguous import ContiguousPool
from snippets.sim.lengths import Request
from snippets.sim.paged import BlockPool
from snippets.sim.serving import serve

SVG = "{http://www.w3.org/2000/svg}"
REQUESTS = [Request(3, 5), Request(2, 3)]


def drawn(panels: list[Panel], pool: int, layout: Layout = "wide") -> str:
    return draw_memory_over_time("run", panels, pool, layout, "run-finding")


def corners(svg: str) -> list[list[tuple[float, float]]]:
    """The points of every polygon."""
    found = ElementTree.fromstring(svg).iter(f"{SVG}polygon")
    return [[(float(x), float(y)) for x, y in (p.split(",") for p in one.get("points", "").split())] for one in found]


def test_levels_follow_a_run_that_is_worked_out_by_hand() -> None:
    # 3 and 2 tokens at step 0; two steps on, the second stores 4 and ends; four steps on, the first stores 7 and ends.
    run = serve(REQUESTS, ContiguousPool(20, 10), 16)
    assert levels(run) == (
        Level(0, 0, 0),
        Level(0, 0, 0), Level(0, 3, 10),
        Level(0, 3, 10), Level(0, 5, 20),
        Level(3, 9, 20), Level(3, 9, 20), Level(3, 5, 10),
        Level(5, 7, 10), Level(5, 7, 10), Level(5, 0, 0),
    )  # fmt: skip


def test_the_height_is_tokens_to_scale() -> None:
    svg = drawn([Panel("one", levels(serve(REQUESTS, ContiguousPool(20, 10), 16)))], 20)
    reserved, stored = corners(svg)
    base, px = TITLE_PX + PANEL_PX, PANEL_PX - 6  # the pool's line stands 6 px below the panel's top
    assert min(y for _, y in reserved) == pytest.approx(base - px, abs=0.1)  # 20 of 20 tokens reserved
    assert min(y for _, y in stored) == pytest.approx(base - px * 9 / 20, abs=0.1)


def test_panels_share_their_steps() -> None:
    short, long = (serve(REQUESTS, ContiguousPool(pool, 10), 16) for pool in (20, 10))
    svg = drawn([Panel("short", levels(short)), Panel("long", levels(long))], 20)
    ends = [max(x for x, _ in polygon) for polygon in corners(svg)]
    assert short.steps == 5 and long.steps == 8  # one after the other: 5 steps, then 3
    assert ends[0] == pytest.approx(ends[2] * 5 / 8, abs=0.1)
    assert ends[2] == WIDTH_PX["wide"] - 2


def test_the_moment_is_marked_where_it_is() -> None:
    run = serve(REQUESTS, BlockPool(10, 2), 2)
    svg = drawn([Panel("one", levels(run), Level(run.steps, 0, 0))], 20)
    (mark,) = ElementTree.fromstring(svg).iter(f"{SVG}circle")
    assert (float(mark.get("cx", "nan")), float(mark.get("cy", "nan"))) == (678, TITLE_PX + PANEL_PX)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_labels_never_collide(layout: Layout) -> None:
    run = levels(serve([Request(2, 4000)], ContiguousPool(65536, 4096), 16))
    for title in ("Reserve the maximum: 196,608 steps", "Blocks of 256 tokens: 151,628 steps"):
        svg = drawn([Panel(title, run, run[1]), Panel(title, run)], 65536, layout)
        assert collisions(svg) == []
        assert title in {one.words for one in labels(svg)}


def test_the_pools_unit_is_left_out_only_where_there_is_no_room() -> None:
    run = levels(serve(REQUESTS, ContiguousPool(20, 10), 16))
    title = "Blocks of 256 tokens: 151,628 steps"
    assert "pool 65,536 tokens" in drawn([Panel(title, run)], 65536, "wide")
    assert "pool 65,536<" in drawn([Panel(title, run)], 65536, "narrow")
