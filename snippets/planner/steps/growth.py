"""What one more token costs a request: at full context only some groups still grow."""

from __future__ import annotations

from snippets.planner.specs import CacheGroup, CachePlan, Limits


def bytes_per_token(cache: CachePlan, limits: Limits) -> int:
    """Bytes on one rank that a further token adds to a request of max_model_len, averaged over a block.

    Windows that are full, recurrent states and encoder states add nothing. Of a pipeline, the stage that adds most.
    Padding layers are not counted.
    """
    growing = [group for group in cache.groups if grows(group, cache.max_model_len, limits)]
    if not growing:
        return 0
    stages = range(len(growing[0].layers_per_stage))
    return max(round(sum(_slope(group, stage, limits) for group in growing)) for stage in stages)


def grows(group: CacheGroup, num_tokens: int, limits: Limits) -> bool:
    """Whether the group takes further blocks when a request of so many tokens goes on."""
    spec = group.spec
    if spec.kind in {"sliding", "sliding_mla"}:
        return num_tokens < spec.sliding_window
    if spec.kind == "chunked":
        return num_tokens < spec.attention_chunk_size
    if spec.kind == "mamba":
        return limits.mamba_cache_mode == "all"
    return spec.kind in {"full", "mla", "turboquant"}


def _slope(group: CacheGroup, stage: int, limits: Limits) -> float:
    if group.members:  # layers with unequal pages: the group's page holds one of each
        layers, page = 1, group.page_size_per_stage[stage]
    else:
        layers, page = group.layers_per_stage[stage], group.page_size_bytes
    return layers * page / (group.block_size * limits.decode_context_parallel_size)
