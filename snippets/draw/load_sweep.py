"""A load sweep: answered, and answered within the targets, against sent per second; the knee between two rates."""

from __future__ import annotations

from collections.abc import Sequence

from snippets.draw.figure import WIDTH_PX, Draw, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.scale import MOST_TICKS, Linear, linear_ticks, nice_step, tick_text
from snippets.draw.svg import el, line, points, rect, svg, text, text_width
from snippets.load.knee import Knee, RatePoint, find_knee
from snippets.units import exact_enough, percent

_TOP, _BOTTOM = 40.0, 262.0
_KNEE = "the knee lies here"
_LINES = (("as sent", "s-other"), ("answered", "s-kv w-25"), ("within the targets", "s-ok w-25"))


def _words(high: float) -> list[tuple[float, str]]:
    """The ticks up to `high`, and how they are written."""
    step = nice_step(high, MOST_TICKS - 1)
    return [(value, tick_text(value, step)) for value in linear_ticks(high)]


def _ticks(x_of: Linear, y_of: Linear) -> str:
    parts = []
    for value, words in _words(y_of.high):
        parts.append(line(x_of.start, y_of(value), x_of.end, y_of(value), "grid"))
        parts.append(text(x_of.start - 6, y_of(value) + 4, words, "t-small", "end"))
    for value, words in _words(x_of.high):
        parts.append(text(x_of(value), _BOTTOM + 18, words, "t-small", "middle"))
    below = "requests sent per second"
    parts.append(text((x_of.start + x_of.end) / 2, _BOTTOM + 38, below, "t-small", "middle"))
    parts.append(text(0, 12, "requests per second", "t-small"))
    return "".join(parts)


def _knee(knee: Knee, x_of: Linear) -> str:
    """The band in which the knee lies."""
    if knee.kept_up is None or knee.not_kept_up is None:
        return ""
    left, right = x_of(knee.kept_up), x_of(knee.not_kept_up)
    half = text_width(_KNEE, 12) / 2
    middle = max(min((left + right) / 2, x_of.end - half), half)
    return rect(left, _TOP, right - left, _BOTTOM - _TOP, "f-kv-soft") + text(
        middle, _TOP - 6, _KNEE, "t-small", "middle"
    )


def _curve(pairs: Sequence[tuple[float, float]], x_of: Linear, y_of: Linear, class_: str) -> str:
    places = [(x_of(x), y_of(y)) for x, y in pairs]
    dots = "".join(el("circle", cx=x, cy=y, r=3.5, class_=class_.replace("s-", "f-", 1).split()[0]) for x, y in places)
    return el("polyline", points=points(places), class_=f"f-none {class_}") + dots


def _key(y: float) -> str:
    parts, x = [], 0.0
    for words, class_ in _LINES:
        parts.append(line(x, y - 4, x + 18, y - 4, class_))
        parts.append(text(x + 23, y, words, "t-small"))
        x += 23 + text_width(words, 12) + 14
    return "".join(parts)


def _finding(knee: Knee) -> str:
    if knee.kept_up is None:
        return "The server keeps up with none of these rates"
    if knee.not_kept_up is None:
        return f"The server keeps up with all of these rates, up to {exact_enough(knee.kept_up)} requests/s"
    return (
        f"The server keeps up with {exact_enough(knee.kept_up)} requests/s and no longer with "
        f"{exact_enough(knee.not_kept_up)}"
    )


def load_sweep(sweep: Sequence[RatePoint], detail: str = "", name: str = "load-sweep") -> Draw:
    """The sweep for both widths. `detail` says what was measured, where, and with which targets."""
    if not sweep:
        raise ValueError("a sweep needs at least one rate")
    ordered = sorted(sweep, key=lambda one: one.request_rate)
    knee = find_knee(ordered)
    most = 1.15 * max(one.request_throughput for one in ordered)
    rows = tuple(
        (
            exact_enough(one.request_rate),
            exact_enough(one.request_throughput),
            exact_enough(one.request_goodput),
            percent(one.attainment),
            "yes" if one.kept_up else "no",
        )
        for one in ordered
    )
    table = Table(("sent/s", "answered/s", "within targets/s", "share within targets", "kept up"), rows)

    def draw(layout: Layout) -> Figure:
        fastest = ordered[-1].request_rate
        left = 8 + max(text_width(words, 12) for _, words in _words(most))
        right = WIDTH_PX[layout] - max(text_width(words, 12) for _, words in _words(fastest)) / 2 - 2
        x_of = Linear(0, fastest, left, right)
        y_of = Linear(0, most, _BOTTOM, _TOP)
        end = min(most, fastest)
        as_sent, answered, good = (class_ for _, class_ in _LINES)
        drawing = svg(
            WIDTH_PX[layout],
            _BOTTOM + 66,
            _ticks(x_of, y_of),
            _knee(knee, x_of),
            line(x_of(0), y_of(0), x_of(end), y_of(end), as_sent),
            _curve([(one.request_rate, one.request_goodput) for one in ordered], x_of, y_of, good),
            _curve([(one.request_rate, one.request_throughput) for one in ordered], x_of, y_of, answered),
            _key(_BOTTOM + 62),
            labelled_by=finding_id(name),
        )
        return Figure(name, _finding(knee), drawing, detail, table)

    return draw
