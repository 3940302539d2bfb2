"""What search engines and link previews read: a description for each page, and robots.txt; the site's hook for it."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

LONGEST = 160  # characters that results commonly show
_PARAGRAPH = re.compile(r"<p>(.+?)</p>", re.DOTALL)
_ENOUGH = 50  # a shorter paragraph is a date or a label


def description(content: str) -> str:
    """The first paragraph of a page as plain text, whole sentences where they fit; empty when there is none."""
    for paragraph in _PARAGRAPH.findall(content):
        text = " ".join(html.unescape(re.sub(r"<[^>]+>", "", paragraph)).split())
        if len(text) < _ENOUGH:
            continue
        if len(text) <= LONGEST:
            return text
        end = text.rfind(". ", _ENOUGH, LONGEST)
        return text[: end + 1] if end > 0 else text[: text.rfind(" ", 0, LONGEST - 1)].rstrip(",;: ") + "…"
    return ""


def on_page_context(context: dict[str, Any], page: Page, config: MkDocsConfig, nav: Navigation) -> None:
    """Called by MkDocs before a page's template is filled."""
    if not page.meta.get("description"):
        page.meta["description"] = description(page.content or "")


def on_post_build(config: MkDocsConfig) -> None:
    """Called by MkDocs when the site is written."""
    sitemap = f"{config.site_url or ''}sitemap.xml"
    Path(config.site_dir, "robots.txt").write_text(f"User-agent: *\nAllow: /\n\nSitemap: {sitemap}\n")
