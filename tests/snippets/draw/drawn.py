"""What a test sees of a drawing: its labels as boxes, as wide as the site's font draws them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from xml.etree import ElementTree

from snippets.draw.place import Box, line_width, size_px

_SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Drawn:
    """One label in a drawing."""

    words: str
    class_: str
    box: Box


def labels(svg: str) -> list[Drawn]:
    """Every text element."""
    found = []
    for element in ElementTree.fromstring(svg).iter(f"{_SVG}text"):
        words, class_ = element.text or "", element.get("class", "")
        x, y, size = float(element.get("x", "nan")), float(element.get("y", "nan")), size_px(class_)
        width = line_width(words, class_)
        left = {"end": x - width, "middle": x - width / 2}.get(element.get("text-anchor", ""), x)
        # From the top of a capital letter to below a comma: 0.73 and 0.2 em in this font.
        found.append(Drawn(words, class_, Box(left, y - 0.73 * size, left + width, y + 0.2 * size)))
    return found


def page(svg: str) -> Box:
    """The edges of a drawing."""
    left, top, width, height = map(float, ElementTree.fromstring(svg).get("viewBox", "").split())
    return Box(left, top, left + width, top + height)


def collisions(svg: str) -> list[str]:
    """Labels that touch another one, or leave the drawing; empty for a good drawing."""
    found, edge = labels(svg), page(svg)
    outside = [f"{one.words!r} leaves the drawing" for one in found if not one.box.within(edge)]
    return outside + [
        f"{one.words!r} touches {other.words!r}" for one, other in combinations(found, 2) if one.box.overlaps(other.box)
    ]
