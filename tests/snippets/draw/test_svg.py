"""SVG text: what it prints, and that label widths are the font's."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from snippets.draw.svg import el, num, svg, text, text_width

FONT = Path(__file__).resolve().parents[3] / "node_modules" / "inter-ui" / "variable" / "InterVariable.woff2"


@cache
def inter(weight: int) -> tuple[dict[int, str], dict[str, tuple[int, int]], int]:
    """Glyph names by character, advance widths by glyph, and units of an em, at one weight."""
    font = instancer.instantiateVariableFont(TTFont(FONT), {"opsz": 14, "wght": weight})
    return font.getBestCmap(), font["hmtx"].metrics, font["head"].unitsPerEm


@pytest.mark.parametrize(
    ("value", "shown"), [(1, "1"), (1.04, "1"), (1.05001, "1.1"), (-0.04, "0"), (0.0, "0"), (-2.5, "-2.5"), (10, "10")]
)
def test_coordinates_have_at_most_one_decimal_and_no_negative_zero(value: float, shown: str) -> None:
    assert num(value) == shown


def test_text_and_attributes_are_escaped() -> None:
    assert text(1, 2, "<b> & co") == '<text x="1" y="2" class="t">&lt;b&gt; &amp; co</text>'
    assert el("g", aria_label='"quoted"') == '<g aria-label="&quot;quoted&quot;"/>'


def test_a_drawing_is_named_by_its_finding() -> None:
    drawn = svg(680, 40, labelled_by="split-finding")
    assert 'role="img" aria-labelledby="split-finding"' in drawn
    assert 'viewBox="0 0 680 40"' in drawn


@pytest.mark.parametrize("bold", [False, True])
@pytest.mark.parametrize(
    "label", ["KV of 8 requests", "equal at 53,829 tokens", "weights 131.4 GiB", "32 × 8,192 → 80 GiB", "↑ 2,560 GiB"]
)
def test_a_label_is_never_taken_for_narrower_than_inter_draws_it(label: str, bold: bool) -> None:
    glyphs, advances, em = inter(600 if bold else 400)
    tabular = [glyphs[ord(c)] + ".tf" if c.isdigit() else glyphs[ord(c)] for c in label]
    drawn_px = sum(advances[name][0] for name in tabular) / em * 13
    assert 0.98 * drawn_px <= text_width(label, 13, bold) <= 1.06 * drawn_px
