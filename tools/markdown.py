"""Markdown formats of our own: math, figures that carry their expression, and quoted figures.

Written in a page as `#!math n_{kv}`, `#!fig 56 KiB = kib(kv_bytes_per_token(QWEN2_5_7B))` and
`#!cite 96.3 % = pagedattention-fig2` inside backticks, and as a fenced block named math.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from latex2mathml.converter import convert
from pymdownx.inlinehilite import InlineHiliteException
from pymdownx.superfences import SuperFencesException

from snippets import figures, sources


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
    title = escape(f"{source.title}, {source.locator}")
    return (
        f'<span class="cite">{escape(text)}<sup><a href="{escape(source.url)}" title="{title}" '
        f'aria-label="Source: {title}">{escape(source.mark)}</a></sup></span>'
    )
