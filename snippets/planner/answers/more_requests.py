"""More requests of full length at once: changes that were planned again, and how many each admits.

Only what starts at the low end of the estimated memory too is an answer; the requests are those of the expected memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import ModelConfig
from snippets.planner.answers.asked import at_least
from snippets.planner.answers.right_size import longest_for
from snippets.planner.engine_args import EngineArgs
from snippets.planner.settings.dtypes import SIXTEEN_BIT
from snippets.planner.steps.take import Given, Steps, take
from snippets.planner.steps.ways_out import MAX_CARDS, Proposal, failure_at


@dataclass(frozen=True)
class More:
    """One change, as a flag, and the requests of full length that then run at once, at most `wanted`."""

    flag: str
    requests: int


def more_requests(
    config: ModelConfig, card: Gpu, args: EngineArgs, wanted: int, given: Given | None = None
) -> tuple[More, ...]:
    """FP8 KV, more cards, a shorter length: those that admit more. Nothing where all fit, or the plan does not start.

    More cards only where the memory is estimated: a memory that is given belongs to its layout.
    Raises AnswerError for a `wanted` below 1, MissingFactError when the card's memory is not known.
    """
    at_least("wanted", wanted, 1)
    asked = replace(args, max_num_seqs=wanted)

    def attempt(changed: EngineArgs) -> Steps:
        return take(config, card, changed, given or Given())

    now = attempt(asked)
    fits = _requests(now)
    if not 0 < fits < wanted:
        return ()
    kinds: tuple[Callable[[EngineArgs, Steps], Iterator[Proposal]], ...] = (_fp8, _more_cards, _shorter)
    found = (_first_best(kind(asked, now), attempt, wanted, fits) for kind in kinds)
    return tuple(one for one in found if one)


def _requests(steps: Steps) -> int:
    """Of full length at once; 0 where it does not start, or not surely."""
    if steps.cache is None or steps.resolved is None or failure_at("low", steps) is not None:
        return 0
    return steps.cache.requests_at_once(steps.resolved.max_num_seqs)


def _first_best(
    proposals: Iterator[Proposal], attempt: Callable[[EngineArgs], Steps], wanted: int, fits: int
) -> More | None:
    """The first that admits all, else the first of those that admit most."""
    best = None
    for changed, flag in proposals:
        admitted = _requests(attempt(changed))
        if admitted > (best.requests if best else fits):
            best = More(flag, admitted)
        if admitted >= wanted:
            break
    return best


def _fp8(args: EngineArgs, now: Steps) -> Iterator[Proposal]:
    if now.resolved is not None and now.resolved.kv_cache_dtype in SIXTEEN_BIT:
        yield replace(args, kv_cache_dtype="fp8"), "--kv-cache-dtype fp8"


def _more_cards(args: EngineArgs, now: Steps) -> Iterator[Proposal]:
    size = 2 * args.tensor_parallel_size
    while size <= MAX_CARDS and not now.memory_given:
        yield replace(args, tensor_parallel_size=size), f"--tensor-parallel-size {size}"
        size *= 2


def _shorter(args: EngineArgs, now: Steps) -> Iterator[Proposal]:
    if now.cache is None or now.resolved is None:
        return
    length = longest_for(now.cache, now.resolved.stages, now.resolved.limits, args.max_num_seqs or 1)
    if length > 0:
        yield replace(args, max_model_len=length), f"--max-model-len {length}"
