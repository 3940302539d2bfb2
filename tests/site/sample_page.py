"""Bare pages with the sample widgets, for the tests of what the browser modules do."""

from __future__ import annotations

from html import escape

from sample_parts import WIDGET as PARTS
from sample_question import QUESTIONS
from sample_widget import WIDGET

from snippets.widgets.html import try_html, widget_html
from snippets.widgets.question_html import question_html


def page_html(policy: str) -> str:
    """The page of the sample. The policy is the built site's, so that what it forbids is forbidden here."""
    link = try_html([(WIDGET, {"layers": "53", "kv_heads": "16"})], "53 layers, 16 heads", anchor="the-lab")
    return _page(
        policy,
        f"""<p id="links">{link} <a href="#below">below</a></p>
<p>One token takes <span class="fig" data-expr="kib(57344)">56 KiB</span>.</p>
<h2 id="the-lab">The lab</h2>
{widget_html(WIDGET)}
<h2 id="below">Below</h2>
{question_html(QUESTIONS[0], "<p>It is 56 KiB.</p>")}
<details><summary>The Python</summary><p id="sample-python">print()</p></details>""",
    )


def parts_html(policy: str) -> str:
    """The page of the sample of parts."""
    return _page(policy, widget_html(PARTS))


def _page(policy: str, inside: str) -> str:
    styles = ("site", "drawing", "widget", "parts")
    links = "".join(f'<link rel="stylesheet" href="stylesheets/{name}.css">' for name in styles)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sample</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">
<link rel="icon" href="data:,">{links}
<script type="module" src="assets/live/main.mjs"></script></head>
<body data-md-color-scheme="default"><main class="md-typeset"><article>
<h1>Sample</h1>
{inside}
</article></main></body></html>"""
