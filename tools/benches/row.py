"""A line of the table: what was measured, beside what it is measured against and what it has to reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Row:
    """One figure. `most` and `least` bound the value, `most_ratio` bounds it as a share of the yardstick."""

    what: str
    value: float
    unit: str
    samples: int
    beside: str = ""
    yardstick: float | None = None
    most: float | None = None
    least: float | None = None
    most_ratio: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Value over yardstick."""
        return self.value / self.yardstick if self.yardstick else None

    @property
    def is_met(self) -> bool | None:
        """Whether it reaches all that it has to; None where nothing is asked."""
        if self.most is self.least is self.most_ratio is None:
            return None
        ratio = self.ratio
        return (
            (self.most is None or self.value <= self.most)
            and (self.least is None or self.value >= self.least)
            and (self.most_ratio is None or (ratio is not None and ratio <= self.most_ratio))
        )

    @property
    def target(self) -> str:
        """What is asked, in words."""
        asked = []
        if self.most is not None:
            asked.append(f"at most {number(self.most, self.unit)}")
        if self.least is not None:
            asked.append(f"at least {number(self.least, self.unit)}")
        if self.most_ratio is not None:
            asked.append(f"at most {self.most_ratio:g} of it")
        return ", ".join(asked)

    def as_json(self) -> dict[str, Any]:
        """As it stands in bench/latest.json."""
        return asdict(self)


def number(value: float, unit: str) -> str:
    """A value with its unit, to three digits."""
    if unit == "bytes":
        return f"{value:,.0f} bytes"
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f} {unit}".strip()


def middle(values: Sequence[float]) -> float:
    """The median."""
    return float(median(values))


def p95(values: Sequence[float]) -> float:
    """The smallest value that 95 in 100 of all values do not exceed."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]
