"""What a request takes as it grows, and what FP8 KV saves at each length.

Two numbers describe a request better than an average per token: bytes that are taken whatever its length (windows that
are full, recurrent states), and bytes for each further token. Bytes are of one rank of the fullest pipeline stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from snippets.planner.answers.asked import at_least
from snippets.planner.answers.right_size import blocks_of_one
from snippets.planner.cache.held import fixed_bytes, held_bytes, marginal_bytes_per_token
from snippets.planner.resolved import Resolved
from snippets.planner.specs import CacheLayout, CachePlan

POINTS = 48  # a drawing needs no more


@dataclass(frozen=True)
class Point:
    """A request of so many tokens."""

    tokens: int
    held_bytes: int  # what it holds now
    reserved_bytes: int  # what vLLM reserves to admit it when max_model_len is that long


@dataclass(frozen=True)
class LengthCurve:
    """Bytes against length, up to max_model_len."""

    fixed_bytes: int  # at max_model_len no further token adds to these
    bytes_per_token: float  # each further token at max_model_len, averaged over a block
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Gain:
    """One length, with the KV cache as it is and in FP8."""

    tokens: int
    held: float  # times fewer bytes are held: 2.0 is half
    reserved: float  # times fewer bytes are reserved at that max_model_len
    requests: float  # times more requests of that length fit in the same memory


def length_curve(plan: CachePlan | CacheLayout, resolved: Resolved, lengths: Sequence[int] = ()) -> LengthCurve:
    """Held and reserved bytes at the given lengths, or at lengths spread evenly up to max_model_len."""
    return LengthCurve(
        fixed_bytes=fixed_bytes(plan, resolved.limits),
        bytes_per_token=marginal_bytes_per_token(plan, resolved.limits),
        points=tuple(_point(plan, resolved, tokens) for tokens in lengths or spread(plan.max_model_len)),
    )


def spread(max_model_len: int, points: int = POINTS) -> tuple[int, ...]:
    """Lengths from 1 to max_model_len, evenly."""
    steps = min(points - 1, max_model_len)
    return (1, *(max_model_len * i // steps for i in range(1, steps + 1) if max_model_len * i // steps > 1))


def fp8_gain(
    plan: CachePlan, resolved: Resolved, fp8_plan: CachePlan, fp8_resolved: Resolved, lengths: Sequence[int] = ()
) -> tuple[Gain, ...]:
    """What FP8 KV gains, from two plans that differ in kv_cache_dtype only and have the same memory."""
    found = []
    for tokens in lengths or spread(plan.max_model_len):
        at_least("lengths", tokens, 1)
        now, fp8 = _point(plan, resolved, tokens), _point(fp8_plan, fp8_resolved, tokens)
        found.append(
            Gain(
                tokens=tokens,
                held=now.held_bytes / fp8.held_bytes,
                reserved=now.reserved_bytes / fp8.reserved_bytes,
                requests=_requests(fp8_plan, fp8) / _requests(plan, now),
            )
        )
    return tuple(found)


def _requests(plan: CachePlan, point: Point) -> float:
    return plan.num_gpu_blocks * plan.bytes_per_block / point.held_bytes


def _point(plan: CachePlan | CacheLayout, resolved: Resolved, tokens: int) -> Point:
    limits = replace(resolved.limits, max_model_len=plan.max_model_len)
    reserved = blocks_of_one(plan, resolved.stages, limits, tokens) * plan.bytes_per_block
    return Point(tokens, held_bytes(plan, limits, tokens), reserved)
