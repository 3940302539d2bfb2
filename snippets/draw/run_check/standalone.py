"""A drawing as an SVG file of its own: with colours, a white ground, and its finding as the title."""

from __future__ import annotations

import re
from html import escape

# The light palette of docs/stylesheets/site.css; a test compares.
LIGHT = {
    "fig-weights": "#2f6db3",
    "fig-kv": "#c2570c",
    "fig-activations": "#0f7b6c",
    "fig-graphs": "#7a4fb5",
    "fig-other": "#6b7280",
    "fig-free": "#d5d9e0",
    "fig-limit": "#b42318",
    "fig-ink": "#1c1e21",
    "muted": "#5c6470",
}
_HEAD_PX, _LINE_PX, _MARGIN = 20, 19, 16
_ROOT = re.compile(
    r'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>(.*)</svg>', re.DOTALL
)


def _style() -> str:
    rules = [f".f-{tone}{{fill:{LIGHT[f'fig-{tone}']}}}" for tone in ("weights", "kv", "activations", "graphs", "free")]
    rules += [
        f"text{{font-family:Inter,Helvetica,Arial,sans-serif;font-size:13px;fill:{LIGHT['fig-ink']}}}",
        f".t-small{{font-size:12px;fill:{LIGHT['muted']}}}",
        ".t-strong{font-weight:600}",
        f".t-kv{{fill:{LIGHT['fig-kv']}}}.t-limit{{fill:{LIGHT['fig-limit']}}}",
        f".axis{{stroke:{LIGHT['fig-other']}}}.s-ink{{stroke:{LIGHT['fig-ink']}}}.w-2{{stroke-width:2}}",
        f".s-limit{{stroke:{LIGHT['fig-limit']};stroke-dasharray:5 4}}",
    ]
    return "".join(rules)


def _lines(words: str, width: int) -> list[str]:
    """Words in lines of at most so many characters."""
    lines = [""]
    for word in words.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def standalone(svg: str, finding: str, caption: str) -> str:
    """The file's text. `finding` stands above the drawing, `caption` below it. Raises ValueError for no drawing."""
    found = _ROOT.fullmatch(svg)
    if not found:
        raise ValueError("there is no drawing to save: the text shows nothing that can be drawn")
    width, height, inside = float(found[1]), float(found[2]), found[3]
    characters = int(width / 7)
    above, below = _lines(finding, characters), _lines(caption, characters)
    top = _MARGIN + _HEAD_PX * len(above) + 6
    whole = top + height + _LINE_PX * len(below) + _MARGIN
    head = "".join(
        f'<text class="t-strong" x="{_MARGIN}" y="{_MARGIN + 12 + n * _HEAD_PX}">{escape(words)}</text>'
        for n, words in enumerate(above)
    )
    foot = "".join(
        f'<text class="t-small" x="{_MARGIN}" y="{top + height + 12 + n * _LINE_PX:.0f}">{escape(words)}</text>'
        for n, words in enumerate(below)
    )
    size = f"{width + 2 * _MARGIN:.0f} {whole:.0f}"
    wide, high = size.split()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{wide}" height="{high}" role="img">'
        f"<title>{escape(finding)}</title><style>{_style()}</style>"
        f'<rect width="100%" height="100%" fill="#ffffff"/>{head}'
        f'<g transform="translate({_MARGIN} {top})">{inside}</g>{foot}</svg>\n'
    )
