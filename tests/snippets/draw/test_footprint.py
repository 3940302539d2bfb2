"""Memory laid against GPU boundaries, to scale; the numbers of GPUs are worked out by hand."""

import re

import pytest
from drawn import collisions, labels

from snippets.draw.figure import LAYOUTS, WIDTH_PX, Layout
from snippets.draw.footprint import footprint, gpus_needed

GIB = 2**30


def widths(svg: str, class_: str) -> list[float]:
    """Widths of the parts of one kind."""
    return [float(w) for w in re.findall(rf'<rect x="[\d.]+" y="[\d.]+" width="([\d.]+)" [^>]*class="{class_}"', svg)]


@pytest.mark.parametrize(
    ("total", "gpu", "needed"), [(151.4, 79.19, 2), (79.19, 79.19, 1), (79.2, 79.19, 2), (0.1, 8, 1), (1254, 79.19, 16)]
)
def test_the_last_gpu_counts_even_when_it_is_hardly_used(total: float, gpu: float, needed: int) -> None:
    assert gpus_needed(total * GIB, gpu * GIB) == needed


@pytest.mark.parametrize("layout", LAYOUTS)
def test_parts_are_drawn_to_scale(layout: Layout) -> None:
    # 30 + 15 GiB on 20 GiB cards: three boxes; weights fill 1.5 of them, KV 0.75, and 0.75 is left.
    svg = footprint(30 * GIB, 15 * GIB, 20 * GIB)(layout).svg
    box = (WIDTH_PX[layout] - 2 * {"wide": 4, "narrow": 3}[layout]) / 3
    gap = 1.5  # px of background part two parts in one box
    assert sum(widths(svg, "f-weights")) == pytest.approx(1.5 * box, abs=0.2)
    assert sum(widths(svg, "f-kv")) == pytest.approx(0.75 * box - gap, abs=0.3)
    assert sum(widths(svg, "f-free")) == pytest.approx(0.75 * box - gap, abs=0.3)


def test_finding_counts_gpus_by_memory_alone() -> None:
    figure = footprint(131.4 * GIB, 20 * GIB, 79.19 * GIB)("wide")
    assert figure.finding == "151.4 GiB in all: 2 GPUs of 79.2 GiB by memory alone"
    assert footprint(14 * GIB, GIB, 80 * GIB)("wide").finding == "15 GiB in all: 1 GPU of 80 GiB by memory alone"


def test_table_adds_up() -> None:
    # 60 + 20 of 2 × 50 GiB.
    assert footprint(60 * GIB, 20 * GIB, 50 * GIB)("wide").table.rows == (
        ("weights", "60 GiB", "60.0 %"),
        ("KV cache", "20 GiB", "20.0 %"),
        ("both", "80 GiB", "80.0 %"),
        ("left in 2 × 50 GiB", "20 GiB", "20.0 %"),
    )


@pytest.mark.parametrize(
    ("needed", "boxes", "each"), [(100, 100, 1), (101, 51, 2), (117, 59, 2), (1000, 50, 20), (10_100, 51, 200)]
)
def test_more_than_a_hundred_gpus_share_boxes(needed: int, boxes: int, each: int) -> None:
    figure = footprint((needed - 0.5) * GIB, 1, GIB)("wide")
    starts = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*class="f-weights"', figure.svg)
    assert len(starts) == boxes
    words = [label.words for label in labels(figure.svg)]
    assert ("each box is a GPU of 1 GiB" if each == 1 else f"each box is {each} GPUs of 1 GiB") in words


@pytest.mark.parametrize("layout", LAYOUTS)
def test_labels_never_collide_and_the_height_never_changes(layout: Layout) -> None:
    heights = set()
    for weights in (0.005, 0.2, 14.19, 131.4, 1250, 20_000):
        for kv in (3e-8, 0.0003, 0.44, 20, 640, 8000, 104_857_600):
            for gpu in (8, 23.64, 79.19, 288):
                svg = footprint(weights * GIB, kv * GIB, gpu * GIB)(layout).svg
                assert collisions(svg) == [], (weights, kv, gpu)
                assert widths(svg, "f-kv") and widths(svg, "f-weights")  # the smallest part is still seen
                heights.add(re.findall(r'viewBox="0 0 \d+ (\d+)"', svg)[0])
    assert len(heights) == 1
