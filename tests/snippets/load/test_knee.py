"""The knee: the last rate a server kept up with, by what `vllm bench serve` reports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from snippets.load.knee import Knee, RatePoint, find_knee, highest_attained, load_seconds_needed


def point(sent: float, answered: float, good: float | None = None, failed: int = 0) -> RatePoint:
    return RatePoint(
        sent, answered, answered if good is None else good, completed=round(60 * sent) - failed, failed=failed
    )


SWEEP = [point(1, 0.99), point(2, 1.9, 1.8), point(4, 3.7, 2.0), point(8, 5.0, 0.1), point(16, 5.1, 0.0)]


def test_the_knee_lies_between_the_last_rate_kept_up_with_and_the_first_not() -> None:
    assert find_knee(SWEEP) == Knee(4, 8)


def test_the_order_of_trying_does_not_matter() -> None:
    assert find_knee(reversed(SWEEP)) == Knee(4, 8)


def test_nine_tenths_of_the_rate_is_kept_up_with_and_less_is_not() -> None:
    assert point(10, 9).kept_up
    assert not point(10, 8.99).kept_up


def test_a_sweep_that_does_not_reach_the_knee_says_so_on_either_side() -> None:
    assert find_knee(SWEEP[:3]) == Knee(4, None)
    assert find_knee(SWEEP[3:]) == Knee(None, 8)
    assert find_knee([]) == Knee(None, None)


def test_a_rate_kept_up_with_by_luck_beyond_the_knee_is_not_the_knee() -> None:
    assert find_knee([point(1, 1), point(2, 1.5), point(3, 3)]) == Knee(1, 2)


def test_a_failed_request_is_not_kept_up_with_and_not_attained() -> None:
    failed = point(1, 0.95, failed=6)
    assert not failed.kept_up
    assert failed.attainment == pytest.approx(54 / 60)


def test_attainment_is_the_share_within_targets() -> None:
    assert SWEEP[1].attainment == pytest.approx(1.8 / 1.9)
    assert replace(SWEEP[0], completed=0).attainment == 0


def test_the_highest_rate_attained_is_below_the_first_that_misses() -> None:
    assert highest_attained(SWEEP) == SWEEP[1]
    assert highest_attained([point(1, 1, 0.5), point(2, 2)]) is None


def test_a_load_of_nine_answers_is_just_long_enough() -> None:
    # T / (T + L) = 0.9 with L = 2: 18 / 20
    assert load_seconds_needed(2) == pytest.approx(18)
