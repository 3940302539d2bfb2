"""How far two runs of the same prompts lie apart: in the tokens they chose, and in the log-probabilities they gave.

Greedy answers are compared up to the first token that differs and position by position; after the first difference
the two continue different texts, so equal positions there are luck. Log-probabilities are compared on one forced text,
where both saw the same tokens throughout, so every position counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp


@dataclass(frozen=True)
class Agreement:
    """Two answers to one prompt."""

    first_difference: int | None  # position, from 0, of the first token that differs; None where there is none
    equal_share: float  # of the positions of the longer answer, 0 to 1; what one has and the other lacks differs


def agreement(left: Sequence[int], right: Sequence[int]) -> Agreement:
    """Compare token ids; two empty answers are equal."""
    equal = [one == other for one, other in zip(left, right, strict=False)]
    longer = max(len(left), len(right))
    if False in equal:
        first: int | None = equal.index(False)
    else:
        first = len(equal) if len(equal) < longer else None
    return Agreement(first, sum(equal) / longer if longer else 1.0)


@dataclass(frozen=True)
class Drift:
    """Log-probabilities, natural logarithm, of the same forced tokens in two runs; differences are right minus left."""

    tokens: int
    mean_difference: float  # negative: the right run found the text less likely
    mean_absolute: float
    absolute_at_99: float  # 99 of 100 positions differ by at most this
    largest_absolute: float
    perplexity_left: float
    perplexity_right: float


def drift(left: Sequence[float], right: Sequence[float]) -> Drift:
    """Compare position by position; texts of different length are refused, because they are not the same text."""
    if len(left) != len(right) or not left:
        raise ValueError(f"{len(left)} and {len(right)} log-probabilities: both runs must score the same forced text")
    tokens = len(left)
    differences = [other - one for one, other in zip(left, right, strict=True)]
    sizes = sorted(abs(difference) for difference in differences)
    return Drift(
        tokens=tokens,
        mean_difference=sum(differences) / tokens,
        mean_absolute=sum(sizes) / tokens,
        absolute_at_99=sizes[ceil(0.99 * tokens) - 1],
        largest_absolute=sizes[-1],
        perplexity_left=exp(-sum(left) / tokens),
        perplexity_right=exp(-sum(right) / tokens),
    )
