"""A cache of fixed size beside all else on the card: vLLM allocates it without measuring whether there is room.

With --kv-cache-memory-bytes it runs the profile and then allocates (v1/worker/gpu_worker.py:462); with
--num-gpu-blocks-override it measures, and allocates what was asked (v1/core/kv_cache_utils.py:1006).
"""

from __future__ import annotations

from collections.abc import Sequence

from snippets.planner.engine_args import EngineArgs
from snippets.planner.estimate import Budget, Fit, Range
from snippets.planner.memory.free_memory import log_gib
from snippets.planner.specs import CachePlan


def fit_of(args: EngineArgs, cache: CachePlan, budgets: Sequence[Budget], free_bytes: int | None) -> Fit | None:
    """The fullest stage; None where the cache takes what is left, or keeps nothing. Stages count as the largest's."""
    is_fixed = bool(args.kv_cache_memory_bytes) or args.num_gpu_blocks_override is not None
    if not is_fixed or not cache.groups or not budgets:
        return None
    size = cache.num_gpu_blocks * cache.bytes_per_block
    return max((_beside(size, budget, free_bytes) for budget in budgets), key=lambda fit: fit.held.expected)


def _beside(size: int, budget: Budget, free_bytes: int | None) -> Fit:
    parts = (budget.activation, budget.non_torch, budget.cuda_graphs)
    held = budget.weights_bytes + size
    return Fit(
        cache_bytes=size,
        weights_bytes=budget.weights_bytes,
        held=Range(
            held + sum(part.low for part in parts),
            held + sum(part.expected for part in parts),
            held + sum(part.high for part in parts),
        ),
        room_bytes=budget.total_bytes if free_bytes is None else min(free_bytes, budget.total_bytes),
        is_free_memory=free_bytes is not None,
    )


def shortage(fit: Fit) -> str:
    """What does not fit, surely or as expected; "" where it fits as expected."""
    card = f"{log_gib(fit.room_bytes)} GiB" + (" free" if fit.is_free_memory else "")
    alone = fit.weights_bytes + fit.cache_bytes
    if alone > fit.room_bytes:
        return f"CUDA out of memory: weights and KV cache take {log_gib(alone)} GiB of a card with {card}."
    if fit.held.expected > fit.room_bytes:
        return (
            f"CUDA out of memory, at the start or in the first full step: weights, KV cache and what a step needs take "
            f"{log_gib(fit.held.expected)} GiB of a card with {card}."
        )
    return ""


def field_of(args: EngineArgs) -> str:
    """The setting that fixes the size."""
    return "kv_cache_memory_bytes" if args.num_gpu_blocks_override is None else "num_gpu_blocks_override"
