"""Strata of a length distribution, against the distributions' own moments."""

from __future__ import annotations

import pytest

from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.lengths import Lengths


def moments(lengths: Lengths) -> tuple[float, float, float]:
    strata = lengths.strata()
    total = sum(share for share, _ in strata)
    mean = sum(share * tokens for share, tokens in strata)
    return total, mean, sum(share * (tokens - mean) ** 2 for share, tokens in strata) ** 0.5


@pytest.mark.parametrize(
    "lengths",
    [
        Lengths("fixed", 700),
        Lengths("uniform", 1000, 300),
        Lengths("lognormal", 300, 100),
        Lengths("lognormal", 1000, 1500),
    ],
)
def test_shares_add_up_to_one_and_the_mean_is_kept(lengths: Lengths) -> None:
    total, mean, _ = moments(lengths)
    assert total == pytest.approx(1)
    assert mean == pytest.approx(lengths.mean_tokens, rel=1e-9)


@pytest.mark.parametrize(
    ("lengths", "within"), [(Lengths("uniform", 1000, 300), 0.01), (Lengths("lognormal", 300, 100), 0.02)]
)
def test_the_deviation_asked_for_is_nearly_the_strata_s_own(lengths: Lengths, within: float) -> None:
    assert moments(lengths)[2] == pytest.approx(lengths.deviation_tokens, rel=within)


def test_half_of_a_log_normal_lies_below_its_mean_divided_by_the_known_factor() -> None:
    # A log-normal's median is mean / sqrt(1 + (deviation / mean)^2): 1000 / sqrt(2) = 707 for deviation = mean.
    below = sum(share for share, tokens in Lengths("lognormal", 1000, 1000).strata() if tokens < 707.1)
    assert below == pytest.approx(0.5, abs=0.03)


def test_without_a_deviation_all_are_alike() -> None:
    assert Lengths.around(700, 0).strata() == ((1.0, 700),)
    assert len(Lengths.around(700, 1).strata()) > 1


@pytest.mark.parametrize(
    ("asked", "field"),
    [(("uniform", 100, 90), "deviation_tokens"), (("fixed", 0), "mean_tokens"), (("zipf", 10), "kind")],
)
def test_an_impossible_distribution_is_refused_by_field(asked: tuple[object, ...], field: str) -> None:
    with pytest.raises(AnswerError) as refused:
        Lengths(*asked)  # type: ignore[arg-type]
    assert refused.value.field == field
