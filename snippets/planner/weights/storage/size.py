"""A sum of parameters and of the bytes they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """`parameters` are the model's own numbers; scales and zero points count in `num_bytes` only."""

    parameters: int = 0
    num_bytes: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.parameters + other.parameters, self.num_bytes + other.num_bytes)

    def __mul__(self, times: int) -> Size:
        return Size(self.parameters * times, self.num_bytes * times)


NOTHING = Size()


def vector(length: int, bytes_each: int) -> Size:
    """Norms, biases and other numbers that are never quantised."""
    return Size(length, length * bytes_each)


def total(sizes: Sequence[Size]) -> Size:
    """The sum of several."""
    return Size(sum(size.parameters for size in sizes), sum(size.num_bytes for size in sizes))
