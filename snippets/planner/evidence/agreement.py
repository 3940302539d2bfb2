"""Planner against log: for the printed memory, is every printed figure one that vLLM's arithmetic gives?

The log prints memory to 0.01 GiB, so the true value lies half of that either side. The planner is asked at both ends; a
printed figure agrees when it lies between the two answers, to the digits it is printed with.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

from snippets.planner.evidence.logs import Layout, Log, layouts, logs, published
from snippets.planner.evidence.predict import Figures, Server, predict, server_of, with_blocks
from snippets.units import GIB

HALF_OF_LAST_DIGIT = 0.005  # GiB, and of a concurrency
OPTIMISTIC = 0.01  # a promise of memory that is not there, beyond this share

Status = Literal[
    "agrees", "differs", "exception", "consistent", "no memory printed", "nothing to compare", "layout not known"
]
COMPARABLE: tuple[Status, ...] = ("agrees", "differs", "exception")
_MANY_BLOCKS = 10**6
_ROUNDED_AWAY = 16  # blocks that a token line may hide: it divides them among the groups
_FIGURES = ("kv_tokens", "gpu_blocks", "max_concurrency", "error_estimated_max_len", "error_kv_tokens")


@dataclass(frozen=True)
class Agreement:
    """One log beside the planner."""

    log: Log
    layout: Layout
    status: Status
    compared: tuple[str, ...] = ()  # names of the printed figures
    deviation: float | None = None  # planner / log - 1 at the memory as printed; positive promises more
    expected: Figures | None = None  # at the memory as printed

    @property
    def is_optimistic(self) -> bool:
        """Promises over 1 % more than there was."""
        return self.deviation is not None and self.deviation > OPTIMISTIC


@cache
def agreements() -> tuple[Agreement, ...]:
    """Every log of the collection."""
    return tuple(compare(log, layouts()[log.id]) for log in logs())


@cache
def published_agreements() -> tuple[Agreement, ...]:
    """Every single figure from elsewhere."""
    return tuple(compare(log, layouts()[log.id]) for log in published())


def compare(log: Log, layout: Layout) -> Agreement:
    """One log."""
    if layout.unknown:
        return Agreement(log, layout, "layout not known")
    printed_gib = layout.available_gib if layout.available_gib is not None else log.printed.get("available_kv_gib")
    server = server_of(log, layout)
    if printed_gib is None:
        return _without_memory(log, layout, server)
    per_stage = layout.available_gib_per_stage or (float(printed_gib),) * len(server.stages)
    low, middle, high = (
        predict(server, [int((gib + shift) * GIB) for gib in per_stage])
        for shift in (-HALF_OF_LAST_DIGIT, 0.0, HALF_OF_LAST_DIGIT)
    )
    checks = {name: _between(name, low, log, high) for name in _FIGURES if name in log.printed}
    if "error_needed_gib" in log.printed:
        needed = (middle.error_needed_bytes or 0) / GIB
        checks["error_needed_gib"] = abs(needed - log.printed["error_needed_gib"]) <= HALF_OF_LAST_DIGIT + 1e-9
    if layout.settings.get("refused"):
        checks["refused"] = high.error_needed_bytes is not None
    if not checks:
        return Agreement(log, layout, "nothing to compare", expected=middle)
    status: Status = "agrees" if all(checks.values()) else "exception" if layout.exception else "differs"
    return Agreement(log, layout, status, tuple(checks), _deviation(middle, log), middle)


def _without_memory(log: Log, layout: Layout, server: Server) -> Agreement:
    """Whether some number of blocks gives all the figures that are printed; it takes two figures to tell."""
    names = tuple(name for name in _FIGURES if name in log.printed)
    if "max_concurrency" not in names or len(names) < 2:
        return Agreement(log, layout, "no memory printed")
    if "gpu_blocks" in names:
        about = int(log.printed["gpu_blocks"])
    else:
        about = round(log.printed["kv_tokens"] * _MANY_BLOCKS / (with_blocks(server, _MANY_BLOCKS).kv_tokens or 1))
    tried = (with_blocks(server, about + shift) for shift in range(-_ROUNDED_AWAY, _ROUNDED_AWAY + 1))
    for figures in tried:
        if all(_between(name, figures, log, figures) for name in names):
            return Agreement(log, layout, "consistent", names, expected=figures)
    return Agreement(log, layout, "differs", names)


def _between(name: str, low: Figures, log: Log, high: Figures) -> bool:
    least, most = getattr(low, name), getattr(high, name)
    if least is None or most is None:
        return False
    slack = HALF_OF_LAST_DIGIT + 1e-9 if name == "max_concurrency" else 0
    return bool(least - slack <= log.printed[name] <= most + slack)


def _deviation(middle: Figures, log: Log) -> float | None:
    for name in ("kv_tokens", "gpu_blocks", "error_estimated_max_len", "error_kv_tokens", "max_concurrency"):
        if name in log.printed and getattr(middle, name) is not None:
            return float(getattr(middle, name) / log.printed[name] - 1)
    if "error_needed_gib" in log.printed and middle.error_needed_bytes:
        return float(log.printed["error_needed_gib"] * GIB / middle.error_needed_bytes - 1)
    return None
