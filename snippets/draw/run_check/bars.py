"""Predicted above measured, for each start: the memory of one card to scale, or the tokens of its cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from snippets.draw.figure import WIDTH_PX, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.place import line_width
from snippets.draw.scale import linear_ticks
from snippets.draw.svg import line, rect, svg, text
from snippets.units import GIB, count, gib

WORDS = {
    "predicted": "predicted",
    "measured": "measured",
    "limit": "vLLM may use {memory}",
    "range": "{low} to {high}",
    "tokens": "{n} tokens",
    "weights": "weights",
    "activations": "other memory",
    "graphs": "CUDA graphs",
    "kv": "KV cache",
    "free": "left out",
}
TABLE_HEAD = ("start", "bar", "part", "size", "range")
_FILLS = {"weights": "f-weights", "activations": "f-activations", "graphs": "f-graphs", "kv": "f-kv", "free": "f-free"}
_BAR, _GAP, _TITLE = 20.0, 6.0, 22.0
_LEGEND_LINE = 20.0
_SWATCH = 11.0
MOST_TITLE = 60


@dataclass(frozen=True)
class Part:
    """A stretch of a bar: a tone of _FILLS, and its size in the unit of the drawing."""

    tone: str
    size: float


@dataclass(frozen=True)
class Bar:
    """Predicted or measured. The cache comes last; its range is that of a prediction."""

    kind: str  # "predicted" or "measured"
    parts: tuple[Part, ...]
    cache: float
    cache_low: float
    cache_high: float

    @property
    def total(self) -> float:
        """All that is drawn."""
        return sum(part.size for part in self.parts) + max(self.cache, 0)


@dataclass(frozen=True)
class Group:
    """One start."""

    title: str
    bars: tuple[Bar, ...]
    limit: float | None = None  # what vLLM may use
    end: float | None = None  # the whole card


@dataclass(frozen=True)
class Drawing:
    """All starts of a text, in one unit."""

    finding: str
    detail: str
    unit: str  # "bytes" or "tokens"
    groups: tuple[Group, ...]


def _size(drawing: Drawing) -> Callable[[float], str]:
    return gib if drawing.unit == "bytes" else lambda n: WORDS["tokens"].format(n=count(n))


def _short(drawing: Drawing, n: float) -> str:
    return f"{n / GIB:.2f}" if drawing.unit == "bytes" else count(n)


def _range(drawing: Drawing, bar: Bar) -> str:
    if bar.cache_low == bar.cache_high:
        return ""
    low = _short(drawing, max(bar.cache_low, 0))
    return WORDS["range"].format(low=low, high=_size(drawing)(max(bar.cache_high, 0)))


def _table(drawing: Drawing) -> Table:
    rows = []
    for group in drawing.groups:
        for bar in group.bars:
            for part in bar.parts:
                rows.append((group.title, WORDS[bar.kind], WORDS[part.tone], _size(drawing)(part.size), ""))
            shown = _size(drawing)(bar.cache)
            rows.append((group.title, WORDS[bar.kind], WORDS["kv"], shown, _range(drawing, bar)))
    return Table(TABLE_HEAD, tuple(rows))


def _longest(drawing: Drawing) -> float:
    ends = [bar.total for group in drawing.groups for bar in group.bars]
    ends += [edge for group in drawing.groups for edge in (group.limit, group.end) if edge is not None]
    return max([*ends, 1.0])


def _legend(drawing: Drawing, width: float) -> tuple[float, list[str]]:
    """The tones that are drawn, in as many lines as they take."""
    drawn = {part.tone for group in drawing.groups for bar in group.bars for part in bar.parts} | {"kv"}
    if any(group.end for group in drawing.groups):
        drawn.add("free")
    parts, x, y = [], 0.0, 0.0
    for tone in (tone for tone in _FILLS if tone in drawn):
        words = WORDS[tone]
        needed = _SWATCH + 5 + line_width(words, "t-small") + 16
        if x and x + needed - 16 > width:
            x, y = 0.0, y + _LEGEND_LINE
        parts.append(rect(x, y + 1, _SWATCH, _SWATCH, _FILLS[tone], 2))
        parts.append(text(x + _SWATCH + 5, y + 11, words, "t-small"))
        x += needed
    return y + _LEGEND_LINE, parts


def _bar(drawing: Drawing, group: Group, bar: Bar, x: float, y: float, px: float) -> list[str]:
    parts, at = [], x
    for part in (*bar.parts, Part("kv", bar.cache)):
        if part.size <= 0:
            continue
        parts.append(rect(at, y, max(part.size * px - 1, 1), _BAR, _FILLS[part.tone], 2))
        at += part.size * px
    end = x + (group.end or 0) * px
    if end > at:
        parts.append(rect(at, y, end - at, _BAR, "f-free", 2))
    if bar.cache_low != bar.cache_high:
        parts += _whisker(drawing, group, bar, x, y + _BAR / 2, px)
    return parts


def _whisker(drawing: Drawing, group: Group, bar: Bar, x: float, y: float, px: float) -> list[str]:
    """Where the cache may begin below a limit, or where it may end."""
    top = group.limit
    edges = (bar.cache_low, bar.cache_high) if top is None else (top - bar.cache_high, top - bar.cache_low)
    low, high = (x + min(max(edge, 0), _longest(drawing)) * px for edge in edges)
    ends = [line(at, y - 4, at, y + 4, "s-ink w-2") for at in (low, high)]
    return [line(low, y, high, y, "s-ink w-2"), *ends]


def _cut(words: str, class_: str, width: float) -> str:
    """Words that fit, with an ellipsis where they do not."""
    shown = words[:MOST_TITLE]
    while len(shown) > 1 and line_width(shown, class_) > width:
        shown = f"{shown.rstrip('…')[:-1]}…"
    return shown


def bars_figure(drawing: Drawing, name: str, layout: Layout) -> Figure:
    """The drawing for one width; `name` is unique on the page. Without starts there is nothing to draw."""
    if not drawing.groups:
        return Figure(name, "", "")
    width, is_wide = float(WIDTH_PX[layout]), layout == "wide"
    column = max(line_width(WORDS[kind], "t-small") for kind in ("predicted", "measured")) + 10 if is_wide else 0.0
    shown = _size(drawing)
    numbers = max(line_width(shown(bar.cache), "t-strong") for group in drawing.groups for bar in group.bars) + 10
    room = width - column - (numbers if is_wide else 0)
    px = room / _longest(drawing)
    y, drawn = _legend(drawing, width)
    limit = drawing.groups[0].limit
    y += 14 if limit is not None else 4
    if limit is not None:
        words = WORDS["limit"].format(memory=gib(limit))
        at = column + limit * px
        drawn.append(text(min(at, column + room), y, words, "t-small t-limit", "end"))
        y += 6
    for group in drawing.groups:
        if len(drawing.groups) > 1 or group.title:
            drawn.append(text(0, y + 14, _cut(group.title, "t-strong", width - 4), "t-strong"))
            y += _TITLE
        for bar in group.bars:
            if is_wide:
                drawn.append(text(0, y + 14, WORDS[bar.kind], "t-small"))
                drawn.append(text(column + room + 8, y + 14, shown(bar.cache), "t-strong t-kv"))
            else:
                drawn.append(text(0, y + 12, WORDS[bar.kind], "t-small"))
                drawn.append(text(width, y + 12, shown(bar.cache), "t-strong t-kv", "end"))
                y += 18
            drawn += _bar(drawing, group, bar, column, y, px)
            if group.limit is not None:  # over each bar alone, so that it crosses no number between them
                at = column + group.limit * px
                drawn.append(line(at, y - 3, at, y + _BAR + 3, "s-limit"))
            y += _BAR + _GAP
        y += 10
    y, axis = _axis(drawing, column, room, px, y)
    whole = svg(width, y, "".join([*drawn, *axis]), labelled_by=finding_id(name))
    return Figure(name, drawing.finding, whole, drawing.detail, _table(drawing))


def _axis(drawing: Drawing, x: float, room: float, px: float, y: float) -> tuple[float, list[str]]:
    unit = GIB if drawing.unit == "bytes" else 1
    longest = _longest(drawing) / unit
    parts = [line(x, y, x + room, y, "axis")]
    for tick in linear_ticks(longest, 5):
        at, label = x + tick * unit * px, f"{tick:,g}" if drawing.unit == "bytes" else count(tick)
        half = line_width(label, "t-small") / 2
        parts.append(line(at, y, at, y + 5, "axis"))
        parts.append(text(min(max(at, x + half), x + room - half), y + 18, label, "t-small", "middle"))
    words = "GiB" if drawing.unit == "bytes" else "tokens"
    parts.append(text(x + room, y + 34, words, "t-small", "end"))
    return y + 40, parts
