"""Answers and log-probabilities compared, on pairs short enough to do by hand."""

from __future__ import annotations

from math import log

import pytest

from snippets.token_agreement import agreement, drift


@pytest.mark.parametrize(
    ("left", "right", "first", "share"),
    [
        ([7, 8, 9], [7, 8, 9], None, 1.0),
        ([7, 8, 9, 4], [7, 8, 1, 4], 2, 0.75),  # equal again after the difference: counted, though it is luck
        ([7, 8, 9, 4], [1, 2, 3, 5], 0, 0.0),
        ([7, 8], [7, 8, 9, 4], 2, 0.5),  # one stopped earlier: that is the difference
        ([7, 8, 9, 4], [7, 8], 2, 0.5),
        ([], [7], 0, 0.0),
        ([], [], None, 1.0),
    ],
)
def test_answers_agree_up_to_the_first_token_that_differs(
    left: list[int], right: list[int], first: int | None, share: float
) -> None:
    found = agreement(left, right)
    assert (found.first_difference, found.equal_share) == (first, share)


def test_equal_log_probabilities_have_no_drift_and_the_perplexity_of_the_text() -> None:
    # two tokens of probability 1/2 and 1/8: perplexity is sqrt(2 * 8) = 4
    found = drift([log(1 / 2), log(1 / 8)], [log(1 / 2), log(1 / 8)])
    assert (found.mean_difference, found.mean_absolute, found.largest_absolute) == (0, 0, 0)
    assert (found.perplexity_left, found.perplexity_right) == pytest.approx((4, 4))


def test_differences_are_right_minus_left_and_a_text_found_less_likely_has_more_perplexity() -> None:
    # by hand: differences −1, 0, +0.5, −0.5
    found = drift([-1, -2, -3, -4], [-2, -2, -2.5, -4.5])
    assert (found.tokens, found.mean_difference, found.mean_absolute) == (4, -0.25, 0.5)
    assert (found.absolute_at_99, found.largest_absolute) == (1, 1)
    assert found.perplexity_right > found.perplexity_left


def test_one_outlier_in_two_hundred_is_the_largest_and_not_the_99th() -> None:
    found = drift([-1.0] * 200, [-1.25] * 199 + [-9.0])
    assert (found.absolute_at_99, found.largest_absolute) == (0.25, 8)


@pytest.mark.parametrize(("left", "right"), [([-1.0], [-1.0, -2.0]), ([], [])])
def test_other_texts_and_no_text_are_refused(left: list[float], right: list[float]) -> None:
    with pytest.raises(ValueError, match="must score the same forced text"):
        drift(left, right)
