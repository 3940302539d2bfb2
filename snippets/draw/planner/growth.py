"""What one request holds as it grows, beside what vLLM reserves to admit it, and the same with another KV dtype."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from snippets.draw.figure import WIDTH_PX, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.place import line_width
from snippets.draw.scale import Linear, linear_ticks, memory_text, nice_step, tick_text
from snippets.draw.svg import el, line, points, svg, text
from snippets.units import GIB, KIB, MIB, count

WORDS = {
    "both": "A long request holds {fixed} and {token} for each token",
    "tokens": "A request holds {token} for each token, and nothing beside",
    "flat": "A long request holds {fixed}, however long",
    "detail": "Solid: held at that length. Dashed: reserved to admit a request when max_model_len is that long.",
    "axis": "tokens of one request",
    "held": "held",
    "reserved": "reserved",
    "same": "held, and reserved",
    "other": "held with {dtype}",
}
Curve = Sequence[tuple[float, float]]
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
        label = count(n * step)
        room = at + line_width(label, "t-small") / 2 <= WIDTH_PX[layout]
        parts.append(text(at, y.start + 19, label, "t-small", "middle" if room else "end"))
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
    if any(mine.held != its.held for mine, its in zip(growth.points, growth.other, strict=False)):
        other = [(x(point.tokens), y(point.held)) for point in growth.other]
        parts.append(_curve(other, "s-other w-2"))
        words = WORDS["other"].format(dtype=growth.other_dtype)
        parts.append(_named(words, "t-small t-other", other, [held], x.end))
    else:
        other = []
    parts += [_curve(reserved, "s-kv w-15", dashed=True), _curve(held, "s-kv w-25")]
    if all(point.held == point.reserved for point in growth.points):
        parts.append(_named(WORDS["same"], "t-strong t-kv", held, [other], x.end))
    else:
        parts.append(_named(WORDS["reserved"], "t-small t-kv", reserved, [held], x.end))
        parts.append(_named(WORDS["held"], "t-strong t-kv", held, [reserved, other], x.end))
    return height + 44, "".join(parts)


def _named(words: str, class_: str, own: Curve, others: Sequence[Curve], end: float) -> str:
    """The name of a rising curve, where most room is: to the left above it, or to the right below it."""
    places = []
    for share in (0.75, 0.6, 0.9, 0.45):
        px, py = own[int(share * (len(own) - 1))]
        beside = [other[int(share * (len(other) - 1))][1] for other in others if other]
        above = min([py - at for at in beside if at <= py], default=99.0)
        below = min([at - py for at in beside if at > py], default=99.0)
        fits_right = px + 10 + line_width(words, class_) <= end
        places.append((above, px - 8, py - 7, "end"))
        places.append((below if fits_right else -1.0, px + 10, py + 16, "start"))
    _, left, top, anchor = max(places, key=lambda spot: min(spot[0], 40.0))
    return text(left, top, words, class_, "end" if anchor == "end" else "start")


def growth_figure(growth: Growth, name: str, layout: Layout) -> Figure:
    """The drawing for one width; `name` is unique on the page."""
    height, drawing = _drawn(growth, layout)
    rows = growth.points[:: max(1, len(growth.points) // 8)]
    rows = rows if rows[-1] == growth.points[-1] else (*rows, growth.points[-1])
    table = Table(HEAD, tuple((count(p.tokens), memory_text(p.held), memory_text(p.reserved)) for p in rows))
    whole = svg(WIDTH_PX[layout], height, drawing, labelled_by=finding_id(name))
    return Figure(name, _finding(growth), whole, WORDS["detail"], table)
