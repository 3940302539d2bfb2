"""Lighthouse finds nothing to mend in accessibility, practices and search, on one page of each kind."""

from __future__ import annotations

from conftest import SITE

from tools import browser
from tools.benches import pages

PAGES = ("", "lessons/kv-cache/", "explore/kv-cache/", "tools/planner/", "glossary/")
CATEGORIES = ("accessibility", "best-practices", "seo")


def test_each_kind_of_page_has_full_marks() -> None:
    with browser.served(SITE) as base:
        found = pages.run([base + path for path in PAGES], 1, *CATEGORIES)
    assert [scores.get("failed", []) for scores in found.values()] == [[] for _ in PAGES]
    assert [[scores[name] for name in CATEGORIES] for scores in found.values()] == [[[1], [1], [1]] for _ in PAGES]
