"""Scales: where a value stands on an axis, which values are worth a tick, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2, log10, pow

from snippets.units import GIB, KIB, MIB, count

MOST_TICKS = 6


@dataclass(frozen=True)
class Linear:
    """Equal differences are equally long: `low` stands at px `start`, `high` at px `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The px of a value."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True)
class Log2:
    """Every doubling is equally long. Values are above zero."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The px of a value."""
        return self.start + log2(value / self.low) / log2(self.high / self.low) * (self.end - self.start)

    def value(self, px: float) -> float:
        """The value that stands at a px."""
        return self.low * pow(self.high / self.low, (px - self.start) / (self.end - self.start))


def nice_step(span: float, most: int) -> float:
    """The smallest 1, 2 or 5 times a power of ten of which at most `most` fit into a span."""
    if span <= 0 or most < 1:
        raise ValueError(f"a span of {span} cannot be cut into at most {most} steps; both must be above 0")
    power = 10.0 ** floor(log10(span / most))
    for step in (1, 2, 5, 10, 20):
        if floor(span / (step * power) * (1 + 1e-12)) <= most:
            return step * power
    raise AssertionError("20 times the power of ten below span / most is always long enough")


def linear_ticks(high: float, most: int = MOST_TICKS) -> tuple[float, ...]:
    """Zero and the nice multiples up to `high`, at most `most` in all."""
    step = nice_step(high, most - 1)
    return tuple(n * step for n in range(floor(high / step * (1 + 1e-12)) + 1))


def token_ticks(low: int, high: int, most: int = MOST_TICKS) -> tuple[int, ...]:
    """Powers of two from `low` (itself one) to at most `high`, equally far apart, at most `most`."""
    doublings = floor(log2(high / low))
    apart = max(1, ceil(doublings / (most - 1)))
    # An axis that ends on a tick reads more easily, if that costs no more than one tick.
    apart = next((n for n in (apart, apart + 1) if doublings % n == 0), apart)
    return tuple(low * 2**n for n in range(0, doublings + 1, apart))


def tick_text(value: float, step: float) -> str:
    """A tick with as many decimals as the step between ticks has."""
    return count(value, max(0, -floor(log10(step) + 1e-9)))


def memory_text(bytes_: float) -> str:
    """Bytes with about three figures, whole ones without decimals: 131.4 GiB, 20 GiB, 5.19 GiB, 64 MiB. Never GB."""
    size, unit = next(
        ((size, unit) for size, unit in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")) if bytes_ >= size),
        (1, "B"),
    )
    if MIB < bytes_ < GIB and bytes_ >= GIB / 10:
        size, unit = GIB, "GiB"
    n = bytes_ / size
    digits = 0 if n == round(n) or n >= 1000 else 1 if n >= 20 else 2
    return f"{count(n, digits)} {unit}"


def memory_column(sizes: Sequence[float]) -> tuple[str, ...]:
    """Bytes of one column in one unit, that of the largest, with decimals until the smallest shows two figures."""
    largest = max(sizes, default=0)
    size, unit = next(
        ((size, unit) for size, unit in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")) if largest >= size), (1, "B")
    )
    smallest = min((n / size for n in sizes if n > 0), default=1.0)
    digits = next((digits for digits in (2, 3, 4) if smallest >= 10 ** (1 - digits)), 5)
    digits = 0 if all(n % size == 0 for n in sizes) else digits
    return tuple(f"{count(n / size, digits)} {unit}" for n in sizes)


def ratio_text(ratio: float) -> str:
    """A ratio with two decimals, more for small ones, none from 100 on: 0.15, 7.06, 0.007, 1,024."""
    if ratio >= 100:
        return count(ratio)
    return next((count(ratio, digits) for digits in (2, 3, 4) if ratio >= 10**-digits), "under 0.0001")
