"""Scales and ticks; the expected values are worked out by hand."""

import pytest

from snippets.draw.scale import (
    Linear,
    Log2,
    linear_ticks,
    memory_column,
    memory_text,
    nice_step,
    ratio_text,
    tick_text,
    token_ticks,
)

MIB, GIB = 2**20, 2**30


def test_linear_scale_runs_downwards_when_its_end_is_above_its_start() -> None:
    scale = Linear(0, 400, 300, 100)
    assert [scale(value) for value in (0, 100, 400)] == [300, 250, 100]


def test_every_doubling_is_equally_long_on_a_log_scale() -> None:
    scale = Log2(1024, MIB, 40, 540)  # ten doublings on 500 px
    assert [round(scale(2**power), 9) for power in (10, 11, 13, 20)] == [40, 90, 190, 540]
    assert scale.value(190) == pytest.approx(8192)


@pytest.mark.parametrize(
    ("span", "most", "step"),
    [(315, 5, 100), (5, 5, 1), (6, 5, 2), (16, 5, 5), (0.24, 5, 0.05), (13_107_357, 99, 200_000)],
)
def test_steps_are_one_two_or_five_times_a_power_of_ten(span: float, most: int, step: float) -> None:
    assert nice_step(span, most) == pytest.approx(step)


def test_a_span_of_nothing_has_no_steps() -> None:
    with pytest.raises(ValueError, match="above 0"):
        nice_step(0, 5)


def test_memory_axis_has_at_most_six_ticks_from_zero() -> None:
    assert linear_ticks(315) == (0, 100, 200, 300)
    assert linear_ticks(500) == (0, 100, 200, 300, 400, 500)
    for tenths in range(1, 3000, 7):
        ticks = linear_ticks(tenths / 10)
        assert 3 <= len(ticks) <= 6 and ticks[0] == 0 and ticks[-1] <= tenths / 10


def test_token_axis_has_powers_of_two_equally_far_apart() -> None:
    assert token_ticks(1024, MIB) == (2**10, 2**12, 2**14, 2**16, 2**18, 2**20)
    assert token_ticks(1, MIB) == (1, 2**4, 2**8, 2**12, 2**16, 2**20)
    assert token_ticks(32, MIB) == (2**5, 2**8, 2**11, 2**14, 2**17, 2**20)
    assert token_ticks(1024, MIB, most=5) == (2**10, 2**13, 2**16, 2**19)


def test_ticks_show_as_many_decimals_as_their_step_has() -> None:
    assert [tick_text(value, 100) for value in (0, 1500)] == ["0", "1,500"]
    assert [tick_text(value, 0.05) for value in (0, 0.1)] == ["0.00", "0.10"]


def test_memory_has_about_three_figures_and_none_after_the_point_when_it_is_whole() -> None:
    sizes = (131.4158 * GIB, 20 * GIB, 22.96 * GIB, 5.188 * GIB, 2560 * GIB, GIB / 2, 64 * MIB, 81920, 32, 0)
    shown = ["131.4 GiB", "20 GiB", "23.0 GiB", "5.19 GiB", "2,560 GiB", "0.50 GiB", "64 MiB", "80 KiB", "32 B", "0 B"]
    assert [memory_text(size) for size in sizes] == shown


def test_ratios_keep_what_matters() -> None:
    assert [ratio_text(r) for r in (0.1522, 7.0595, 1024, 0.00685, 0.00001)] == [
        "0.15",
        "7.06",
        "1,024",
        "0.007",
        "under 0.0001",
    ]


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [
        ((16 * MIB, 448 * MIB), ("16 MiB", "448 MiB")),
        ((0.22 * GIB, 3 * GIB), ("0.22 GiB", "3.00 GiB")),
        ((20 * MIB, 2 * GIB), ("0.020 GiB", "2.000 GiB")),
        ((0, 512), ("0 B", "512 B")),
        ((), ()),
    ],
)
def test_a_column_of_memory_has_the_unit_of_its_largest(sizes: tuple[float, ...], shown: tuple[str, ...]) -> None:
    assert memory_column(sizes) == shown
