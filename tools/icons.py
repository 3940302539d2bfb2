"""The site's icon as PNG files, drawn from docs/images/favicon.svg, for what installs the site as an app.

Only what that drawing holds is known: paths of upright rectangles, filled or stroked. Anything else is refused.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

SOURCE = Path(__file__).resolve().parent.parent / "docs" / "images" / "favicon.svg"
UNITS = 24  # the drawing's own width and height
PAPER = (255, 255, 255, 255)
CLEAR = (255, 255, 255, 0)
# A mask may cut away all but a circle of 0.8 of the width: corners of the drawing must stay inside it.
MASKED_SCALE = 0.74
Colour = tuple[int, int, int, int]


class Rectangle(NamedTuple):
    """Edges in the drawing's units, and the colour inside."""

    left: float
    top: float
    right: float
    bottom: float
    colour: Colour


def _edges(path: str) -> Iterator[tuple[float, float, float, float]]:
    """Rectangles of an SVG path that is written M x y, h width, v height, then back: `h-width z`, `H x z` or `z`."""
    number = r"(-?[\d.]+)"
    shape = re.compile(rf"M{number}[ ,]{number}h{number}v{number}(?:[hH]{number})?z")
    if shape.sub("", path).strip():
        raise ValueError(f"{SOURCE.name}: {path} is not of upright rectangles; teach tools/icons.py to draw it")
    for left, top, width, height, _ in shape.findall(path):
        yield float(left), float(top), float(left) + float(width), float(top) + float(height)


def _colour(text: str) -> Colour:
    red, green, blue = bytes.fromhex(text.removeprefix("#"))
    return red, green, blue, 255


def rectangles(svg: str) -> list[Rectangle]:
    """What the drawing is made of, each part once: a stroke is four bars."""
    found = []
    for element in ElementTree.fromstring(svg):
        if not element.tag.endswith("}path"):
            raise ValueError(f"{SOURCE.name}: {element.tag} is not a path; teach tools/icons.py to draw it")
        for left, top, right, bottom in _edges(element.attrib["d"]):
            if element.get("fill") != "none":
                found.append(Rectangle(left, top, right, bottom, _colour(element.attrib["fill"])))
                continue
            half, colour = float(element.attrib["stroke-width"]) / 2, _colour(element.attrib["stroke"])
            for x in (left, right):
                found.append(Rectangle(x - half, top - half, x + half, bottom + half, colour))
            for y in (top, bottom):
                found.append(Rectangle(left + half, y - half, right - half, y + half, colour))
    return found


def _covered(start: float, end: float, pixel: int) -> float:
    """How much of a pixel lies between two edges."""
    return max(0.0, min(end, pixel + 1) - max(start, pixel))


def _row(y: int, width: int, parts: Iterable[Rectangle], paper: Colour) -> bytes:
    """One line of pixels: each part gives its colour for its share of a pixel, the paper gives the rest."""
    pixels = [[0.0, 0.0, 0.0, 0.0] for _ in range(width)]
    for part in parts:
        high = _covered(part.top, part.bottom, y)
        for x in range(int(part.left), min(width, int(part.right) + 1)) if high else ():
            share = high * _covered(part.left, part.right, x)
            for index, value in enumerate((*part.colour[:3], 1)):
                pixels[x][index] += share * value
    ground = paper[3] / 255
    line = bytearray(1)
    for red, green, blue, share in pixels:
        rest = max(0.0, 1 - share) * ground
        alpha = min(1.0, share + rest)
        sums = zip((red, green, blue), paper[:3], strict=True)
        line += bytes(min(255, round((own + rest * below) / alpha)) if alpha else below for own, below in sums)
        line.append(round(alpha * 255))
    return bytes(line)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(size: int, paper: Colour = CLEAR, scale: float = 1.0) -> bytes:
    """The icon, `size` pixels wide and high, in the middle of its paper."""
    unit = size / UNITS * scale
    start = size * (1 - scale) / 2
    parts = []
    for *edges, colour in rectangles(SOURCE.read_text(encoding="utf-8")):
        left, top, right, bottom = (start + edge * unit for edge in edges)
        parts.append(Rectangle(left, top, right, bottom, colour))
    body = b"".join(_row(y, size, parts, paper) for y in range(size))
    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(body, 9)) + _chunk(b"IEND", b"")
    )


def maskable(size: int) -> bytes:
    """The icon with a ground to its edges, for systems that cut it to their own shape."""
    return png(size, PAPER, MASKED_SCALE)
