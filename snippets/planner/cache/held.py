"""What one request holds right now, at length n: the block ids in its tables, and the bytes they take on one rank.

Not what is reserved to admit it (`CachePlan.needed_bytes`, `CacheGroup.blocks_per_request`), and not what the log
prints. All n tokens are computed and no step is in flight; what a window or chunk has passed is given back
(v1/core/single_type_kv_cache_manager.py, allocate_new_blocks and remove_skipped_blocks of each manager). A block id
takes a row in the pool of every layer of the largest group, hence `bytes_per_block` whichever group it is of.
"""

from __future__ import annotations

from snippets.planner.cache.needs import cdiv
from snippets.planner.specs import CacheGroup, CacheLayout, CachePlan, Limits


def held_blocks(group: CacheGroup, limits: Limits, num_tokens: int) -> int:
    """Blocks of one group that a request of `num_tokens` computed tokens holds; 0 tokens hold none."""
    spec = group.spec
    if num_tokens < 1:
        return 0
    if spec.kind == "mamba":
        return 1 + spec.num_speculative_blocks  # in every cache mode: older states are given back
    block = tokens_per_block(group, limits)
    if spec.kind == "cross":
        return cdiv(limits.max_num_encoder_input_tokens, block)
    return cdiv(num_tokens, block) - min(_skipped_tokens(group, num_tokens) // block, cdiv(num_tokens, block))


def _skipped_tokens(group: CacheGroup, num_tokens: int) -> int:
    """Tokens that the next one no longer looks at (get_num_skipped_tokens)."""
    spec = group.spec
    if spec.kind in ("sliding", "sliding_mla"):
        return max(0, num_tokens - spec.sliding_window + 1)
    if spec.kind == "chunked":
        return num_tokens // spec.attention_chunk_size * spec.attention_chunk_size
    return 0


def tokens_per_block(group: CacheGroup, limits: Limits) -> int:
    """Tokens of a request that one block id stands for: decode context parallel ranks share them out, not states."""
    return group.block_size * (1 if group.spec.kind == "mamba" else limits.decode_context_parallel_size)


def held_bytes(plan: CachePlan | CacheLayout, limits: Limits, num_tokens: int) -> int:
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


def marginal_bytes_per_token(plan: CachePlan | CacheLayout, limits: Limits) -> float:
    """Bytes per further token at full context, on average over a block: only groups that still grow there count."""
    return sum(
        (
            plan.bytes_per_block / tokens_per_block(group, limits)
            for group in plan.groups
            if grows(group, plan.max_model_len)
        ),
        0.0,
    )


def fixed_bytes(plan: CachePlan | CacheLayout, limits: Limits) -> int:
    """Bytes at full context that no further token adds to: windows, chunks, states, encoder."""
    still = (
        held_blocks(group, limits, plan.max_model_len) for group in plan.groups if not grows(group, plan.max_model_len)
    )
    return plan.bytes_per_block * sum(still)
