"""Requests to simulate: how long their prompts and answers are, drawn from a seed.

Only `random.Random(seed).random()` is used and every draw is rounded to whole tokens, so that any Python gets the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Request:
    """One request: tokens in its prompt and tokens it will answer with."""

    prompt_tokens: int
    output_tokens: int
    cut: bool = False  # the draw was longer than the maximum context

    @property
    def stored_tokens(self) -> int:
        """Tokens in the cache at the end: the answer's last token is sent, its key and value are never computed."""
        return self.prompt_tokens + self.output_tokens - 1


@dataclass(frozen=True)
class LogNormal:
    """Token counts whose logarithm is normal: many short, few long."""

    mean_tokens: float
    sigma: float  # standard deviation of the logarithm

    def draw(self, random: Random) -> int:
        """One count, at least 1. Box-Muller by hand: `gauss` and `lognormvariate` may change between versions."""
        radius = math.sqrt(-2 * math.log(1 - random.random()))
        normal = radius * math.cos(2 * math.pi * random.random())
        return max(1, round(math.exp(math.log(self.mean_tokens) - self.sigma**2 / 2 + self.sigma * normal)))


# Means: PagedAttention (arXiv 2309.06180), Figure 11. The paper prints no spread; the sigmas are ours.
PROMPT_AND_OUTPUT = {
    "alpaca": (LogNormal(19.31, 0.6), LogNormal(58.45, 0.8)),
    "sharegpt": (LogNormal(161.31, 1.1), LogNormal(337.99, 0.9)),
}
DISTRIBUTIONS = (*PROMPT_AND_OUTPUT, "uniform", "maximum")


def _draw(distribution: str, max_context: int, random: Random) -> Request:
    if distribution == "maximum":
        prompt = max(1, max_context // 4)
        return Request(prompt, max_context - prompt)
    if distribution == "uniform":  # any total up to the maximum is as likely as any other, and so is any split of it
        total = 2 + int(random.random() * (max_context - 1))
        prompt = 1 + int(random.random() * (total - 1))
        return Request(prompt, total - prompt)
    prompt, output = (length.draw(random) for length in PROMPT_AND_OUTPUT[distribution])
    kept = min(prompt, max_context - 1)
    return Request(kept, min(output, max_context - kept), cut=prompt + output > max_context)


def draw_requests(distribution: str, count: int, max_context: int, seed: int) -> tuple[Request, ...]:
    """The first `count` requests of a seed; asking for more leaves the first ones as they are.

    Prompt and answer together stay within `max_context` tokens: a longer draw is cut there and marked.
    """
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"distribution is one of {', '.join(DISTRIBUTIONS)}, not {distribution!r}")
    if count < 1 or max_context < 2:
        raise ValueError(f"need at least 1 request of at least 2 tokens, not {count} of {max_context}")
    random = Random(seed)
    return tuple(_draw(distribution, max_context, random) for _ in range(count))
