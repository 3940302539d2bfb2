"""What one decode step reads from the card's memory, to scale: all weights once, and every cached key and value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from snippets import baseline
from snippets.catalog.gpus import Gpu
from snippets.catalog.models import Model
from snippets.decode_step import (
    kv_read_bytes,
    kv_share,
    step_bytes,
    step_seconds,
    tokens_where_kv_reads_equal_weight_reads,
    weights_read_bytes,
)
from snippets.draw.figure import WIDTH_PX, Draw, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.svg import rect, svg, text, text_width
from snippets.units import count, gb, milliseconds, percent

_BAR, _ROW, _LABEL_Y, _GAP = 30.0, 76.0, 14.0, 2.0


@dataclass(frozen=True)
class Load:
    """One load of the card: how many tokens a step finds in the cache."""

    label: str  # "Full card: 14 × 8,192 tokens"
    tokens_in_flight: int
    fits: bool = True  # whether the card can hold them


def _inside(label: str, x: float, width: float, y: float) -> str:
    """A label on its bar, or nothing when it would not fit."""
    if text_width(label, 13, bold=True) + 16 > width:
        return ""
    return text(x + 8, y + _BAR / 2 + 4.5, label, "t-strong f-on")


def _row(model: Model, load: Load, y: float, px_per_byte: float, width: float) -> str:
    """One load: what it is and KV's share above, the bar below."""
    weights, kv = weights_read_bytes(model), kv_read_bytes(model, load.tokens_in_flight)
    top = y + _LABEL_Y + 8
    blue, orange = weights * px_per_byte - _GAP, kv * px_per_byte
    orange_x, label = blue + _GAP, f"KV {gb(kv)}"
    parts = [
        text(0, y + _LABEL_Y, load.label, "t"),
        text(width, y + _LABEL_Y, f"KV {percent(kv_share(model, load.tokens_in_flight), 1)}", "t-strong t-kv", "end"),
        rect(0, top, blue, _BAR, "f-weights", 3),
        _inside(f"weights {gb(weights)}", 0, blue, top),
        rect(orange_x, top, orange, _BAR, "f-kv" if load.fits else "f-kv-soft s-limit", 3),
    ]
    inside = _inside(label, orange_x, orange, top) if load.fits else ""
    beside = orange_x + 8 if not load.fits else orange_x + orange + 6
    parts.append(inside or text(beside, top + _BAR / 2 + 4.5, label, "t-strong t-kv"))
    if not load.fits:
        parts.append(text(width, top + _BAR + 16, "does not fit on the card", "t t-limit", "end"))
    return "".join(parts)


def _table(model: Model, gpu: Gpu, loads: Sequence[Load]) -> Table:
    rows = []
    for load in loads:
        read = step_bytes(model, load.tokens_in_flight)
        rows.append(
            (
                load.label,
                gb(weights_read_bytes(model)),
                gb(kv_read_bytes(model, load.tokens_in_flight)),
                percent(kv_share(model, load.tokens_in_flight), 1),
                milliseconds(step_seconds(read, gpu.bytes_per_second)),
            )
        )
    return Table(("load", "weights read", "KV read", "KV's share", "reading takes at least"), tuple(rows))


def decode_bytes(model: Model, gpu: Gpu, loads: Sequence[Load], finding: str, detail: str, name: str) -> Draw:
    """The drawing for both widths. The finding is the caller's, who chose the loads."""

    def draw(layout: Layout) -> Figure:
        width = float(WIDTH_PX[layout])
        largest = max(step_bytes(model, load.tokens_in_flight) for load in loads)
        rows = [_row(model, load, i * _ROW, (width - 1) / largest, width) for i, load in enumerate(loads)]
        drawing = svg(width, len(loads) * _ROW, *rows, labelled_by=finding_id(name))
        return Figure(name, finding, drawing, detail, _table(model, gpu, loads))

    return draw


def on_the_baseline(name: str = "decode-bytes") -> Draw:
    """One long sequence, a full card, and the load at which both parts would be equal."""
    model, length = baseline.MODEL, baseline.MAX_MODEL_LEN
    fit = int(baseline.sequences())
    equal = tokens_where_kv_reads_equal_weight_reads(model)
    loads = (
        Load(f"One sequence: {count(length)} tokens", length),
        Load(f"Full card: {fit} × {count(length)} tokens", fit * length),
        Load(f"KV = weights: {count(equal)} tokens", equal, fits=equal <= baseline.tokens()),
    )
    one, full = (percent(kv_share(model, load.tokens_in_flight), 1) for load in loads[:2])
    finding = f"KV is {one} of what a decode step reads with one long sequence, {full} on a full card"
    return decode_bytes(model, baseline.CARD, loads, finding, "The blue part is the same in every step.", name)
