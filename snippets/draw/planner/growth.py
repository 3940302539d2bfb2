"""What one request holds as it grows, beside what vLLM reserves to admit it, and the same with another KV dtype."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from snippets.draw.figure import WIDTH_PX, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.place import Box, Label, Spot, beside, place
from snippets.draw.scale import Linear, linear_ticks, memory_text, nice_step, tick_text
from snippets.draw.svg import el, line, points, svg, text
from snippets.units import GIB, KIB, MIB, count

WORDS = {
    "both": "A request holds {fixed} whatever its length, and {token} for each further token",
    "tokens": "A request holds {token} for each token, and nothing beside",
    "flat": "A request holds {fixed} whatever its length",
    "detail": "Solid: held at that length. Dashed: reserved to admit a request when max_model_len is that long.",
    "axis": "tokens of one request",
    "held": "held",
    "reserved": "reserved",
    "other": "held with {dtype}",
}
HEAD = ("tokens", "held", "reserved to admit")


@dataclass(frozen=True)
class Point:
    """Bytes at a length."""

    tokens: int
    held: int
    reserved: int


@dataclass(frozen=True)
class Growth:
    """One request, and the same with another KV dtype where there is one."""

    fixed: int
    per_token: float
    points: tuple[Point, ...]
    other: tuple[Point, ...] = ()
    other_dtype: str = ""


def _finding(growth: Growth) -> str:
    fixed, token = memory_text(growth.fixed), memory_text(growth.per_token)
    key = "flat" if not growth.per_token else "both" if growth.fixed else "tokens"
    return WORDS[key].format(fixed=fixed, token=token)


def _unit(most: float) -> tuple[int, str]:
    return next(((size, unit) for size, unit in ((GIB, "GiB"), (MIB, "MiB")) if most >= size), (KIB, "KiB"))


def _axes(growth: Growth, x: Linear, y: Linear, size: int, unit: str, layout: Layout) -> str:
    parts = [text(x.start - 8, y.end - 10, unit, "t-small", "end")]
    ticks = linear_ticks(y.high / size, 5)
    step = ticks[1] if len(ticks) > 1 else 1
    for tick in ticks:
        at = y(tick * size)
        parts.append(line(x.start, at, x.end, at, "grid" if tick else "axis"))
        parts.append(text(x.start - 8, at + 4, tick_text(tick, step), "t-small", "end"))
    step = nice_step(x.high, 5 if layout == "wide" else 3)
    for n in range(int(x.high / step * (1 + 1e-12)) + 1):
        at = x(n * step)
        parts.append(line(at, y.start, at, y.start + 5, "axis"))
        parts.append(text(at, y.start + 19, count(n * step), "t-small", "middle"))
    parts.append(text(x.end, y.start + 37, WORDS["axis"], "t-small", "end"))
    return "".join(parts)


def _curve(found: Sequence[tuple[float, float]], class_: str, dashed: bool = False) -> str:
    dash = "6 4" if dashed else None
    return el("polyline", points=points(list(found)), class_=f"f-none {class_}", stroke_dasharray=dash)


def _drawn(growth: Growth, layout: Layout) -> tuple[float, str]:
    width, height = float(WIDTH_PX[layout]), 250.0 if layout == "wide" else 220.0
    most = max(max(point.held, point.reserved) for point in (*growth.points, *growth.other))
    size, unit = _unit(most)
    x = Linear(0, growth.points[-1].tokens, 58, width - (20 if layout == "wide" else 12))
    y = Linear(0, most * 1.06, height, 26)
    parts = [_axes(growth, x, y, size, unit, layout)]
    held = [(x(point.tokens), y(point.held)) for point in growth.points]
    reserved = [(x(point.tokens), y(point.reserved)) for point in growth.points]
    lines = []
    if growth.other:
        other = [(x(point.tokens), y(point.held)) for point in growth.other]
        parts.append(_curve(other, "s-other w-2"))
        lines.append((other, WORDS["other"].format(dtype=growth.other_dtype), "t-small t-other"))
    parts += [_curve(reserved, "s-kv w-15", dashed=True), _curve(held, "s-kv w-25")]
    lines += [(held, WORDS["held"], "t-strong t-kv"), (reserved, WORDS["reserved"], "t-small t-kv")]
    taken = [Box(px - 3, py - 3, px + 3, py + 3) for line_, _, _ in lines for px, py in _dense(line_)]
    inside = Box(x.start + 4, 2, width, height - 4)
    for line_, words, class_ in lines:
        label = Label(((words, class_),))
        tiers: list[list[Spot]] = [
            beside(label, *line_[int(share * (len(line_) - 1))], inside, 6.0, 12.0, 20.0)
            for share in (0.8, 0.65, 0.9, 0.5, 0.35, 0.2, 1.0)
        ]
        spot = place(tiers, inside, taken, lambda box: 0.0, 1.0)
        if spot:
            parts.append(spot[0].svg(spot[1]))
    return height + 44, "".join(parts)


def _dense(line_: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points along a curve, close enough that no label slips through."""
    found = []
    for (x0, y0), (x1, y1) in itertools.pairwise(line_):
        steps = max(1, int(max(abs(x1 - x0), abs(y1 - y0)) // 6))
        found += [(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps) for i in range(steps)]
    return [*found, *line_[-1:]]


def growth_figure(growth: Growth, name: str, layout: Layout) -> Figure:
    """The drawing for one width; `name` is unique on the page."""
    height, drawing = _drawn(growth, layout)
    rows = growth.points[:: max(1, len(growth.points) // 8)]
    rows = rows if rows[-1] == growth.points[-1] else (*rows, growth.points[-1])
    table = Table(HEAD, tuple((count(p.tokens), memory_text(p.held), memory_text(p.reserved)) for p in rows))
    whole = svg(WIDTH_PX[layout], height, drawing, labelled_by=finding_id(name))
    return Figure(name, _finding(growth), whole, WORDS["detail"], table)
