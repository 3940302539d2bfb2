"""What one decode step reads from the card's memory, to scale: all weights once, and every cached key and value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from snippets.draw.figure import WIDTH_PX, Draw, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.svg import rect, svg, text, text_width
from snippets.units import gb, milliseconds, percent

_BAR, _ROW, _LABEL_Y, _GAP = 30.0, 76.0, 14.0, 2.0


@dataclass(frozen=True)
class Load:
    """One load of the card: how many bytes of keys and values a step reads under it."""

    label: str  # "1 sequence of 8,192 tokens"
    kv_read_bytes: float
    fits: bool = True  # whether the card can hold it


def kv_share(weights_read_bytes: float, kv_read_bytes: float) -> float:
    """The part of a step's reads that is keys and values, 0 to 1."""
    return kv_read_bytes / (weights_read_bytes + kv_read_bytes)


def _inside(label: str, x: float, width: float, y: float) -> str:
    """A label on its bar, or nothing when it would not fit."""
    if text_width(label, 13, bold=True) + 16 > width:
        return ""
    return text(x + 8, y + _BAR / 2 + 4.5, label, "t-strong f-on")


def _row(weights: float, load: Load, y: float, px_per_byte: float, width: float) -> str:
    """One load: what it is and KV's share above, the bar below."""
    share = f"KV {percent(kv_share(weights, load.kv_read_bytes), 1)}"
    top = y + _LABEL_Y + 8
    blue = weights * px_per_byte - _GAP
    orange_x, orange = blue + _GAP, load.kv_read_bytes * px_per_byte
    kv_class = "f-kv" if load.fits else "f-kv-soft s-limit"
    parts = [
        text(0, y + _LABEL_Y, load.label, "t"),
        rect(0, top, blue, _BAR, "f-weights", 3),
        rect(orange_x, top, orange, _BAR, kv_class, 3),
        _inside(f"weights {gb(weights)}", 0, blue, top),
    ]
    beside = f"KV {gb(load.kv_read_bytes)}"
    if not load.fits:
        parts.append(text(orange_x + 8, top + _BAR / 2 + 4.5, beside, "t-strong t-kv"))
    elif inside := _inside(beside, orange_x, orange, top):
        parts.append(inside)
    else:
        parts.append(text(orange_x + orange + 6, top + _BAR / 2 + 4.5, beside, "t-strong t-kv"))
    parts.append(text(width, y + _LABEL_Y, share, "t-strong t-kv", "end"))
    if not load.fits:
        parts.append(text(width, top + _BAR + 16, "does not fit on the card", "t-small t-limit", "end"))
    return "".join(parts)


def _table(weights: float, loads: Sequence[Load], bytes_per_second: float) -> Table:
    head = ("load", "weights read", "KV read", "KV's share", "reading alone takes at least")
    rows = []
    for load in loads:
        total = weights + load.kv_read_bytes
        share = percent(kv_share(weights, load.kv_read_bytes), 1)
        rows.append((load.label, gb(weights), gb(load.kv_read_bytes), share, milliseconds(total / bytes_per_second)))
    return Table(head, tuple(rows))


def decode_bytes(
    weights_read_bytes: float,
    loads: Sequence[Load],
    bytes_per_second: float,
    finding: str,
    detail: str = "",
    name: str = "decode-bytes",
) -> Draw:
    """The drawing for both widths. The finding is the page's words, since the loads are its own."""

    def draw(layout: Layout) -> Figure:
        width = float(WIDTH_PX[layout])
        largest = max(weights_read_bytes + load.kv_read_bytes for load in loads)
        px_per_byte = (width - 1) / largest
        rows = [_row(weights_read_bytes, load, i * _ROW, px_per_byte, width) for i, load in enumerate(loads)]
        drawing = svg(width, len(loads) * _ROW, *rows, labelled_by=finding_id(name))
        return Figure(name, finding, drawing, detail, _table(weights_read_bytes, loads, bytes_per_second))

    return draw
