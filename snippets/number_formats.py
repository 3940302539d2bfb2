"""Floating-point formats of a KV cache: how far storing a number can move it.

A number is kept as a leading 1 and `mantissa_bits` bits behind it, times a power of two, and rounded to the nearest
such number. The worst case lies halfway between two neighbours just above a power of two: half a step of
2^-mantissa_bits from 1 + half that step. It holds between the smallest normal number and the largest one; below, steps
stay as wide as they are, so small numbers move by more of themselves, and above, numbers are cut off.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FloatFormat:
    """A format without its sign and special values."""

    name: str
    mantissa_bits: int  # behind the leading one
    smallest_normal: float
    largest: float


# OCP 8-bit floating point specification (OFP8), table 1: E4M3 has no infinity, so its largest is 1.75 × 2^8.
E4M3 = FloatFormat("FP8 E4M3", mantissa_bits=3, smallest_normal=2.0**-6, largest=448.0)
E5M2 = FloatFormat("FP8 E5M2", mantissa_bits=2, smallest_normal=2.0**-14, largest=57_344.0)
# bfloat16 is the upper half of an IEEE 754 single: 8 exponent bits, 7 mantissa bits.
BF16 = FloatFormat("BF16", mantissa_bits=7, smallest_normal=2.0**-126, largest=(2 - 2**-7) * 2.0**127)


def largest_move(kept_as: FloatFormat) -> float:
    """The largest share of itself that a normal number is moved by when it is stored."""
    half_a_step = 2.0 ** -(kept_as.mantissa_bits + 1)
    return half_a_step / (1 + half_a_step)
