"""The block size as a result: what it is, why, what it wastes, and what can be reused because of it."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.planner.answers.prefix_reuse import PrefixReuse, prefix_reuse
from snippets.planner.engine_args import SpeculativeConfig
from snippets.planner.resolved import Resolved
from snippets.planner.specs import CacheGroup, CacheLayout, CachePlan

KEEPS_EVERY_TOKEN = ("full", "mla", "turboquant")  # kinds of layers whose blocks grow with the request to its end


@dataclass(frozen=True)
class GroupBlock:
    """One cache group's block."""

    kind: str  # vLLM's class name
    num_layers: int
    tokens: int  # that one block holds for a request: block_size, times dcp with attention
    keeps_every_token: bool
    empty_slots: int  # at most so many tokens of a request's last block are empty; states have no tokens


@dataclass(frozen=True)
class BlockSize:
    """The block size in force."""

    block_size: int  # tokens; cache_config.block_size
    reasons: tuple[str, ...]  # why, with vLLM's source lines (Resolved.reasons)
    groups: tuple[GroupBlock, ...]
    bytes_per_block: int  # one rank, all layers that share it
    mean_waste_bytes: int  # empty part of a request's last blocks, on average, one rank
    reuse: PrefixReuse


def block_size(
    resolved: Resolved, plan: CachePlan | CacheLayout, speculative: SpeculativeConfig | None = None
) -> BlockSize:
    """Everything that follows from the block size of this plan."""
    dcp = resolved.limits.decode_context_parallel_size
    groups = tuple(_group_block(group, dcp) for group in plan.groups)
    # A request is as likely to end in any slot of its last block: (tokens - 1) / 2 of them are empty on average.
    empty = sum((one.tokens - 1) / (2 * one.tokens) for one in groups if one.keeps_every_token)
    return BlockSize(
        block_size=resolved.block_size,
        reasons=tuple(
            resolved.reasons[name] for name in ("attention_backend", "block_size") if name in resolved.reasons
        ),
        groups=groups,
        bytes_per_block=plan.bytes_per_block,
        mean_waste_bytes=round(empty * plan.bytes_per_block),
        reuse=prefix_reuse(
            plan,
            enable_prefix_caching=resolved.enable_prefix_caching,
            cache_block_size=resolved.block_size,
            decode_context_parallel_size=dcp,
            speculative=speculative,
        ),
    )


def tokens_per_block(group: CacheGroup, decode_context_parallel_size: int) -> int:
    """Tokens of a request that one block id of the group stands for (resolve_kv_cache_block_sizes)."""
    return group.block_size * (1 if group.spec.kind == "mamba" else decode_context_parallel_size)


def _group_block(group: CacheGroup, dcp: int) -> GroupBlock:
    tokens = tokens_per_block(group, dcp)
    return GroupBlock(
        kind=group.kind,
        num_layers=group.num_layers,
        tokens=tokens,
        keeps_every_token=group.spec.kind in KEEPS_EVERY_TOKEN,
        empty_slots=0 if group.spec.kind == "mamba" else tokens - 1,
    )
