"""Cut the two self-hosted fonts down to the characters the site draws with.

Sources are the npm packages `inter-ui` and `@fontsource/noto-sans-math` (both SIL Open Font License 1.1).
"""

from __future__ import annotations

from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

ASCII = range(0x20, 0x7F)
TEXT = [*ASCII, *range(0xA0, 0x180), *range(0x370, 0x3D0), *range(0x2010, 0x2027), 0x202F, 0x2032, 0x20AC,
        *range(0x2190, 0x2194), 0x21C4, 0x2200, *range(0x2202, 0x2213), 0x2215, 0x2219, 0x221A, 0x221E, 0x2248,
        *range(0x2260, 0x2266), 0x22C5, 0x2318, 0x25B2, 0x25BC, 0x2713, 0x2717, 0xFF0C]  # fmt: skip
MATH = [*ASCII, 0xB1, 0xB7, 0xD7, 0xF7, *range(0x391, 0x3CA), *range(0x2010, 0x2027), 0x2032, *range(0x2190, 0x2194),
        *range(0x2200, 0x2300), *range(0x2308, 0x230C), *range(0x27E8, 0x27EA), *range(0x1D400, 0x1D468),
        *range(0x1D6FC, 0x1D716), 0x210E]  # fmt: skip


def _subset(source: Path, unicodes: list[int], features: list[str]) -> TTFont:
    font = TTFont(source, recalcTimestamp=False)  # the same bytes from the same sources
    options = subset.Options(layout_features=features, notdef_outline=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=unicodes)
    subsetter.subset(font)
    return font


def _save(font: TTFont, target: Path) -> None:
    font.flavor = "woff2"
    font.save(target)


def text_font(source: Path, target: Path) -> None:
    """Inter, weights 400 to 700, at its text optical size, with tabular numbers."""
    font = _subset(source, TEXT, ["kern", "mark", "mkmk", "ccmp", "locl", "tnum", "calt"])
    _save(instancer.instantiateVariableFont(font, {"opsz": 14, "wght": (400, 700)}), target)


def math_font(source: Path, target: Path) -> None:
    """Noto Sans Math, with the tables that let brackets and roots grow."""
    _save(_subset(source, MATH, ["ssty", "math", "flac", "dtls"]), target)
