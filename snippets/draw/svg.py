"""SVG text from Python: elements, rounded coordinates, and how wide a label will be.

Coordinates are rounded to a tenth before printing, so that CPython and Pyodide print the same bytes.
"""

from __future__ import annotations

from functools import cache
from html import escape
from typing import Literal

Anchor = Literal["start", "middle", "end"]

# Advance widths of Inter, regular, in thousandths of an em, for printable ASCII from the space on; digits are tabular.
_WIDTHS = (
    281, 288, 466, 648, 642, 982, 644, 300, 365, 365, 501, 662, 288, 460, 288, 360,
    648, 648, 648, 648, 648, 648, 648, 648, 648, 648, 288, 302, 662, 662, 662, 511,
    966, 690, 654, 730, 722, 601, 590, 746, 743, 269, 571, 672, 565, 903, 753, 765,
    639, 765, 644, 642, 646, 744, 690, 985, 682, 679, 629, 365, 360, 365, 471, 456,
    323, 562, 612, 571, 612, 583, 370, 613, 591, 242, 242, 549, 242, 876, 591, 600,
    612, 612, 376, 528, 327, 591, 562, 818, 546, 562, 552, 426, 333, 426, 662,
)  # fmt: skip
_OTHER_WIDTHS = {"·": 288, "–": 500, "→": 954, "↑": 834, "↓": 834}
_OTHER_WIDTH = 662  # ×, ÷, ≥, − and the like
_BOLD = 1.04  # weight 600 is about 4 % wider


def num(value: float) -> str:
    """A coordinate with at most one decimal, never "-0"."""
    text = f"{value:.1f}"
    return "0" if text == "-0.0" else text.removesuffix(".0")


def text_width(label: str, size_px: float = 13, bold: bool = False) -> float:
    """Width of a label in px, in the site's own font."""
    units = sum(_WIDTHS[ord(c) - 32] if " " <= c <= "~" else _OTHER_WIDTHS.get(c, _OTHER_WIDTH) for c in label)
    return units / 1000 * size_px * (_BOLD if bold else 1)


@cache  # a drawing has thousands of attributes, of a few names
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def el(tag: str, *children: str, **attributes: str | float | None) -> str:
    """One element. `class_` is class, `stroke_width` is stroke-width; numbers are rounded; None is left out."""
    parts = [tag]
    for key, value in attributes.items():
        if value is not None:
            shown = escape(value) if isinstance(value, str) else num(value)
            parts.append(f'{_attribute(key)}="{shown}"')
    opening = " ".join(parts)
    return f"<{opening}>{''.join(children)}</{tag}>" if children else f"<{opening}/>"


def text(x: float, y: float, label: str, class_: str = "t", anchor: Anchor = "start") -> str:
    """A label; the text is escaped."""
    return el("text", escape(label), x=x, y=y, class_=class_, text_anchor=None if anchor == "start" else anchor)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """A straight line."""
    return el("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def rect(x: float, y: float, width: float, height: float, class_: str, radius: float | None = None) -> str:
    """A rectangle; one thinner than nothing is not drawn."""
    return el("rect", x=x, y=y, width=width, height=height, rx=radius, class_=class_) if width > 0 < height else ""


def points(pairs: list[tuple[float, float]]) -> str:
    """The points attribute of a polyline or polygon."""
    shown = " ".join([f"{x:.1f},{y:.1f}" for x, y in pairs])
    if "-0.0" in shown:
        return " ".join([f"{num(x)},{num(y)}" for x, y in pairs])
    return shown.replace(".0,", ",").replace(".0 ", " ").removesuffix(".0")  # as `num` writes them, but all at once


def hatch(pattern_id: str) -> str:
    """The pattern for "reserved and empty", to be filled with url(#pattern_id). The id is unique on the page."""
    return el(
        "defs",
        el(
            "pattern",
            rect(0, 0, 6, 6, "hatch-ground"),
            line(0, 0, 0, 6, "hatch-line"),
            id=pattern_id,
            width="6",
            height="6",
            patternUnits="userSpaceOnUse",
            patternTransform="rotate(45)",
        ),
    )


def svg(width: float, height: float, *children: str, labelled_by: str) -> str:
    """The whole drawing, at its own size; its name is the finding printed above it."""
    return el(
        "svg",
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {num(width)} {num(height)}",
        width=width,
        height=height,
        role="img",
        aria_labelledby=labelled_by,
    )
