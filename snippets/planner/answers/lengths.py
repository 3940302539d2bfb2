"""Lengths of prompts and answers as a distribution, cut into strata: shares of the requests with one length each.

No random numbers: a stratum stands at the mean of its part of the distribution, so that the mean of all strata is the
distribution's own. The long tail gets finer strata, because few long requests hold much of the memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import log, sqrt
from statistics import NormalDist
from typing import Literal, NamedTuple

from snippets.planner.answers.asked import AnswerError, at_least

Kind = Literal["fixed", "uniform", "lognormal"]
KINDS: tuple[Kind, ...] = ("fixed", "uniform", "lognormal")

_NORMAL = NormalDist()
_BODY, _TAIL = 24, 6  # equal strata of the first 15/16, then a tail halved again and again
_EDGES = (*(i / _BODY * 15 / 16 for i in range(_BODY)), *(1 - 1 / 16 / 2**i for i in range(_TAIL + 1)), 1.0)


class Stratum(NamedTuple):
    """A share of the requests (0 to 1) and their length in tokens."""

    share: float
    tokens: float


@dataclass(frozen=True)
class Lengths:
    """Token counts: all alike, evenly spread, or log-normal (many short, few long)."""

    kind: Kind
    mean_tokens: float
    deviation_tokens: float = 0.0  # standard deviation; "fixed" has none

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise AnswerError("kind", f"kind is {self.kind!r}; it is one of {', '.join(KINDS)}")
        at_least("mean_tokens", self.mean_tokens, 1)
        at_least("deviation_tokens", self.deviation_tokens, 0)
        if self.kind == "uniform" and self.deviation_tokens * sqrt(3) > self.mean_tokens - 1:
            raise AnswerError(
                "deviation_tokens",
                f"deviation_tokens is {self.deviation_tokens:g} around a mean of {self.mean_tokens:g} tokens; even "
                f"spread would reach below 1 token: at most {(self.mean_tokens - 1) / sqrt(3):.0f}, or log-normal",
            )

    @classmethod
    def around(cls, mean_tokens: float, deviation_tokens: float) -> Lengths:
        """Log-normal, as lengths of users are; without a deviation all alike."""
        return cls("lognormal" if deviation_tokens else "fixed", mean_tokens, deviation_tokens)

    def strata(self) -> tuple[Stratum, ...]:
        """Shares that add up to 1, short to long."""
        return _strata(self)


@cache
def _strata(lengths: Lengths) -> tuple[Stratum, ...]:
    mean, deviation = lengths.mean_tokens, lengths.deviation_tokens
    if lengths.kind == "fixed" or deviation == 0:
        return (Stratum(1.0, mean),)
    if lengths.kind == "uniform":
        low = mean - sqrt(3) * deviation
        width = 2 * sqrt(3) * deviation
        return tuple(Stratum(1 / _BODY, low + width * (i + 0.5) / _BODY) for i in range(_BODY))
    sigma = sqrt(log(1 + (deviation / mean) ** 2))  # of the logarithm
    # E[X; X below its u-quantile] = mean * Phi(z_u - sigma)
    below = [0.0, *(mean * _NORMAL.cdf(z - sigma) for z in _inner_quantiles()), mean]
    shares = [upper - lower for lower, upper in pairwise(_EDGES)]
    return tuple(
        Stratum(share, max(1.0, (upper - lower) / share))
        for share, (lower, upper) in zip(shares, pairwise(below), strict=True)
    )


@cache
def _inner_quantiles() -> tuple[float, ...]:
    return tuple(_NORMAL.inv_cdf(edge) for edge in _EDGES[1:-1])
