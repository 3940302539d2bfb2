"""What one decode step computes with and without the cache, step by step, as cells.

A position is one token put through all layers once: it makes that token's keys and values.
A score is one query times one key, in one head of one layer.
"""

from __future__ import annotations

from dataclasses import dataclass

from snippets.draw.figure import Draw, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.svg import rect, svg, text
from snippets.units import count

STEPS = 6
TABLE_TOKENS = (STEPS, 1024, 8192)


@dataclass(frozen=True)
class Work:
    """What was computed to get from nothing to a number of tokens, one token per step."""

    positions: int
    scores: int  # in one head of one layer


def with_cache(tokens: int) -> Work:
    """Step t puts one position through the layers; its query meets t keys."""
    return Work(tokens, tokens * (tokens + 1) // 2)


def without_cache(tokens: int) -> Work:
    """Step t puts all t positions through the layers; the query of position i meets i keys."""
    return Work(tokens * (tokens + 1) // 2, tokens * (tokens + 1) * (tokens + 2) // 6)


@dataclass(frozen=True)
class _Size:
    """Measures of one layout, in px."""

    width: float
    cell: float
    between: float  # two steps
    left: float  # room for the names of the rows


_SIZES: dict[Layout, _Size] = {"wide": _Size(680, 14, 40, 118), "narrow": _Size(320, 8, 17, 0)}
_GAP = 2.0  # between cells
_TITLE, _STRIP_GAP, _COUNT, _BELOW = 26.0, 7.0, 20.0, 22.0

_LEGEND = (
    ("f-activations", "scores computed in this step"),
    ("f-kv", "keys and values computed in this step"),
    ("f-kv-soft s-kv", "keys and values read from the cache"),
    ("f-none s-free", "not computed again"),
)


def _step(size: _Size, x: float, y: float, tokens: int, cached: bool) -> str:
    """One step: its scores as a triangle (one row per query), its keys and values as a strip below."""
    pitch = size.cell + _GAP
    top = y + (STEPS - tokens) * pitch
    parts = []
    for query in range(tokens):
        old = cached and query < tokens - 1
        for key in range(query + 1):
            fill = "f-none s-free" if old else "f-activations"
            parts.append(rect(x + key * pitch, top + query * pitch, size.cell, size.cell, fill, 1.5))
    strip = y + STEPS * pitch + _STRIP_GAP
    for position in range(tokens):
        old = cached and position < tokens - 1
        fill = "f-kv-soft s-kv" if old else "f-kv"
        parts.append(rect(x + position * pitch, strip, size.cell, size.cell, fill, 1.5))
    scores = tokens if cached else tokens * (tokens + 1) // 2
    middle = x + (tokens * pitch - _GAP) / 2
    parts.append(text(middle, strip + size.cell + _COUNT - 4, count(scores), "t", "middle"))
    return "".join(parts)


def _row(size: _Size, y: float, title: str, cached: bool) -> tuple[str, float]:
    """All steps of one way, and the height they take."""
    pitch = size.cell + _GAP
    parts = [text(0, y + 14, title, "t-strong")]
    x, top = size.left, y + _TITLE
    for tokens in range(1, STEPS + 1):
        parts.append(_step(size, x, top, tokens, cached))
        x += tokens * pitch + size.between
    strip = top + STEPS * pitch + _STRIP_GAP
    if size.left:
        parts.append(text(0, strip - _STRIP_GAP - 6, "scores", "t-small"))
        parts.append(text(0, strip + size.cell - 3, "keys, values", "t-small"))
        parts.append(text(0, strip + size.cell + _COUNT - 4, "scores in the step", "t-small"))
    return "".join(parts), strip + size.cell + _COUNT - y


def _legend(layout: Layout, y: float) -> tuple[str, float]:
    columns, width = (2, 340.0) if layout == "wide" else (1, 320.0)
    parts = []
    for i, (fill, label) in enumerate(_LEGEND):
        x, top = i % columns * width, y + i // columns * 20
        parts.append(rect(x, top, 12, 12, fill, 1.5) + text(x + 18, top + 10.5, label, "t-small"))
    return "".join(parts), (len(_LEGEND) + columns - 1) // columns * 20.0


def _table() -> Table:
    rows = []
    for tokens in TABLE_TOKENS:
        without, kept = without_cache(tokens), with_cache(tokens)
        numbers = (without.positions, kept.positions, without.scores, kept.scores)
        rows.append((count(tokens), *(count(n) for n in numbers)))
    head = ("tokens", "passes without", "passes with", "scores without", "scores with")
    return Table(head, tuple(rows))


def attention_work(name: str = "attention-work") -> Draw:
    """The drawing for both widths; `name` is unique on the page."""

    def draw(layout: Layout) -> Figure:
        size = _SIZES[layout]
        without, kept = without_cache(STEPS), with_cache(STEPS)
        upper, upper_height = _row(size, 0, f"Without the cache: {without.scores} scores", cached=False)
        lower, lower_height = _row(size, upper_height + _BELOW, f"With the cache: {kept.scores} scores", cached=True)
        legend, legend_height = _legend(layout, upper_height + lower_height + 2 * _BELOW)
        height = upper_height + lower_height + legend_height + 2 * _BELOW
        finding = f"Six tokens, one step each: {without.scores} scores without the cache, {kept.scores} with it"
        detail = (
            f"One square is one query times one key, or one token's keys and values: these are computed "
            f"{without.positions} times without the cache, {kept.positions} times with it."
        )
        return Figure(
            name,
            finding,
            svg(size.width, height, upper, lower, legend, labelled_by=finding_id(name)),
            detail,
            _table(),
        )

    return draw
