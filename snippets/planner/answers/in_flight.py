"""How many requests really fit: the blocks a running request holds on average, beside the worst case and the log's.

A running request holds the blocks of its prompt, and more with every token it answers. Look in at a random moment: a
request with a long answer is found more often, in proportion to its steps, and anywhere between its first and its last
token. Over all such moments

    mean blocks = E[blocks held, summed over the steps of a request] / E[steps of a request]

and the pool holds (blocks in the pool) / (mean blocks) requests on average. A number of requests is called safe when
their blocks, added up, stay inside the pool at 99 % of moments. The sum of many unlike requests is nearly normal; its
skewness is corrected for (Cornish and Fisher's expansion), since lengths have a long right tail.

Assumed: the server is busy all the time; prefill is short beside decoding, and a prompt holds its blocks from the
start; prompts and answers do not depend on each other; requests end at max_model_len. Counted: whole blocks, windows
and states, as vLLM frees them; the null block; a shared prefix once, in the layers that keep every token. Left out:
blocks of finished requests that wait to be reused (they are given up on demand), and preempted requests' second tries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, sqrt
from typing import NamedTuple

from snippets.planner.answers.asked import AnswerError, at_least
from snippets.planner.answers.block_size import KEEPS_EVERY_TOKEN, tokens_per_block
from snippets.planner.answers.lengths import Lengths
from snippets.planner.answers.prefix_reuse import prefix_reuse
from snippets.planner.cache.held import held_blocks
from snippets.planner.engine_args import SpeculativeConfig
from snippets.planner.resolved import Resolved
from snippets.planner.specs import CacheGroup, CachePlan, LayerSpec

SAFE_SHARE = 0.99  # of moments
LEAST_SHARE_SAID = 0.0005  # less prints as 0.0 %
_SAFE_Z = 2.3263478740408408  # standard normal quantile of SAFE_SHARE
_SAMPLES = 768  # (length, share) pairs, about
_GOLDEN = 0.6180339887498949  # steps that fill an interval evenly without ever repeating


@dataclass(frozen=True)
class Traffic:
    """What users send. Every prompt begins with the same `shared_prefix_tokens`; `prompt` counts what follows them."""

    prompt: Lengths
    output: Lengths
    shared_prefix_tokens: int = 0

    def __post_init__(self) -> None:
        at_least("shared_prefix_tokens", self.shared_prefix_tokens, 0)


@dataclass(frozen=True)
class Pool:
    """What the requests share."""

    num_gpu_blocks: int  # the null block among them
    max_model_len: int
    max_num_seqs: int
    blocks_held: Callable[[int], int]  # blocks a decoding request with so many tokens holds
    shared_blocks: int = 0  # of them, those that lie in the shared prefix and are held once for all
    shared_tokens: int = 0  # of the shared prefix, that those blocks hold
    worst_case_blocks: int = 0  # that admit max_model_len; 0: what max_model_len holds


class Held(NamedTuple):
    """Blocks of one running request at a random moment, without the shared prefix."""

    mean_tokens: float  # prefix included
    mean: float
    deviation: float
    skewness: float


@dataclass(frozen=True)
class InFlight:
    """Requests in flight, by four measures. None of the first three looks at max_num_seqs."""

    worst_case: int  # each with max_model_len, all at once
    expected: float  # as many as the pool holds on average
    safe: int  # no preemption at 99 % of moments
    max_num_seqs: int
    held: Held
    usable_blocks: int  # without the null block and the shared prefix
    shared_blocks: int
    cut_share: float  # requests that max_model_len cuts short, 0 to 1
    shared_tokens: int = 0  # of the shared prefix, that are held once for all

    @property
    def running(self) -> float:
        """What a busy server runs on average: memory's number or max_num_seqs, the smaller."""
        return min(self.expected, self.max_num_seqs)

    @property
    def running_safely(self) -> int:
        """What runs without preemption, as far as max_num_seqs lets it."""
        return min(self.safe, self.max_num_seqs)

    @property
    def running_at_most(self) -> int:
        """`running` as a whole number that bounds it: 1.96 requests are never faster than 2."""
        return max(1, ceil(self.running))

    @property
    def decided_by(self) -> str:
        """ "memory" or "max_num_seqs"."""
        return "memory" if self.expected < self.max_num_seqs else "max_num_seqs"


def requests_in_flight(
    plan: CachePlan, resolved: Resolved, traffic: Traffic, speculative: SpeculativeConfig | None = None
) -> InFlight:
    """Requests in flight under a plan. Raises AnswerError where the traffic cannot be served."""
    return in_flight(traffic, pool_of(plan, resolved, traffic.shared_prefix_tokens, speculative))


def pool_of(
    plan: CachePlan, resolved: Resolved, shared_prefix_tokens: int = 0, speculative: SpeculativeConfig | None = None
) -> Pool:
    """The pool of a plan. A shared prefix is held once only with prefix caching, and only in whole blocks."""
    limits, groups, alike = resolved.limits, plan.groups, _alike(plan.groups)
    dcp = limits.decode_context_parallel_size
    lookahead = speculative.num_speculative_tokens if speculative else 0  # slots taken ahead of every step
    reuse = prefix_reuse(
        plan,
        enable_prefix_caching=resolved.enable_prefix_caching,
        cache_block_size=resolved.block_size,
        decode_context_parallel_size=dcp,
        speculative=speculative,
    )
    reused = reuse.reused(shared_prefix_tokens, shared_prefix_tokens + 1)
    keeping = [group for group in groups if group.spec.kind in KEEPS_EVERY_TOKEN]
    return Pool(
        num_gpu_blocks=plan.num_gpu_blocks,
        max_model_len=plan.max_model_len,
        max_num_seqs=resolved.max_num_seqs,
        blocks_held=lambda tokens: sum(
            [times * held_blocks(group, limits, tokens + lookahead) for group, times in alike]
        ),
        shared_blocks=sum(reused // tokens_per_block(group, dcp) for group in keeping),
        shared_tokens=reused if keeping else 0,
        worst_case_blocks=plan.blocks_per_request,
    )


def _alike(groups: Sequence[CacheGroup]) -> list[tuple[CacheGroup, int]]:
    """Groups that hold equal numbers of blocks, once, and how many of them there are."""
    found: dict[tuple[LayerSpec, int], tuple[CacheGroup, int]] = {}
    for group in groups:
        key = (group.spec, group.block_size)
        found[key] = (group, found[key][1] + 1 if key in found else 1)
    return list(found.values())


def in_flight(traffic: Traffic, pool: Pool) -> InFlight:
    """Requests in flight for this traffic. Raises AnswerError where nothing fits or the prefix leaves no room."""
    if traffic.shared_prefix_tokens + 2 > pool.max_model_len:
        raise AnswerError(
            "shared_prefix_tokens",
            f"shared_prefix_tokens is {traffic.shared_prefix_tokens:,}; with a prompt and an answer of one token each "
            f"it must stay below max_model_len = {pool.max_model_len:,}",
        )
    usable = pool.num_gpu_blocks - 1 - pool.shared_blocks
    samples, cut_share = moments(traffic, pool.max_model_len)
    blocks = [(pool.blocks_held(tokens) - pool.shared_blocks, share) for tokens, share in samples]
    held = Held(sum(tokens * share for tokens, share in samples), *_three_moments(blocks))
    one_fits = sum(share for n, share in blocks if n <= usable) >= SAFE_SHARE
    full = pool.worst_case_blocks or pool.blocks_held(pool.max_model_len)
    worst_case = max(usable, 0) // max(full - pool.shared_blocks, 1)
    expected = max(usable, 0) / held.mean
    safe = max(worst_case, _safe(usable, held) if one_fits else 0)
    shared = pool.shared_blocks, cut_share, pool.shared_tokens
    return InFlight(worst_case, expected, safe, pool.max_num_seqs, held, usable, *shared)


def _three_moments(blocks: list[tuple[int, float]]) -> tuple[float, float, float]:
    """Mean, standard deviation and skewness of weighted counts."""
    mean = sum(n * share for n, share in blocks)
    variance = sum((n - mean) ** 2 * share for n, share in blocks)
    third = sum((n - mean) ** 3 * share for n, share in blocks)
    return mean, sqrt(variance), third / variance**1.5 if variance > 0 else 0.0


@lru_cache(32)  # a slider of the memory asks the same again
def moments(traffic: Traffic, max_model_len: int) -> tuple[list[tuple[int, float]], float]:
    """Tokens stored by a running request at random moments, with shares of 1; and the share of requests cut short.

    Each pair of strata weighs as its share of requests times its steps; its moments are spread over its steps.
    """
    prompts, outputs = traffic.prompt.strata(), traffic.output.strata()
    each = max(1, _SAMPLES // (len(prompts) * len(outputs)))
    samples: list[tuple[int, float]] = []
    cut_share, place = 0.0, 0.5
    for prompt_share, own_tokens in prompts:
        prompt = min(traffic.shared_prefix_tokens + own_tokens, max_model_len - 1)
        for output_share, wanted in outputs:
            share = prompt_share * output_share
            steps = min(wanted, max_model_len - prompt)
            if steps < wanted or prompt < traffic.shared_prefix_tokens + own_tokens:
                cut_share += share
            for _ in range(each):
                place = (place + _GOLDEN) % 1
                # In step i of n the prompt and i tokens are stored: the answer's last token never is.
                samples.append((int(prompt + place * steps), share * steps / each))
    weight = sum(share for _, share in samples)
    return [(tokens, share / weight) for tokens, share in samples], cut_share


def _safe(usable: int, held: Held) -> int:
    """Largest number of requests whose blocks stay within `usable` at SAFE_SHARE of moments."""
    low, high = 1, int(max(usable, 0) / held.mean) + 1
    while high - low > 1:
        n = (low + high) // 2
        low, high = (n, high) if _blocks_at_safe_share(n, held) <= usable else (low, n)
    return low


def _blocks_at_safe_share(requests: int, held: Held) -> float:
    """Blocks that so many requests stay within at SAFE_SHARE of moments."""
    z = _SAFE_Z + (_SAFE_Z**2 - 1) * held.skewness / (6 * sqrt(requests))
    return requests * held.mean + z * sqrt(requests) * held.deviation
