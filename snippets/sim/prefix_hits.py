"""How many tokens of each prompt prefix caching finds, to the token, before a prompt is sent.

vLLM 0.26.0 keeps full blocks only and names each by its tokens and the block before it (v1/core/kv_cache_utils.py,
`hash_block_tokens`), so a block is found only where everything before it is equal too. The last token is always
computed again, for its logits: at most `num_tokens - 1` tokens are found, in whole blocks (v1/core/kv_cache_manager.py,
`get_computed_blocks`). A prompt's blocks count as kept from the step that computes them, so prompts that come together
find each other's.

Assumed: full attention in every layer, nothing kept at the start and nothing given up on the way, room for every prompt
when it comes (one that has to wait for blocks is counted in `vllm:prefix_cache_queries` again at each try), and prompts
that continue no earlier answer. For other layers: `planner/answers/prefix_reuse.py`.
"""

from __future__ import annotations

from collections.abc import Sequence


def predicted_hits(prompts: Sequence[Sequence[int]], block_size: int) -> list[int]:
    """Tokens of each prompt that are found, for prompts of token ids in the order they come."""
    kept: dict[tuple[int, tuple[int, ...]], int] = {}  # the block before (0: none) and its tokens → the block
    hits = []
    for prompt in prompts:
        before, found = 0, 0
        for end in range(block_size, len(prompt) + 1, block_size):
            block = (before, tuple(prompt[end - block_size : end]))
            if block in kept and end < len(prompt):
                found = end
            before = kept.setdefault(block, len(kept) + 1)  # a new one: nothing behind it can be kept
        hits.append(found)
    return hits


def shared_tokens(one: Sequence[int], other: Sequence[int]) -> int:
    """Tokens at which two prompts begin alike."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
