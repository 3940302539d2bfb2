"""The planner's drawings: to scale, no label on another, and named by what they show, for any model and card."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from drawn import collisions, labels

from snippets.draw.figure import LAYOUTS, WIDTH_PX, Layout
from snippets.draw.planner.card import Card, Part, card_figure
from snippets.draw.planner.growth import Growth, Point, growth_figure
from snippets.draw.planner.pool import Group, PoolShape, pool_figure
from snippets.units import GIB, KIB, MIB


def part(label: str, tone: str, gib: float, spread: float = 0.0) -> Part:
    return Part(label, tone, int(gib * GIB), int((gib - spread) * GIB), int((gib + spread) * GIB))


def card(total: float, weights: float, rest: tuple[float, float, float], error: float = 0.5) -> Card:
    """A card of so many GiB, with a share of 0.92 for vLLM."""
    requested = int(0.92 * total * GIB)
    parts = (
        part("weights", "weights", weights),
        part("activations", "activations", rest[0], min(rest[0], error)),
        part("CUDA context", "other", rest[1]),
        part("graphs", "graphs", rest[2]),
    )
    left = requested - sum(one.expected for one in parts)
    return Card(
        "RTX 4090 24 GB", int(total * GIB), requested, parts, left, left - int(error * GIB), left + int(error * GIB)
    )


CARDS = {
    "baseline": card(23.64, 14.19, (0.3, 0.1, 0.4)),
    "all small": card(79.2, 1.0, (0.1, 0.05, 0.01), 0.05),
    "wide range": card(139.8, 79.3, (2.9, 1.7, 1.4), 6.0),
    "full": card(23.64, 21.2, (0.2, 0.1, 0.1)),
    "no room": card(23.64, 30.0, (0.3, 0.1, 0.4)),
    "far too large": card(23.64, 437.9, (3.0, 1.0, 1.0)),
    "tiny card": card(7.6, 0.3, (1.9, 0.4, 0.9), 1.2),
    "large rest": card(14.74, 2.9, (3.2, 1.1, 2.3), 1.5),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", CARDS)
def test_no_label_of_a_card_touches_another(name: str, layout: Layout) -> None:
    assert collisions(card_figure(CARDS[name], "c", layout).svg) == []


def widths(svg: str, class_: str) -> list[float]:
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect")
    return [float(one.get("width", "0")) for one in found if one.get("class") == class_]


def test_a_card_is_drawn_to_scale() -> None:
    svg = card_figure(CARDS["baseline"], "c", "wide").svg
    per_gib = WIDTH_PX["wide"] / 23.64
    assert widths(svg, "f-weights")[0] == pytest.approx(14.19 * per_gib, abs=2)
    assert widths(svg, "f-kv")[0] == pytest.approx((0.92 * 23.64 - 14.99) * per_gib, abs=2)


def test_a_card_that_is_too_small_says_by_how_much() -> None:
    figure = card_figure(CARDS["no room"], "c", "wide")
    assert figure.finding == "Weights and the rest take 30.80 GiB; vLLM may use 21.75 GiB of RTX 4090 24 GB"
    assert "9.05 GiB too much" in [label.words for label in labels(figure.svg)]


def test_the_error_bar_is_in_words_and_in_the_table_too() -> None:
    figure = card_figure(CARDS["baseline"], "c", "narrow")
    assert "6.26 GiB to 7.26 GiB" in figure.detail
    assert ("KV cache", "6.76 GiB", "6.26 to 7.26 GiB", "28.6 %") in figure.table.rows


def growth(fixed: float, per_token: float, longest: int, *, reserve: float = 0.0, fp8: bool = False) -> Growth:
    """A request in MiB and KiB: what windows hold is full at 1,024 tokens."""
    lengths = [max(1, longest * n // 40) for n in range(41)]
    held = [int(fixed * MIB * min(n / 1024, 1) + per_token * KIB * n) for n in lengths]
    points = tuple(
        Point(n, size, int(size + reserve * MIB * min(n / 4096, 1))) for n, size in zip(lengths, held, strict=True)
    )
    other = tuple(Point(p.tokens, p.held // 2, p.reserved // 2) for p in points) if fp8 else ()
    return Growth(int(fixed * MIB), per_token * KIB, points, other, "fp8" if fp8 else "")


GROWTHS = {
    "plain": growth(0, 56, 8192, fp8=True),
    "windows": growth(480, 80, 32768, reserve=1900),
    "windows and fp8": growth(480, 80, 131072, reserve=1900, fp8=True),
    "state alone": growth(20, 0, 2048),
    "a short one": growth(0, 12, 448, fp8=True),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", GROWTHS)
def test_no_label_of_a_growing_request_touches_another(name: str, layout: Layout) -> None:
    assert collisions(growth_figure(GROWTHS[name], "g", layout).svg) == []


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("plain", "A request holds 56 KiB for each token, and nothing beside"),
        ("windows", "A long request holds 0.47 GiB and 80 KiB for each token"),
        ("state alone", "A long request holds 20 MiB, however long"),
    ],
)
def test_fixed_bytes_and_bytes_per_token_are_two_numbers(name: str, finding: str) -> None:
    assert growth_figure(GROWTHS[name], "g", "wide").finding == finding


def test_held_and_reserved_are_two_lines_where_they_differ_and_one_name_where_not() -> None:
    two = [label.words for label in labels(growth_figure(GROWTHS["windows"], "g", "wide").svg)]
    one = [label.words for label in labels(growth_figure(GROWTHS["plain"], "g", "wide").svg)]
    assert {"held", "reserved"} <= set(two)
    assert "held, and reserved" in one and "held with fp8" in one


def shape(*groups: tuple[str, int, int]) -> PoolShape:
    made = tuple(Group(kind, layers, tokens, 64 * KIB, 100, kind == "MambaSpec") for kind, layers, tokens in groups)
    return PoolShape(made, 64 * KIB * max(group.layers for group in made))


GEMMA = shape(*[("SlidingWindowSpec", 9, 16)] * 4, *[("SlidingWindowSpec", 8, 16)] * 2, ("FullAttentionSpec", 10, 16))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "pool",
    [
        shape(("FullAttentionSpec", 28, 16)),
        shape(("MLAAttentionSpec", 126, 64)),
        GEMMA,
        shape(("MambaSpec", 12, 544), ("MambaSpec", 12, 544), ("MambaSpec", 12, 544), ("FullAttentionSpec", 12, 544)),
        shape(("FullAttentionSpec", 1, 16)),
    ],
)
def test_no_label_of_a_pool_touches_another(pool: PoolShape, layout: Layout) -> None:
    assert collisions(pool_figure(pool, "p", layout).svg) == []


def test_every_layer_is_a_cell_and_padding_is_hatched() -> None:
    figure = pool_figure(GEMMA, "p", "wide")
    # like groups share a row: 9 + 8 + 10 layers are drawn, and 1 + 2 places of padding
    assert len(re.findall(r'class="f-kv-\d"', figure.svg)) == 27
    assert figure.svg.count("url(#p-wide-hatch)") == 3 + 1  # and one in the legend
    assert figure.detail.startswith("8 places hold no layer and still take a page: ")  # 4 × 1 + 2 × 2
    assert figure.table.rows[0] == ("4 × SlidingWindowSpec", "9", "16", "64 KiB", "100")


def test_widths_differ_in_the_drawing_alone() -> None:
    for made in (
        [card_figure(CARDS["baseline"], "c", layout) for layout in LAYOUTS],
        [growth_figure(GROWTHS["windows"], "g", layout) for layout in LAYOUTS],
        [pool_figure(GEMMA, "p", layout) for layout in LAYOUTS],
    ):
        assert len({(one.finding, one.detail, one.table) for one in made}) == 1
        assert [int(float(ElementTree.fromstring(one.svg).get("width", "0"))) for one in made] == [680, 320]


ENCODER = Card(
    "RTX 4090 24 GB",
    int(23.64 * GIB),
    int(0.92 * 23.64 * GIB),
    (part("weights", "weights", 1.06), part("activations", "activations", 0.25, 0.1), part("graphs", "graphs", 0.45)),
    int(19.9 * GIB),
    int(19.5 * GIB),
    int(20.3 * GIB),
    has_cache=False,
)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_model_without_a_cache_is_drawn_with_what_is_free(layout: Layout) -> None:
    figure = card_figure(ENCODER, "c", layout)
    assert figure.finding == "No KV cache: 1.76 GiB of 23.64 GiB are taken on RTX 4090 24 GB"
    assert "free 21.88 GiB" in [label.words for label in labels(figure.svg)]
    assert widths(figure.svg, "f-kv") == []
    assert collisions(figure.svg) == []


def test_a_card_that_is_too_small_has_a_shortfall_in_its_table_and_nothing_negative() -> None:
    rows = {row[0]: row[1:] for row in card_figure(CARDS["no room"], "c", "wide").table.rows}
    assert rows["KV cache"] == ("none", "", "")
    assert rows["too much"][0] == "9.05 GiB"
    assert not any("-" in cell for row in rows.values() for cell in row)
