"""What the widget says about a comparison: names of the parts, and what became of each prediction."""

from __future__ import annotations

from snippets.run_check.compare import Comparison, Row
from snippets.units import GIB, count, gib, percent

NAMES = {
    "weights": "weights",
    "activations": "activations, at the peak",
    "context": "CUDA context and the like",
    "other": "other memory: activations, CUDA context",
    "graphs": "CUDA graphs, as subtracted",
    "cache": "left for the KV cache",
    "blocks": "blocks",
    "tokens": "tokens",
    "concurrency": "maximum concurrency",
    "needed": "one request needs",
    "longest": "longest request that fits",
}
WORDS = {
    "equal": "equal",
    "inside": "inside the range",
    "near": "{off}, {share}",
    "outside": "{off} outside",
    "not told": "not in the text",
    "not predicted": "not predicted",
    "to": "{low} to {high}",
    "none": "–",
}


def amount(value: float | None, unit: str) -> str:
    """A number with its unit."""
    if value is None:
        return WORDS["none"]
    if unit == "bytes":
        return gib(value)
    if unit == "times":
        return f"{count(value, 2)}x"
    return f"{count(value)} {unit}"


def predicted(row: Row) -> str:
    """The prediction: one value, or the ends of a range."""
    if row.low is None or row.high is None:
        return WORDS["none"]
    low, high = amount(row.low, row.unit), amount(row.high, row.unit)
    if low == high:
        return high
    short = f"{row.low / GIB:.2f}" if row.unit == "bytes" else low.partition(" ")[0]
    return WORDS["to"].format(low=short, high=high)


def became(row: Row) -> str:
    """What became of the prediction, in a word or a difference."""
    verdict, off = row.verdict, row.off or 0
    if verdict not in ("near", "outside"):
        return WORDS[verdict]
    shown = f"{'+' if off > 0 else '−'}{amount(abs(off), row.unit)}"
    share = percent(off / row.expected, 1) if row.expected else ""
    return WORDS[verdict].format(off=shown, share=share.replace("-", "−"))


def row_named(comparison: Comparison, name: str) -> Row | None:
    """A row of the memory or of the cache by its name."""
    if name == "cache" and comparison.run.is_cpu:
        return Row("cache", "bytes", None, None, None, comparison.run.available)
    return next((row for row in (*comparison.memory, *comparison.cache) if row.name == name), None)
