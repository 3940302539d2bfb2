"""One card's memory to scale. The split of the baseline is worked out by hand from 23.64 GiB and 14.19 GiB."""

import re

import pytest
from drawn import collisions, labels

from snippets.draw.figure import LAYOUTS, Layout
from snippets.draw.memory_split import Split, memory_split

GIB = 2**30


def split(visible: float, utilization: float, weights: float, other: tuple[float, float, float]) -> Split:
    low, drawn, high = other
    return Split(visible * GIB, utilization, weights * GIB, drawn * GIB, low * GIB, high * GIB)


BASELINE = split(23.64, 0.92, 14.19, (1, 1.4, 2))
OTHERS = (
    split(23.64, 0.92, 5.2, (1, 1.4, 2)),
    split(79.19, 0.9, 14.96, (2, 3, 4)),
    split(8, 0.98, 5.2, (0.5, 0.6, 0.7)),
    split(79.19, 0.5, 1, (0.1, 0.1, 0.1)),
    split(23.64, 0.99, 21, (1, 1.4, 2)),
)


def test_kv_is_what_is_left_of_the_limit() -> None:
    # 23.64 × 0.92 = 21.7488; − 14.19 − 1.4 = 6.16, and 5.56 to 6.56 for other memory of 2 to 1.
    figure = memory_split(BASELINE)("wide")
    assert figure.finding == "6.16 GiB of 23.64 GiB are left for the KV cache"
    assert figure.table.rows == (
        ("weights", "14.19 GiB", "", "60.0 %"),
        ("other memory: activations, CUDA context", "1.40 GiB", "1 to 2 GiB", "5.9 %"),
        ("KV cache", "6.16 GiB", "5.56 to 6.56 GiB", "26.1 %"),
        ("left out by the limit of 0.92", "1.89 GiB", "", "8.0 %"),
        ("visible to a program", "23.64 GiB", "", "100.0 %"),
    )


@pytest.mark.parametrize(("layout", "length"), [("wide", 680), ("narrow", 380)])
def test_parts_are_drawn_to_scale(layout: Layout, length: float) -> None:
    side = "width" if layout == "wide" else "height"
    drawn = re.findall(rf'<rect [^>]*{side}="([\d.]+)"[^>]*class="(f-[a-z]+)"', memory_split(BASELINE)(layout).svg)
    sizes = {class_: float(size) + 1.5 for size, class_ in drawn}  # 1.5 px part it from the next
    expected = {"f-weights": 14.19, "f-activations": 1.4, "f-kv": 6.1588, "f-free": 1.8912}
    assert sizes == pytest.approx({class_: size / 23.64 * length for class_, size in expected.items()}, abs=0.2)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_other_memory_is_drawn_as_a_range(layout: Layout) -> None:
    svg = memory_split(BASELINE)(layout).svg
    assert svg.count('class="s-activations w-2"') == 3  # a line and its two ends
    assert any("1 to 2 GiB" in label.words for label in labels(svg))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("one", [BASELINE, *OTHERS])
def test_labels_never_collide(layout: Layout, one: Split) -> None:
    assert collisions(memory_split(one)(layout).svg) == []


def test_a_card_without_room_for_a_cache_is_refused() -> None:
    with pytest.raises(ValueError, match=r"weights of 14\.96 GiB .* smaller weights or a larger card"):
        split(16, 0.92, 14.96, (1, 1.4, 2))
    with pytest.raises(ValueError, match="outside its own range"):
        split(23.64, 0.92, 14.19, (1.5, 1.4, 2))
