"""Arrivals: the same from the same seed, at the offered rate, with the gaps of a Poisson process."""

from __future__ import annotations

from itertools import pairwise
from statistics import fmean, pstdev

import pytest

from snippets.load.arrivals import arrival_seconds


def test_a_seed_gives_the_same_moments_each_time_and_another_seed_others() -> None:
    assert arrival_seconds(20, 4, seed=1) == arrival_seconds(20, 4, seed=1)
    assert arrival_seconds(20, 4, seed=1) != arrival_seconds(20, 4, seed=2)


def test_the_last_request_comes_at_count_over_rate_as_in_vllm_bench_serve() -> None:
    # benchmarks/serve.py, get_request: delays are scaled so that the last is total_requests / request_rate.
    assert arrival_seconds(60, 1.5, seed=7)[-1] == pytest.approx(40)


def test_moments_are_in_order_and_the_first_is_not_zero() -> None:
    moments = arrival_seconds(500, 10, seed=3)
    assert moments[0] > 0
    assert list(moments) == sorted(moments)


def test_gaps_are_exponential_their_deviation_is_their_mean() -> None:
    moments = arrival_seconds(20_000, 10, seed=0)
    gaps = [after - before for before, after in pairwise((0.0, *moments))]
    assert fmean(gaps) == pytest.approx(0.1)
    assert pstdev(gaps) == pytest.approx(0.1, rel=0.03)


def test_twice_the_rate_is_the_same_trace_in_half_the_time() -> None:
    slow, fast = arrival_seconds(9, 2, seed=5), arrival_seconds(9, 4, seed=5)
    assert [2 * moment for moment in fast] == pytest.approx(list(slow))


@pytest.mark.parametrize(("count", "rate"), [(0, 1.0), (3, 0.0), (3, float("inf")), (3, float("nan"))])
def test_no_requests_or_no_rate_is_refused(count: int, rate: float) -> None:
    with pytest.raises(ValueError, match="need at least 1 request at a rate above 0"):
        arrival_seconds(count, rate, seed=0)
