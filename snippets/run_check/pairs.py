"""What a lab set side by side itself, as cells of a table."""

from __future__ import annotations

from math import isfinite

from snippets.run_check.run import Pair, Value
from snippets.units import GIB, gib

WORDS = {"yes": "equal", "no": "differs", "none": "–", "to": " to "}
MOST_CHARACTERS = 60


def shown(value: Value | tuple[Value, ...]) -> str:
    """A value with as many digits as it needs; a range as "low to high"."""
    if isinstance(value, tuple):
        return WORDS["to"].join(dict.fromkeys(map(shown, value[:2])))
    if value is None:
        return WORDS["none"]
    if isinstance(value, bool | str):
        return str(value)[:MOST_CHARACTERS]
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**18 else f"{value:.3e}" if abs(value) < 10**300 else WORDS["none"]
    if not isfinite(value):
        return WORDS["none"]
    if value == int(value) and abs(value) < 10**15:
        return f"{int(value):,}"
    return f"{value:,.2f}" if 0.1 <= abs(value) < 10**12 else f"{value:.3g}"


def cells(pair: Pair) -> tuple[str, str, str, str]:
    """Name, predicted, measured, what became of it."""
    became = "" if pair.equal is None else WORDS["yes" if pair.equal else "no"]
    return pair.name, _with_unit(pair.predicted, pair.unit), _with_unit(pair.measured, pair.unit), became


def _with_unit(value: Value | tuple[Value, ...], unit: str) -> str:
    ends = value[:2] if isinstance(value, tuple) else (value,)
    if unit == "bytes" and all(isinstance(end, int | float) and GIB / 100 <= abs(end) < 10**18 for end in ends):
        sizes = dict.fromkeys(gib(float(end or 0)) for end in ends)
        return WORDS["to"].join(sizes).replace(" GiB to", " to")
    return f"{shown(value)} {unit}".strip()
