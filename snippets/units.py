"""Units and the one way numbers are printed: KiB, MiB, GiB are powers of two, KB, MB, GB powers of ten."""

from __future__ import annotations

from math import floor, log10

KIB, MIB, GIB = 2**10, 2**20, 2**30
MB, GB, TB = 10**6, 10**9, 10**12


def count(n: float, digits: int = 0) -> str:
    """A number with thousands commas: 57,344."""
    return f"{n:,.{digits}f}"


def exact_enough(n: float) -> str:
    """A number of any size with two digits that count: 14, 37.04, 0.50, 0.001. Never a zero that is none."""
    if float(n).is_integer():
        return count(n)
    if abs(n) >= 0.01:
        return count(n, 2)
    return f"{n:.{1 - floor(log10(abs(n)))}f}".rstrip("0")


def quantity(n: float, unit: str) -> str:
    """A number with its unit: "37.04 sequences", "1 token"."""
    return f"{exact_enough(n)} {unit.removesuffix('s') if n == 1 else unit}".strip()


def _in(n: float, size: int, unit: str, digits: int) -> str:
    return f"{n / size:,.{digits}f} {unit}"


def kib(n: float, digits: int = 0) -> str:
    """Bytes as KiB: 56 KiB."""
    return _in(n, KIB, "KiB", digits)


def mib(n: float, digits: int = 0) -> str:
    """Bytes as MiB."""
    return _in(n, MIB, "MiB", digits)


def gib(n: float, digits: int = 2) -> str:
    """Bytes as GiB = 2**30 bytes, the unit of vLLM's log: 14.19 GiB."""
    return _in(n, GIB, "GiB", digits)


def gb(n: float, digits: int = 2) -> str:
    """Bytes as GB = 10**9 bytes, the unit of a model card: 15.23 GB."""
    return _in(n, GB, "GB", digits)


def percent(share: float, digits: int = 0) -> str:
    """A share of one as a percentage: 0.25 is 25 %."""
    return f"{100 * share:.{digits}f} %"


def times(ratio: float, digits: int = 0) -> str:
    """A ratio: 7×."""
    return f"{ratio:,.{digits}f}×"


def milliseconds(seconds: float, digits: int = 1) -> str:
    """Seconds as milliseconds: 14.0 ms."""
    return f"{1000 * seconds:,.{digits}f} ms"


def short_tokens(n: int) -> str:
    """A token count as an axis label in powers of two: 1k is 1,024, 1M is 1,048,576."""
    if n >= MIB and n % MIB == 0:
        return f"{n // MIB}M"
    return f"{n // KIB}k" if n >= KIB and n % KIB == 0 else f"{n}"
