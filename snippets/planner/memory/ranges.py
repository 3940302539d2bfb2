"""The three parts as ranges, and their sum: what start-up logs of the same kind leave open."""

from __future__ import annotations

from snippets.planner.estimate import Range
from snippets.planner.memory.coefficients import Spread, coefficients
from snippets.planner.memory.parts import parts
from snippets.planner.memory.profile_run import ProfileRun

ERA = "v1"  # logs of 0.17 to 0.26
WIDER = 1.2  # few of them are of 0.26 itself: both ends move out once more


def part_ranges(run: ProfileRun, kind: str) -> tuple[Range, Range, Range]:
    """Activation peak, memory outside PyTorch and CUDA graphs of one rank on a `kind` of card (parts.card_kind)."""
    expected, spread = parts(run, coefficients(), kind), stated_spread()
    return (
        around(expected.activation, spread),
        around(expected.non_torch, spread),
        around(expected.cuda_graphs, spread),
    )


def other_memory(run: ProfileRun, kind: str) -> Range:
    """All that is neither weights nor KV cache: the three together."""
    ranges = part_ranges(run, kind)
    return Range(
        low=sum(part.low for part in ranges),
        expected=sum(part.expected for part in ranges),
        high=sum(part.high for part in ranges),
    )


def stated_spread() -> Spread:
    """Ends of the range as shares of the expected value."""
    fitted = coefficients().spread[ERA]
    return Spread(low=fitted.low / WIDER, high=fitted.high * WIDER)


def around(expected: int, spread: Spread) -> Range:
    """A range of bytes."""
    return Range(low=round(expected * spread.low), expected=expected, high=round(expected * spread.high))
