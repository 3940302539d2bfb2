"""Terms of the glossary show their definition on hover and on focus, once per page, and never twice the same."""

from __future__ import annotations

import pytest
from conftest import Opens, until
from playwright.sync_api import Page

from tools import glossary

LESSON = "lessons/kv-cache/"
DEFINITIONS = {entry.definition for entry in glossary.parse(glossary.PAGE.read_text(encoding="utf-8"))}
READY = "() => document.querySelectorAll('abbr[data-definition]').length > 0"


@pytest.fixture
def lesson(site: str, opens: Opens) -> Page:
    page = opens(site + LESSON)
    until(page, READY, "terms are ready")
    return page


def note(page: Page) -> str:
    """The text of the note that is shown, or nothing."""
    return str(page.evaluate("document.querySelector('#term-note:not([hidden])')?.textContent ?? ''"))


def test_definition_shows_on_focus_and_describes_the_term(lesson: Page) -> None:
    term = lesson.locator("abbr[data-definition]").first
    term.focus()
    assert note(lesson) in DEFINITIONS
    assert term.get_attribute("aria-describedby") == "term-note"


def test_tab_key_reaches_terms_and_escape_hides_the_note(lesson: Page) -> None:
    lesson.locator("abbr[data-definition]").first.focus()
    for _ in range(40):
        lesson.keyboard.press("Tab")
        if lesson.evaluate("document.activeElement.matches('abbr')"):
            break
    assert note(lesson) in DEFINITIONS
    lesson.keyboard.press("Escape")
    assert note(lesson) == ""


def test_definition_shows_under_the_pointer_and_stays_while_it_is_on_the_note(lesson: Page) -> None:
    term = lesson.locator("abbr[data-definition]").first
    term.hover()
    shown = note(lesson)
    assert shown == term.get_attribute("data-definition")
    lesson.locator("#term-note").hover()
    lesson.wait_for_timeout(300)
    assert note(lesson) == shown
    lesson.mouse.move(2, 2)
    until(lesson, "() => document.getElementById('term-note').hidden", "the note goes when the pointer leaves")


def test_a_term_is_marked_once_and_not_in_headings_code_links_or_folded_text(lesson: Page) -> None:
    marked = lesson.evaluate("[...document.querySelectorAll('abbr[data-definition]')].map((t) => t.dataset.definition)")
    assert len(marked) == len(set(marked)) > 10
    assert lesson.locator(":is(h1, h2, h3, code, a, summary, details) abbr").count() == 0


def test_note_stays_inside_a_phone_window(site: str, opens: Opens) -> None:
    page = opens(site + LESSON, width=360)
    until(page, READY)
    for term in page.locator("abbr[data-definition]").all():
        term.focus()
        box = page.locator("#term-note").bounding_box()
        assert box is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= 360


def test_terms_work_on_the_page_that_instant_navigation_shows(site: str, opens: Opens) -> None:
    page = opens(site + "interview/")
    page.evaluate("window.stayed = true")
    page.locator("article a", has_text="What limits the throughput").click()
    until(page, "() => document.querySelector('h1').textContent.startsWith('What limits')")
    until(page, READY, "terms of the new page are ready")
    assert page.evaluate("window.stayed")
    page.locator("abbr[data-definition]").first.focus()
    assert note(page) in DEFINITIONS


def test_without_scripts_the_browsers_own_tooltip_remains(site: str, opens: Opens) -> None:
    page = opens(site + LESSON, scripts=False)
    titles = [term.get_attribute("title") for term in page.locator("abbr").all()]
    assert titles
    assert set(titles) <= DEFINITIONS


def test_terms_add_little_to_a_page(site: str, opens: Opens) -> None:
    added = opens(site + LESSON, scripts=False).evaluate(
        "[...document.querySelectorAll('abbr')].reduce((n, t) => n + t.outerHTML.length - t.textContent.length, 0)"
    )
    assert added < 6000
