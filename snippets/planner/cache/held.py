"""What one request holds right now, at length n: the block ids in its tables, and the bytes they take on one rank.

Not what is reserved to admit it (`CachePlan.needed_bytes`, `CacheGroup.blocks_per_request`), and not what the log
prints. All n tokens are computed and no step is in flight; what a window or chunk has passed is given back
(v1/core/single_type_kv_cache_manager.py, allocate_new_blocks and remove_skipped_blocks of each manager). A block id
takes a row in the pool of every layer of the largest group, hence `bytes_per_block` whichever group it is of.
"""

from __future__ import annotations

from snippets.planner.cache.needs import cdiv
from snippets.planner.specs import CacheGroup, CachePlan, Limits


def held_blocks(group: CacheGroup, limits: Limits, num_tokens: int) -> int:
    """Blocks of one group that a request of `num_tokens` computed tokens holds; 0 tokens hold none."""
    spec = group.spec
    if num_tokens < 1:
        return 0
    if spec.kind == "mamba":
        return 1 + spec.num_speculative_blocks  # in every cache mode: older states are given back
    if spec.kind == "cross":
        return cdiv(limits.max_num_encoder_input_tokens, spec.block_size)
    if spec.kind in ("sliding", "sliding_mla"):
        skipped = max(0, num_tokens - spec.sliding_window + 1)
        return cdiv(num_tokens, spec.block_size) - min(skipped // spec.block_size, cdiv(num_tokens, spec.block_size))
    if spec.kind == "chunked":
        skipped = num_tokens // spec.attention_chunk_size * spec.attention_chunk_size
        return cdiv(num_tokens, spec.block_size) - skipped // spec.block_size
    return cdiv(num_tokens, spec.block_size * limits.decode_context_parallel_size)


def held_bytes(plan: CachePlan, limits: Limits, num_tokens: int) -> int:
    """Bytes of the pool that the request takes, on the fullest stage's ranks."""
    return plan.bytes_per_block * sum(held_blocks(group, limits, num_tokens) for group in plan.groups)


def grows(group: CacheGroup, num_tokens: int) -> bool:
    """Whether a request of `num_tokens` still needs more of this group for further tokens."""
    spec = group.spec
    if spec.kind in ("sliding", "sliding_mla"):
        return num_tokens < spec.sliding_window
    if spec.kind == "chunked":
        return num_tokens < spec.attention_chunk_size
    return spec.kind not in ("mamba", "cross")


def marginal_bytes_per_token(plan: CachePlan, limits: Limits) -> float:
    """Bytes per further token at full context, on average over a block: only groups that still grow there count."""
    return sum(
        (plan.bytes_per_block / _tokens_per_block(group, limits) for group in plan.groups if grows(group, _full(plan))),
        0.0,
    )


def fixed_bytes(plan: CachePlan, limits: Limits) -> int:
    """Bytes at full context that no further token adds to: windows, chunks, states, encoder."""
    still = (held_blocks(group, limits, _full(plan)) for group in plan.groups if not grows(group, _full(plan)))
    return plan.bytes_per_block * sum(still)


def _full(plan: CachePlan) -> int:
    return plan.max_model_len


def _tokens_per_block(group: CacheGroup, limits: Limits) -> int:
    sharded = group.spec.kind in ("full", "mla", "turboquant")
    return group.block_size * (limits.decode_context_parallel_size if sharded else 1)
