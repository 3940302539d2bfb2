"""What a page is called, in the browser's tab and above its text, and where its footer leads."""

from __future__ import annotations

import re
from html import unescape

import pytest
from conftest import SITE, pages

LISTS = {"lessons/": "All lessons", "labs/": "All labs", "interview/": "All questions", "decisions/": "All decisions"}


def html(path: str) -> str:
    return (SITE / path / "index.html").read_text(encoding="utf-8")


def title(path: str) -> str:
    found = re.search(r"<title>(.*?)</title>", html(path), re.S)
    assert found
    return unescape(found[1])


@pytest.mark.parametrize(("path", "name"), LISTS.items())
def test_a_list_has_one_name_in_tab_text_and_navigation(path: str, name: str) -> None:
    assert title(path).startswith(f"{name} - ")
    assert re.search(rf"<h1[^>]*>{name}<", html(path))
    assert re.search(rf'class="md-ellipsis">\s*{name}\s*<', html(path))


def test_tabs_of_different_pages_differ() -> None:
    titles = [title(path) for path in pages()]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("path", pages(), ids=lambda path: path or "home")
def test_footer_leads_to_the_licences(path: str) -> None:
    footer = html(path).partition('<div class="md-copyright">')[2]
    target = re.search(r'href="([^"]*)">open licences<', footer)
    assert target
    assert (SITE / path / target[1]).resolve() == (SITE / "about/licences").resolve()
