"""Whether vLLM starts at all beside other programs: its check of free memory, in its words (v1/worker/utils.py:425)."""

from __future__ import annotations

from math import ceil

from snippets.planner.budget import requested_bytes
from snippets.units import GIB

# vLLM looks when its CUDA context stands already (v1/worker/gpu_worker.py:388). Logs of clean cards show 0.4 GiB gone
# (RTX 3090), 0.53 (H100) and 0.6 (H200); the ends here are wider. GiB, by memory.parts.card_kind.
LEAST_USED_GIB = 0.1
MOST_USED_GIB = {"other_one": 0.5, "other_many": 0.75, "sm90_one": 0.75, "sm90_many": 0.75}


def assumed_free(total_bytes: int, kind: str) -> tuple[int, int] | None:
    """(surely free, free at most) at the start on a card that runs nothing else; None where the CPU shares it.

    None also for a size that no card has, below what a context takes.
    """
    most_used = round(MOST_USED_GIB.get(kind, 0) * GIB)
    if not 0 < most_used < total_bytes:
        return None
    return total_bytes - most_used, total_bytes - round(LEAST_USED_GIB * GIB)


def surely_free(total_bytes: int, kind: str = "other_one") -> int:
    """The lower end of `assumed_free`, for a card that has one: by default one card before Hopper."""
    free = assumed_free(total_bytes, kind)
    if free is None:
        raise ValueError(f"{total_bytes} bytes of kind {kind!r}: what is free on such a card is not assumed")
    return free[0]


def log_gib(num_bytes: int) -> str:
    """Bytes as vLLM's log prints them: GiB, two digits, trailing zeros dropped (utils/mem_utils.py `format_gib`)."""
    return str(round(num_bytes / GIB, 2))


def free_memory_error(free_bytes: int, total_bytes: int, utilization: float, device: str = "cuda:0") -> str | None:
    """vLLM's refusal when less is free than it would claim; None when it starts."""
    requested = requested_bytes(total_bytes, utilization)
    if free_bytes >= requested:
        return None
    return (
        f"Free memory on device {device} ({log_gib(free_bytes)}/{log_gib(total_bytes)} GiB) on startup is less than "
        f"desired GPU memory utilization ({utilization}, {log_gib(requested)} GiB). Decrease GPU memory utilization "
        "or reduce GPU memory used by other processes."
    )


def largest_utilization(free_bytes: int, total_bytes: int, digits: int = 2) -> float:
    """The largest utilization of so many digits that passes the check; 0.0 when none does."""
    steps = 10**digits
    share = min(free_bytes * steps // total_bytes, steps)
    while share > 0 and ceil(total_bytes * (share / steps)) > free_bytes:
        share -= 1
    return float(share / steps)
