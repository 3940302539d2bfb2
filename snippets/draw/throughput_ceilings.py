"""Decode throughput against the number of sequences: the bound of reading, and the ceilings it runs into."""

from __future__ import annotations

from dataclasses import dataclass

from snippets import baseline
from snippets.draw.figure import WIDTH_PX, Draw, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.scale import Log2
from snippets.draw.svg import el, line, points, svg, text
from snippets.throughput import arithmetic_ceiling, cache_ceiling, reading_ceiling, weights_ceiling
from snippets.units import count, milliseconds

_MOST_SEQUENCES = 256
_SEQUENCE_TICKS = (1, 4, 16, 64, 256)
_RATE_TICKS = (64, 256, 1024, 4096, 16384)  # tokens per second
_TABLE_SEQUENCES = (1, 4, 8)
_LEFT: dict[Layout, float] = {"wide": 52, "narrow": 48}
_TOP, _BOTTOM, _HEIGHT = 26.0, 302.0, 344.0


@dataclass(frozen=True)
class _Plot:
    x: Log2
    y: Log2

    def curve(self, low: float, high: float) -> list[tuple[float, float]]:
        """The reading bound in px between two px of the x axis."""
        steps = 40
        places = [low + (high - low) * n / steps for n in range(steps + 1)]
        return [(px, self.y(_rate(self.x.value(px)))) for px in places]


def _rate(sequences: float) -> float:
    """The reading bound; the axis is continuous, so tokens are rounded, not sequences."""
    tokens = round(sequences * baseline.MAX_MODEL_LEN)
    return sequences * reading_ceiling(baseline.MODEL, baseline.CARD, 1, tokens)


def _axes(plot: _Plot, layout: Layout) -> str:
    length = count(baseline.MAX_MODEL_LEN)
    below = f"sequences of {length} tokens in a step" if layout == "wide" else f"sequences of {length} tokens"
    parts = [text(0, 12, "tokens per second, all sequences", "t-small")]
    for rate in _RATE_TICKS:
        y = plot.y(rate)
        parts.append(line(plot.x.start, y, plot.x.end, y, "grid"))
        parts.append(text(plot.x.start - 6, y + 4, count(rate), "t-small", "end"))
    for sequences in _SEQUENCE_TICKS:
        parts.append(text(plot.x(sequences), _BOTTOM + 18, count(sequences), "t-small", "middle"))
    parts.append(text((plot.x.start + plot.x.end) / 2, _BOTTOM + 38, below, "t-small", "middle"))
    return "".join(parts)


def _ceilings(plot: _Plot, layout: Layout) -> str:
    model, card, length = baseline.MODEL, baseline.CARD, baseline.MAX_MODEL_LEN
    each, cache = weights_ceiling(model, card), cache_ceiling(model, card, length)
    arithmetic = arithmetic_ceiling(model, card, length)
    cache_label, weights_label = "cache: ", [f"weights: {count(each)} each"]
    if layout == "wide":
        cache_label = "reading the cache alone: "
        weights_label = ["reading the weights alone:", f"{count(each)} per sequence"]
    where, above, below = plot.x.start + 8, -7, 18
    fit = baseline.sequences()
    return "".join(
        (
            line(plot.x.start, plot.y(each), plot.x(arithmetic / each), plot.y(arithmetic), "s-weights w-2"),
            line(plot.x.start, plot.y(cache), plot.x.end, plot.y(cache), "s-kv w-2"),
            line(plot.x.start, plot.y(arithmetic), plot.x.end, plot.y(arithmetic), "s-other w-2"),
            line(plot.x(fit), _TOP, plot.x(fit), _BOTTOM, "s-limit w-2"),
            text(where, plot.y(arithmetic) + above, f"arithmetic: {count(arithmetic)}", "t-strong t-other"),
            text(where, plot.y(cache) + above, f"{cache_label}{count(cache)}", "t-strong t-kv"),
            *(
                text(where, plot.y(cache) + below + 15 * n, words, "t-strong t-weights")
                for n, words in enumerate(weights_label)
            ),
            text(plot.x(fit) + 8, _BOTTOM - 9, "memory is full", "t-small t-limit"),
        )
    )


def _bound(plot: _Plot) -> str:
    """The reading bound: solid where the sequences fit, dashed where they do not."""
    fit = int(baseline.sequences())
    x, y = plot.x(fit), plot.y(_rate(fit))
    return "".join(
        (
            el("polyline", points=points(plot.curve(plot.x.start, x)), class_="f-none s-ok w-25"),
            el("polyline", points=points(plot.curve(x, plot.x.end)), class_="f-none s-limit w-2"),
            el("circle", cx=x, cy=y, r=5.0, class_="f-ok"),
            text(x + 12, y + 22, f"{fit}: {count(_rate(fit))} tokens/s", "t-strong"),
            text(plot.x(64), plot.y(_rate(64)) + 38, "does not fit", "t-small t-limit"),
        )
    )


def _table() -> Table:
    fit = int(baseline.sequences())
    rows = []
    for sequences in (*_TABLE_SEQUENCES, fit, 2 * fit, _MOST_SEQUENCES):
        rate = _rate(sequences)
        row = (count(sequences), milliseconds(sequences / rate), count(rate), "yes" if sequences <= fit else "no")
        rows.append(row)
    return Table(("sequences", "a step reads for at least", "tokens per second at most", "fits"), tuple(rows))


def throughput_ceilings(name: str = "throughput-ceilings") -> Draw:
    """The baseline's ceilings, for both widths."""
    fit = int(baseline.sequences())
    finding = (
        f"Memory is full at {fit} sequences, below every other ceiling: at most {count(_rate(fit))} tokens per second"
    )
    detail = (
        "The green curve leaves the blue line for the orange one as the cache's part of the reading grows. "
        "All lines are bounds computed from the card's data sheet; none is a measurement."
    )

    def draw(layout: Layout) -> Figure:
        left, right = _LEFT[layout], WIDTH_PX[layout] - 12.0
        plot = _Plot(Log2(1, _MOST_SEQUENCES, left, right), Log2(_RATE_TICKS[0], _RATE_TICKS[-1], _BOTTOM, _TOP))
        drawing = svg(
            WIDTH_PX[layout],
            _HEIGHT,
            _axes(plot, layout),
            _ceilings(plot, layout),
            _bound(plot),
            labelled_by=finding_id(name),
        )
        return Figure(name, finding, drawing, detail, _table())

    return draw
