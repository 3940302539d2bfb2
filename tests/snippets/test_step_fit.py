"""The line through decode steps, on points whose line is known and on a published measurement."""

from __future__ import annotations

import pytest

from snippets.step_fit import fit_steps

# Made by hand: 2 ms before anything is read, then 1 GB in 1 ms, which is 1,000 GB/s.
BYTES = [4e9, 5e9, 8e9, 20e9]
SECONDS = [0.006, 0.007, 0.010, 0.022]


def test_points_on_a_line_give_the_line_and_no_residuals() -> None:
    fit = fit_steps(BYTES, SECONDS)
    assert fit.fixed_seconds == pytest.approx(0.002)
    assert fit.bytes_per_second == pytest.approx(1000e9)
    assert fit.residual_seconds == pytest.approx((0, 0, 0, 0), abs=1e-12)


def test_the_line_through_three_points_off_it_is_the_one_of_the_textbook() -> None:
    # x = 1, 2, 3 and y = 1, 2, 2: slope 1/2, intercept 2/3, residuals −1/6, +1/3, −1/6
    fit = fit_steps([1, 2, 3], [1, 2, 2])
    assert (fit.fixed_seconds, fit.bytes_per_second) == pytest.approx((2 / 3, 2))
    assert fit.residual_seconds == pytest.approx((-1 / 6, 1 / 3, -1 / 6))


def test_a_fixed_cost_below_zero_is_told_and_not_hidden() -> None:
    assert fit_steps([2e9, 4e9], [0.001, 0.004]).fixed_seconds == pytest.approx(-0.002)


def test_the_slope_of_the_vllm_blog_gives_the_bandwidth_it_stands_for() -> None:
    # Llama-3.1-8B on an H100, BF16: 4.37e-5 ms for one more token of 131,072 bytes, 6.44 ms at none (vLLM blog on
    # FP8 KV, April 2026): 131,072 / 4.37e-8 s = 3.0 TB/s
    tokens = [10_000, 60_000, 120_000]
    fit = fit_steps([131_072 * n for n in tokens], [6.44e-3 + 4.37e-8 * n for n in tokens])
    assert fit.bytes_per_second == pytest.approx(2.999e12, rel=1e-3)
    assert fit.fixed_seconds == pytest.approx(6.44e-3)


@pytest.mark.parametrize(
    ("bytes_read", "seconds", "reason"),
    [
        ([1e9], [0.1], "at least two different amounts"),
        ([1e9, 1e9], [0.1, 0.2], "at least two different amounts"),
        ([], [], "at least two different amounts"),
        ([1e9, 2e9], [0.2, 0.2], "did not take longer"),
        ([1e9, 2e9], [0.2, 0.1], "did not take longer"),
        ([1e9, 2e9], [0.2], "2 sizes and 1 times"),
    ],
)
def test_points_that_give_no_line_are_refused_with_the_reason(
    bytes_read: list[float], seconds: list[float], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        fit_steps(bytes_read, seconds)
