"""Ways out where memory is short: a shorter context, more of the card, a smaller cache, more cards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from snippets.planner.engine_args import EngineArgs
from snippets.planner.estimate import Budget, Fit
from snippets.planner.resolved import Resolved
from snippets.planner.settings.dtypes import SIXTEEN_BIT
from snippets.planner.specs import CacheError
from snippets.planner.steps.take import Steps
from snippets.planner.steps.ways_out import MAX_CARDS, Attempt, End, Proposal, Ways, failure_at
from snippets.units import MIB

FEW_TOKENS = 2048  # a server rarely runs with less
MOST_UTILIZATION = 0.95  # above, too little is left for the driver and for graphs outside the budget


def for_memory(
    error: CacheError, needed_bytes: int, args: EngineArgs, steps: Steps, budget: Budget | None, attempt: Attempt
) -> Ways:
    """Ways to let one request in, cheapest first. `needed_bytes` for it on one rank; 0 where that is not known.

    `budget` is None where the memory of the cache was given, or fixed.
    """
    resolved = steps.resolved
    assert resolved is not None
    low = failure_at("low", attempt(args))
    least = low if isinstance(low, CacheError) else error  # its estimate of a length that fits is shorter
    sure = _at("low", needed_bytes, args, resolved, budget, attempt, least)
    if steps.memory_given:
        return Ways(tuple(sure.values()))
    doubtful = _at("expected", needed_bytes, args, resolved, budget, attempt, error, but=set(sure))
    cards = more_cards(args, attempt)
    return Ways((*sure.values(), *cards.sure), (*doubtful.values(), *cards.doubtful))


def _at(
    end: End,
    needed_bytes: int,
    args: EngineArgs,
    resolved: Resolved,
    budget: Budget | None,
    attempt: Attempt,
    error: CacheError,
    but: set[str] | None = None,
) -> dict[str, str]:
    """What starts at one end of the memory, by kind; kinds in `but` have a surer way."""
    kinds: dict[str, Callable[[], Iterator[Proposal]]] = {
        "length": lambda: _shorter(error, args),
        "blocks": lambda: _more_blocks(error, args),
        "memory": lambda: _more_memory(end, needed_bytes, args, budget),
        "cache": lambda: _smaller_cache(end, error, args, resolved, attempt),
        "tokens": lambda: _fewer_tokens(args, resolved),
    }
    found: dict[str, str] = {}
    for kind, proposals in kinds.items():
        if kind in (but or set()):
            continue
        words = [text for changed, text in proposals() if failure_at(end, attempt(changed)) is None]
        if words:
            found[kind] = "; ".join(words)
    return found


def _shorter(error: CacheError, args: EngineArgs) -> Iterator[Proposal]:
    length = error.estimated_max_model_len
    if length > 0:
        yield replace(args, max_model_len=length), f"--max-model-len {length}"


def _more_blocks(error: CacheError, args: EngineArgs) -> Iterator[Proposal]:
    override = args.num_gpu_blocks_override
    if override is None:
        return
    yield replace(args, num_gpu_blocks_override=None), "leave --num-gpu-blocks-override out"
    if error.needed_bytes and error.available_bytes >= override > 0:
        blocks = -(-error.needed_bytes // (error.available_bytes // override))
        yield replace(args, num_gpu_blocks_override=blocks), f"--num-gpu-blocks-override {blocks}"


def _more_memory(end: End, needed: int, args: EngineArgs, budget: Budget | None) -> Iterator[Proposal]:
    if args.kv_cache_memory_bytes and needed:
        yield replace(args, kv_cache_memory_bytes=needed), f"--kv-cache-memory-bytes {needed}"
        yield replace(args, kv_cache_memory_bytes=None), "leave --kv-cache-memory-bytes out"
    elif budget is not None and needed:
        left = budget.available.low if end == "low" else budget.available.expected
        beside = budget.requested_bytes - left  # weights, activations, graphs, CUDA context
        share = math.ceil(100 * (needed + beside) / budget.total_bytes) / 100
        if args.gpu_memory_utilization < share <= MOST_UTILIZATION:
            yield replace(args, gpu_memory_utilization=share), f"--gpu-memory-utilization {share:.2f}"


def _smaller_cache(
    end: End, error: CacheError, args: EngineArgs, resolved: Resolved, attempt: Attempt
) -> Iterator[Proposal]:
    """FP8 keys and values; where they are still too many, with the length that fits."""
    if resolved.kv_cache_dtype not in SIXTEEN_BIT:
        return
    fp8 = replace(args, kv_cache_dtype="fp8")
    failure = failure_at(end, attempt(fp8))
    if failure is None:
        yield fp8, "--kv-cache-dtype fp8"
    elif isinstance(failure, CacheError) and failure.estimated_max_model_len > error.estimated_max_model_len:
        length = failure.estimated_max_model_len
        yield replace(fp8, max_model_len=length), f"--kv-cache-dtype fp8 --max-model-len {length}"


def _fewer_tokens(args: EngineArgs, resolved: Resolved) -> Iterator[Proposal]:
    if resolved.max_num_batched_tokens > FEW_TOKENS:
        yield replace(args, max_num_batched_tokens=FEW_TOKENS), f"--max-num-batched-tokens {FEW_TOKENS}"


def more_cards(args: EngineArgs, attempt: Attempt) -> Ways:
    """The smallest doubling of tensor parallelism that starts at the low end too, and a smaller one that may."""
    size, doubtful = args.tensor_parallel_size * 2, ""
    while size <= MAX_CARDS:
        steps, words = attempt(replace(args, tensor_parallel_size=size)), f"--tensor-parallel-size {size}"
        if failure_at("low", steps) is None:
            return Ways((words,), (doubtful,) if doubtful else ())
        if not doubtful and failure_at("expected", steps) is None:
            doubtful = words
        size *= 2
    return Ways((), (doubtful,) if doubtful else ())


def for_card(args: EngineArgs, fit: Fit | None, attempt: Attempt) -> Ways:
    """Ways when weights, or weights and a cache of fixed size, exceed the card."""
    found = [
        words for changed, words in _smaller_fixed(args, fit, attempt) if failure_at("low", attempt(changed)) is None
    ]
    cards = more_cards(args, attempt)
    return Ways((*found, *cards.sure), cards.doubtful)


def _smaller_fixed(args: EngineArgs, fit: Fit | None, attempt: Attempt) -> Iterator[Proposal]:
    """The largest cache that surely fits, with a context that it holds, or none of fixed size."""
    if fit is None:
        return
    override, size = args.num_gpu_blocks_override, fit.largest_cache_bytes // MIB * MIB
    if override is not None:
        blocks = size * override // fit.cache_bytes
        if blocks > 0:
            smaller = replace(args, num_gpu_blocks_override=blocks)
            yield _with_length(smaller, f"--num-gpu-blocks-override {blocks}", attempt)
        yield replace(args, num_gpu_blocks_override=None), "leave --num-gpu-blocks-override out"
    else:
        if size > 0:
            smaller = replace(args, kv_cache_memory_bytes=size)
            yield _with_length(smaller, f"--kv-cache-memory-bytes {size}", attempt)
        yield replace(args, kv_cache_memory_bytes=None), "leave --kv-cache-memory-bytes out"


def _with_length(smaller: EngineArgs, words: str, attempt: Attempt) -> Proposal:
    """A smaller cache; where it holds no request, with the length that it holds."""
    failure = failure_at("low", attempt(smaller))
    length = failure.estimated_max_model_len if isinstance(failure, CacheError) else 0
    if length < 1:
        return smaller, words
    return replace(smaller, max_model_len=length), f"{words} --max-model-len {length}"
