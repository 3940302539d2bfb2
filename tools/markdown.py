"""Markdown formats of our own: math, figures that carry their expression, quoted figures, links that set a widget.

Written in a page as `#!math n_{kv}`, `#!fig 56 KiB = kib(kv_bytes_per_token(QWEN2_5_7B))` and
`#!cite 96.3 % = pagedattention-fig2`, `#!try Send 53 requests. = memory_cliff=batch:53` inside backticks, and as a
fenced block named math.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from latex2mathml.converter import convert
from pymdownx.inlinehilite import InlineHiliteException
from pymdownx.superfences import SuperFencesException

from snippets import figures, sources
from snippets.widgets.html import try_html
from snippets.widgets.registry import widget
from snippets.widgets.run import defaults


def _mathml(latex: str, display: str) -> str:
    return convert(latex.strip(), display=display)


def math_inline(src: str, language: str, css_class: str, md: Any) -> str:
    """Inline formula as MathML, made while the site builds."""
    try:
        return _mathml(src, "inline")
    except Exception as error:
        raise InlineHiliteException(f"math {src!r}: {error}") from error


def math_block(src: str, language: str, css_class: str, options: Mapping[str, Any], md: Any, **_: Any) -> str:
    """Display formula as MathML; it scrolls on its own when it is wider than the page."""
    try:
        return f'<div class="math" tabindex="0" role="group" aria-label="Formula">{_mathml(src, "block")}</div>'
    except Exception as error:
        raise SuperFencesException(f"math {src!r}: {error}") from error


def figure_inline(src: str, language: str, css_class: str, md: Any) -> str:
    """A number with the expression that makes it; the build fails when the two disagree."""
    try:
        text, expression = figures.parse(src)
        figures.check(text, expression)
    except Exception as error:
        raise InlineHiliteException(f"fig {src!r}: {error}") from error
    return f'<span class="fig" data-expr="{escape(expression)}">{escape(text)}</span>'


def cite_inline(src: str, language: str, css_class: str, md: Any) -> str:
    """A number taken from a source, with a link to that source."""
    try:
        text, key = figures.parse(src)
        source = sources.load()[key]
    except Exception as error:
        raise InlineHiliteException(f"cite {src!r}: {error!r}") from error
    title = escape(f"Quoted from {source.title}, {source.locator}")
    return f'<a class="cite" href="{escape(source.url)}" title="{title}">{escape(text)}</a>'


def try_inline(src: str, language: str, css_class: str, md: Any) -> str:
    """A link that sets a widget on the same page; the build fails on a state the widget would refuse.

    `preset:llama-2-70b` stands for every value of that preset.
    """
    try:
        words, link = figures.parse(src)
        name, _, settings = link.partition("=")
        one = widget(name)
        presets = {preset.name: preset.values for bar in one.preset_bars for preset in bar.presets}
        state: dict[str, str] = {}
        for pair in settings.split(","):
            control, _, value = pair.partition(":")
            state |= presets[value] if control == "preset" else {control: value}
        opens_with = defaults(one)
        return try_html([(one, {key: value for key, value in state.items() if value != opens_with[key]})], words)
    except Exception as error:
        raise InlineHiliteException(f"try {src!r}: {error!r}") from error
