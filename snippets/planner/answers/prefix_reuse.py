"""How much of a prompt prefix caching can reuse when its beginning is in the cache already.

vLLM 0.26.0 reuses whole blocks, and never the whole prompt: the last token is computed again, for its logits
(v1/core/kv_cache_manager.py get_computed_blocks). With several groups a reuse must end where every group has a block's
end (resolve_kv_cache_block_sizes, HybridKVCacheCoordinator.find_longest_cache_hit). A drafter that reads the model's
hidden states needs the last block found to be computed again, so that block is dropped.

Assumed: everything before is still in the cache. Recurrent states ("align") are kept only where a chunk of a prefill
ended, so two prompts that differ early reuse from the third one on, and the figures here are the most that can be.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, lcm
from typing import Literal, NamedTuple

from snippets.planner.answers.asked import at_least
from snippets.planner.engine_args import SpeculativeConfig
from snippets.planner.specs import CacheLayout, CachePlan, LayerSpec

Lookup = Literal["full", "sliding", "mamba"]

# config/speculative.py use_eagle
HIDDEN_STATE_DRAFTERS = ("eagle", "eagle3", "mtp", "dflash", "dspark")
_FULL_KINDS = ("full", "mla", "turboquant")


class Group(NamedTuple):
    """How one cache group is searched."""

    lookup: Lookup
    block_size: int  # tokens that one block id stands for: block_size * dcp with attention
    window: int = 0  # tokens; sliding only


@dataclass(frozen=True)
class PrefixReuse:
    """What prefix caching works with. Sizes in tokens."""

    enabled: bool
    groups: tuple[Group, ...]  # unlike ones
    scheduler_block_size: int
    hash_block_size: int
    alignment: int  # a reuse ends at a multiple of it
    drops_last_block: bool  # a drafter needs it computed again
    states_at_chunk_ends: bool  # recurrent states are kept only where a prefill chunk ended

    @property
    def smallest_prefix(self) -> int:
        """Tokens two prompts must share at least before anything is reused; 0 when nothing ever is."""
        if not self.enabled:
            return 0
        steps = range(self.hash_block_size, 4 * self.scheduler_block_size + 1, self.hash_block_size)
        return next((n for n in steps if self.reused(n, n + 1)), 0)

    def reused(self, shared_tokens: int, prompt_tokens: int) -> int:
        """Tokens taken from the cache when the first `shared_tokens` of a prompt were computed before."""
        at_least("shared_tokens", shared_tokens, 0)
        at_least("prompt_tokens", prompt_tokens, 1)
        if not self.enabled:
            return 0
        return _longest_hit(self, min(shared_tokens, prompt_tokens - 1))

    def cached_tokens(self, prompt_tokens: int) -> int:
        """Tokens taken from the cache when the very same prompt comes again."""
        return self.reused(prompt_tokens, prompt_tokens)


def prefix_reuse(
    plan: CachePlan | CacheLayout,
    *,
    enable_prefix_caching: bool,
    cache_block_size: int,
    decode_context_parallel_size: int = 1,
    speculative: SpeculativeConfig | None = None,
) -> PrefixReuse:
    """What can be reused under a plan; `cache_block_size` is cache_config.block_size (Resolved.block_size)."""
    dcp = decode_context_parallel_size
    specs = [group.spec for group in plan.groups]
    sizes = [group.block_size * (1 if group.spec.kind == "mamba" else dcp) for group in plan.groups]
    if len(plan.groups) <= 1:
        scheduler = hashed = cache_block_size * dcp
    else:
        scheduler = lcm(*sizes)
        odd_state = any(
            spec.kind == "mamba" and size != cache_block_size for spec, size in zip(specs, sizes, strict=True)
        )
        hashed = gcd(*sizes) if enable_prefix_caching and not odd_state else scheduler
    aligned_states = any(spec.kind == "mamba" and spec.mamba_cache_mode == "align" for spec in specs)
    partial = dcp == 1 and any(
        spec.kind == "mamba" and spec.mamba_cache_mode == "align" and size > hashed
        for spec, size in zip(specs, sizes, strict=True)
    )
    unlike = dict.fromkeys(
        Group(_lookup(spec), size, spec.sliding_window) for spec, size in zip(specs, sizes, strict=True)
    )
    return PrefixReuse(
        enabled=enable_prefix_caching and bool(plan.groups),
        groups=tuple(sorted(unlike, key=lambda group: group.lookup != "full")),  # full attention is asked first
        scheduler_block_size=scheduler,
        hash_block_size=hashed,
        alignment=hashed if partial else scheduler,
        drops_last_block=speculative is not None and speculative.method in HIDDEN_STATE_DRAFTERS,
        states_at_chunk_ends=aligned_states,
    )


def cdiv(a: int, b: int) -> int:
    """a / b, rounded up; vLLM's name."""
    return -(-a // b)


def _lookup(spec: LayerSpec) -> Lookup:
    if spec.kind == "mamba":
        return "mamba"
    return "full" if spec.kind in _FULL_KINDS else "sliding"  # chunked looks up like a window here: all is cached


def _longest_hit(reuse: PrefixReuse, max_length: int) -> int:
    """HybridKVCacheCoordinator.find_longest_cache_hit with every block of the first `max_length` tokens cached."""
    if reuse.alignment < reuse.scheduler_block_size:  # partial hits: whole blocks, or the last hash boundary before
        return max(max_length // reuse.alignment - reuse.drops_last_block, 0) * reuse.alignment
    verified: set[int] = set()
    full_hit: int | None = None
    hit = max_length
    while True:
        current = hit
        for i, group in enumerate(reuse.groups):
            lookup, size = group.lookup, group.block_size
            if lookup == "full" and full_hit is not None and len(reuse.groups) > 1:
                current = min(current, full_hit)
                continue
            drop = reuse.drops_last_block and i not in verified
            within = min(current + size, max_length) if drop and lookup != "mamba" else current
            found = _group_hit(group, within, drop, reuse.alignment)
            if drop:
                verified.add(i)
            elif found < current:
                verified.clear()
            current = found
            if lookup == "full":
                full_hit = found
        if current >= hit or len(reuse.groups) == 1:
            return current
        hit = current
        if len(reuse.groups) == 2 and reuse.groups[0].lookup == "full":
            return current


def _group_hit(group: Group, max_length: int, drop: bool, alignment: int) -> int:
    """What one group finds (find_longest_cache_hit of the managers in v1/core/single_type_kv_cache_manager.py)."""
    size = group.block_size
    blocks, per_alignment = max_length // size, max(alignment // size, 1)
    if group.lookup == "full":
        hit = blocks * size - (min(alignment, size) if drop and blocks else 0)
        return hit - hit % alignment
    if not drop or group.lookup == "mamba":
        return blocks // per_alignment * per_alignment * size
    kept = max(blocks - 1, 0) // per_alignment * per_alignment
    window_blocks = cdiv(group.window - 1, size) + 1  # that must lie in a row, and the one to drop
    if kept and kept + 1 < window_blocks and per_alignment > 1:
        kept -= per_alignment  # shorter than the window: cut to the alignment, dropped, and cut again
    return kept * size
