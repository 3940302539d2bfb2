"""What search engines and link previews read of each page."""

from __future__ import annotations

import re

import pytest
from conftest import SITE, pages

from tools import head

BUILT = {path: (SITE / path / "index.html").read_text(encoding="utf-8").partition("<body")[0] for path in pages()}
MISSING = (SITE / "404.html").read_text(encoding="utf-8").partition("<body")[0]
ROOT_ADDRESS = re.findall(r"<loc>([^<]+)</loc>", (SITE / "sitemap.xml").read_text())[0]


def content(page: str, name: str) -> str:
    """The content of the one meta element of that name."""
    found = re.findall(rf'<meta (?:name|property)="{name}" content="([^"]*)">', page)
    assert len(found) == 1, (name, found)
    return str(found[0])


def test_each_page_has_a_description_of_its_own() -> None:
    said = {path: content(page, "description") for path, page in BUILT.items()}
    assert {path: text for path, text in said.items() if not 40 <= len(text) <= 200} == {}
    assert len(set(said.values())) == len(said)


def test_each_page_names_the_one_address_it_is_known_by() -> None:
    for path, page in BUILT.items():
        assert re.findall(r'<link rel="canonical" href="([^"]+)">', page) == [ROOT_ADDRESS + path]
        assert content(page, "og:url") == ROOT_ADDRESS + path


def test_pages_say_their_language_and_may_be_found_and_the_missing_one_may_not() -> None:
    assert all('<html lang="en"' in page and 'name="robots"' not in page for page in BUILT.values())
    assert content(MISSING, "robots") == "noindex"


def test_a_preview_has_title_and_text_and_asks_no_other_host() -> None:
    for page in BUILT.values():
        assert content(page, "og:title")
        assert content(page, "og:description") == content(page, "description")
        assert 'property="og:image"' not in page


def test_robots_are_led_to_the_sitemap() -> None:
    assert (SITE / "robots.txt").read_text() == f"User-agent: *\nAllow: /\n\nSitemap: {ROOT_ADDRESS}sitemap.xml\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            "<p>Short.</p><p>One &amp; <b>two</b>, long enough to stand for the page it is of, I think.</p>",
            "One & two, long enough to stand for the page it is of, I think.",
        ),
        (f"<p>{'A sentence of words. ' * 12}</p>", ("A sentence of words. " * 7).strip()),
        (f"<p>{'word ' * 60}</p>", "word " * 30 + "word…"),
        ("<table></table>", ""),
    ],
)
def test_a_page_without_a_description_is_described_by_its_first_paragraph(html: str, text: str) -> None:
    assert head.description(html) == text
