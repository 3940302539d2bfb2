"""Where labels go: near what they name, inside the drawing, over no other label."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from snippets.draw.svg import Anchor, text, text_width

_SIZE_PX = {"t-small": 12.0}  # other classes are 13 px, see stylesheets/drawing.css
_LINE_PX = 16.0  # from one baseline to the next
_ASCENT, _DESCENT = 0.8, 0.25  # of the font size


@dataclass(frozen=True)
class Box:
    """A rectangle in px, y downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Box) -> bool:
        """Whether the two share area."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def within(self, other: Box) -> bool:
        """Whether this box lies wholly in the other."""
        return (
            self.left >= other.left
            and self.right <= other.right
            and self.top >= other.top
            and self.bottom <= other.bottom
        )


def size_px(class_: str) -> float:
    """The font size of a text class."""
    return next((size for name, size in _SIZE_PX.items() if name in class_.split()), 13.0)


def line_width(label: str, class_: str) -> float:
    """Width of one line of text in its class."""
    return text_width(label, size_px(class_), "t-strong" in class_.split())


@dataclass(frozen=True)
class Label:
    """One or more lines of text with the class of each."""

    lines: tuple[tuple[str, str], ...]

    @cached_property
    def width(self) -> float:
        """Width of the longest line."""
        return max(line_width(words, class_) for words, class_ in self.lines)

    @cached_property
    def height(self) -> float:
        """From the top of the first line to the bottom of the last."""
        return _LINE_PX * (len(self.lines) - 1) + (_ASCENT + _DESCENT) * size_px(self.lines[-1][1])

    def at(self, left: float, top: float) -> Box:
        """The box with this corner."""
        return Box(left, top, left + self.width, top + self.height)

    def svg(self, box: Box, anchor: Anchor = "start") -> str:
        """The text in its box; lines start, end or are centred at the box's edge."""
        x = {"start": box.left, "middle": (box.left + box.right) / 2, "end": box.right}[anchor]
        first = box.top + _ASCENT * size_px(self.lines[0][1])
        return "".join(
            text(x, first + n * _LINE_PX, words, class_, anchor) for n, (words, class_) in enumerate(self.lines)
        )


Spot = tuple[Label, Box]
"""A label and a place for it."""


def beside(label: Label, x: float, y: float, inside: Box, *gaps: float) -> list[Spot]:
    """Places above, below, left and right of a point, slid sideways into a larger box where they would leave it."""
    width, height = label.width, label.height
    corners = []
    for gap in gaps:
        left, right, tops = x - gap - width, x + gap, (y - gap - height, y + gap)
        corners += [(side, top) for top in tops for side in (left, right)]
        corners += [(left, y - height / 2), (right, y - height / 2)]
        corners += [(x - part * width, top) for top in tops for part in (0.75, 0.5, 0.25)]
    return [(label, label.at(min(max(side, inside.left), inside.right - width), top)) for side, top in corners]


def along(label: Label, left: float, right: float, y: float, gap: float = 5.0) -> list[Spot]:
    """Places above and below a level line, from its left end to its right."""
    room = right - left - label.width
    tops = (y - gap - label.height, y + gap)
    return [(label, label.at(left + part * room / 6, top)) for part in range(7) for top in tops]


def everywhere(label: Label, inside: Box) -> list[Spot]:
    """Places all over a box, in steps of about 48 px across and 20 px down."""
    across = inside.right - inside.left - label.width
    down = inside.bottom - inside.top - label.height
    if across < 0 or down < 0:
        return []
    columns, rows = max(1, int(across // 48)), max(1, int(down // 20))
    return [
        (label, label.at(inside.left + column * across / columns, inside.top + row * down / rows))
        for row in range(rows + 1)
        for column in range(columns + 1)
    ]


def gap_to(box: Box, x: float, y: float) -> float:
    """How far a point is from the nearest edge of a box, across plus down; 0 inside."""
    return max(box.left - x, x - box.right, 0) + max(box.top - y, y - box.bottom, 0)


def place(
    tiers: Iterable[Sequence[Spot]], inside: Box, taken: list[Box], cost: Callable[[Box], float], good: float
) -> Spot | None:
    """The cheapest free spot inside, the first of equals; None if there is none.

    Later tiers are only tried while nothing cheaper than `good` is found. The box chosen, with a little air around
    it, is added to `taken`.
    """
    best, best_price = None, inf
    for tier in tiers:
        for spot in tier:
            box = spot[1]
            if box.within(inside) and not any(box.overlaps(other) for other in taken):
                price = cost(box)
                if price < best_price:
                    best, best_price = spot, price
        if best_price < good:
            break
    if best is not None:
        box = best[1]
        taken.append(Box(box.left - 4, box.top - 2, box.right + 4, box.bottom + 2))
    return best


def stack(wanted: Sequence[tuple[float, float]], low: float, high: float) -> list[float]:
    """Starts of intervals given as (wanted middle, length), in order, moved apart so that none overlap.

    They stay between `low` and `high` when they fit there at all.
    """
    starts = []
    for middle, length in wanted:
        starts.append(max(middle - length / 2, low))
        low = starts[-1] + length
    for index in range(len(starts) - 1, -1, -1):
        starts[index] = min(starts[index], high - wanted[index][1])
        high = starts[index]
    return starts
