"""The memory cliff drawn: soft areas, two lines, marks where they meet and where the reader is."""

from __future__ import annotations

from snippets.draw.cliff.frame import HEIGHT_PX, Cliff, Curve, Frame, curve, frame, gpu_multiples, highest_bytes
from snippets.draw.cliff.labels import Spots, labels, spots
from snippets.draw.cliff.words import WORDS, detail, finding, gpus, table
from snippets.draw.figure import WIDTH_PX, Draw, Figure, Layout
from snippets.draw.html import finding_id
from snippets.draw.place import line_width
from snippets.draw.scale import linear_ticks, tick_text, token_ticks
from snippets.draw.svg import el, line, points, svg, text
from snippets.units import GIB, short_tokens

_MEMORY_TICKS: dict[Layout, int] = {"wide": 6, "narrow": 5}
_TOKEN_TICKS: dict[Layout, int] = {"wide": 6, "narrow": 5}
_AXIS_GAP = 9.0  # between the plot and the numbers on its left
_GPU_GAP = 13.0  # and the GPUs on its right: an arrow or a dot may stand on the edge


def _areas(plot: Frame, kv: Curve, weights_y: float) -> str:
    """Soft fills: KV under its curve, and the weights where they stand above it, so that the two never mix."""
    under = [*kv.points, (plot.right, kv.points[-1][1]), (plot.right, plot.bottom), (plot.left, plot.bottom)]
    parts = [el("polygon", points=points(under), class_="f-kv-soft")]
    below = [(x, y) for x, y in kv.points if y > weights_y]
    if below:
        end = kv.x_at(weights_y) or plot.right
        over = [*below, (end, weights_y), (plot.left, weights_y)]
        parts.append(el("polygon", points=points(over), class_="f-weights-soft"))
    return "".join(parts)


def _axes(cliff: Cliff, plot: Frame, ticks: tuple[float, ...], layout: Layout) -> str:
    parts = [line(plot.left, plot.bottom, plot.right, plot.bottom, "axis")]
    for tick in ticks:
        parts.append(text(plot.left - _AXIS_GAP, plot.y(tick * GIB) + 4, tick_text(tick, ticks[1]), "t-small", "end"))
    parts.append(text(plot.left - _AXIS_GAP, plot.top - 14, WORDS["memory axis"], "t-small", "end"))
    for tokens in token_ticks(round(plot.x.low), cliff.limit, _TOKEN_TICKS[layout]):
        x = plot.x(tokens)
        parts.append(line(x, plot.bottom, x, plot.bottom + 5, "axis"))
        parts.append(text(x, plot.bottom + 20, short_tokens(tokens), "t-small", "middle"))
    parts.append(text(plot.right, plot.bottom + 40, WORDS["token axis"], "t-small", "end"))
    return "".join(parts)


def _gpu_names(multiples: list[int]) -> list[str]:
    return [gpus(n) for n in multiples] or [WORDS["gpu above"]]


def _gpu_lines(cliff: Cliff, plot: Frame, multiples: list[int], named: bool) -> str:
    """Lines at multiples of one GPU's memory, named in the right margin if there is one."""
    ys = [plot.y(n * cliff.gpu_bytes) for n in multiples]
    parts = [line(plot.left, y, plot.right, y, "grid") for y in ys]
    if named:
        for y, name in zip(ys or [plot.top], _gpu_names(multiples), strict=True):
            parts.append(text(plot.right + _GPU_GAP, y + 4, name, "t-small"))
    return "".join(parts)


def _arrow(x: float, y: float) -> str:
    """Something goes on above the plot."""
    return el("polygon", points=points([(x - 6, y + 1), (x, y - 10), (x + 6, y + 1)]), class_="f-kv")


def _dot(x: float, y: float) -> str:
    return el("circle", cx=x, cy=y, r=7, class_="f-paper") + el("circle", cx=x, cy=y, r=5, class_="f-kv")


def _ring(x: float, y: float) -> str:
    return el("circle", cx=x, cy=y, r=7, class_="f-limit") + el("circle", cx=x, cy=y, r=4.5, class_="f-paper")


def _marks(plot: Frame, kv: Curve, at: Spots) -> str:
    """Drop lines to the token axis, the reader's dot, the crossing's ring, arrows where something leaves the plot."""
    x, y = at.here
    parts = [line(x, y, x, plot.bottom, "grid" if at.above else "s-kv")]
    if at.equal:
        parts.append(line(*at.equal, at.equal[0], plot.bottom, "s-limit") + _ring(*at.equal))
    if kv.leaves:
        parts.append(_arrow(*kv.points[-1]))
    parts.append(_arrow(x, y) if at.above else _dot(x, y))
    return "".join(parts)


def memory_cliff(cliff: Cliff, name: str = "memory-cliff") -> Draw:
    """The drawing for both widths; `name` is unique on the page."""

    def draw(layout: Layout) -> Figure:
        highest = highest_bytes(cliff)
        ticks = linear_ticks(highest / GIB, _MEMORY_TICKS[layout])
        multiples = gpu_multiples(cliff, highest)
        tick_names = [WORDS["memory axis"], *(tick_text(tick, ticks[1]) for tick in ticks)]
        left = max(line_width(words, "t-small") for words in tick_names) + _AXIS_GAP + 1
        right = 14.0
        if layout == "wide":
            right = max(line_width(words, "t-small") for words in _gpu_names(multiples)) + _GPU_GAP + 3
        plot = frame(cliff, layout, highest, left, right)
        weights_y = plot.y(cliff.weight_bytes)
        kv = curve(cliff, plot)
        at = spots(cliff, plot, kv)
        drawing = svg(
            WIDTH_PX[layout],
            HEIGHT_PX[layout],
            _areas(plot, kv, weights_y),
            _gpu_lines(cliff, plot, multiples, named=layout == "wide"),
            _axes(cliff, plot, ticks, layout),
            line(plot.left, weights_y, plot.right, weights_y, "s-weights w-2"),
            el("polyline", points=points(kv.points), class_="f-none s-kv w-25"),
            _marks(plot, kv, at),
            labels(cliff, plot, kv, at, multiples, layout),
            labelled_by=finding_id(name),
        )
        return Figure(name, finding(cliff), drawing, detail(cliff), table(cliff))

    return draw
