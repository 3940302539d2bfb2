"""The right amount of memory: what suffices for the requests allowed, and what more would take.

Bytes are of one rank of the fullest pipeline stage, which is what --kv-cache-memory-bytes counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, floor

from snippets.planner.answers.asked import at_least
from snippets.planner.cache import plan_cache
from snippets.planner.cache.needs import request_blocks
from snippets.planner.cache.pages import spec_of
from snippets.planner.estimate import Budget
from snippets.planner.specs import CacheLayout, CachePlan, Limits, Stage

_UTILIZATION_STEPS = 1000  # a utilization is given to a tenth of a percent, rounded up
_PLENTY = 2**60  # bytes
_NULL_BLOCK = 1  # block 0 is never handed out (v1/core/block_pool.py:190)


@dataclass(frozen=True)
class Amount:
    """KV memory for a number of requests."""

    requests: int  # each of max_model_len, at once
    num_gpu_blocks: int  # the null block among them
    kv_cache_memory_bytes: int  # whole blocks
    gpu_memory_utilization: float | None  # that leaves so much, rounded up; None without a budget, or above 1

    @property
    def fits_the_card(self) -> bool | None:
        """Whether the card has it at all; None without a budget."""
        return None if self.gpu_memory_utilization is None else self.gpu_memory_utilization <= 1


@dataclass(frozen=True)
class RightSize:
    """What there is, what suffices, and what one more would take."""

    allowed: int  # max_num_seqs
    fits: int  # whole requests of max_model_len that fit now
    now_bytes: int  # taken by the blocks there are now
    enough: Amount  # for max_num_seqs requests
    one_more: Amount
    max_model_len_for_all: int  # the longest at which max_num_seqs requests fit in the memory there is; 0: none

    @property
    def spare_bytes(self) -> int:
        """What could be given back; 0 when there is no more than enough."""
        return max(self.now_bytes - self.enough.kv_cache_memory_bytes, 0)


def right_size(
    plan: CachePlan,
    stages: Sequence[Stage],
    limits: Limits,
    max_num_seqs: int,
    budget: Budget | None = None,
) -> RightSize:
    """Right-sizing of a plan; `limits` and `stages` are those it was made with (Resolved).

    Raises AnswerError for a max_num_seqs below 1.
    """
    at_least("max_num_seqs", max_num_seqs, 1)
    fits = floor((plan.num_gpu_blocks - _NULL_BLOCK) / max(plan.blocks_per_request, 1))
    return RightSize(
        allowed=max_num_seqs,
        fits=fits,
        now_bytes=plan.num_gpu_blocks * plan.bytes_per_block,
        enough=amount(plan, max_num_seqs, budget),
        one_more=amount(plan, fits + 1, budget),
        max_model_len_for_all=longest_for(plan, stages, limits, max_num_seqs),
    )


def amount(plan: CachePlan, requests: int, budget: Budget | None = None) -> Amount:
    """Memory in which so many requests of max_model_len run at once without preemption."""
    at_least("requests", requests, 1)
    blocks = requests * plan.blocks_per_request + _NULL_BLOCK
    size = blocks * plan.bytes_per_block
    return Amount(requests, blocks, size, None if budget is None else utilization_for(size, budget))


def utilization_for(kv_bytes: int, budget: Budget) -> float:
    """--gpu-memory-utilization that leaves so much for the cache: (everything else + cache) / card, rounded up.

    Everything else is the budget's expected value. Above 1 the card cannot give it.
    """
    beside = budget.requested_bytes - budget.available.expected
    return ceil(_UTILIZATION_STEPS * (beside + kv_bytes) / budget.total_bytes) / _UTILIZATION_STEPS


def longest_for(plan: CachePlan, stages: Sequence[Stage], limits: Limits, requests: int) -> int:
    """The longest max_model_len, at most the plan's, at which so many requests fit in the plan's blocks; 0: none."""
    low, high = 0, plan.max_model_len + 1
    while high - low > 1:
        length = (low + high) // 2
        needed = requests * blocks_of_one(plan, stages, limits, length) + _NULL_BLOCK
        low, high = (length, high) if needed <= plan.num_gpu_blocks else (low, length)
    return low


def blocks_of_one(plan: CachePlan | CacheLayout, stages: Sequence[Stage], limits: Limits, max_model_len: int) -> int:
    """Blocks reserved for one request when max_model_len is that long. Of a plan made with the same stages."""
    if _sum_of_groups(plan, limits, plan.max_model_len) == plan.blocks_per_request:
        return _sum_of_groups(plan, limits, max_model_len)
    # DeepSeek-V4's packed layout counts differently: it is planned again, with room for one request.
    shorter = replace(limits, max_model_len=max_model_len, auto_fit=False, num_gpu_blocks_override=None)
    return plan_cache(stages, [_PLENTY] * len(stages), shorter).blocks_per_request


def _sum_of_groups(plan: CachePlan | CacheLayout, limits: Limits, max_model_len: int) -> int:
    specs = (spec_of(group.spec) for group in plan.groups)
    return sum(request_blocks(spec, max_model_len, limits) for spec in specs if spec is not None)
