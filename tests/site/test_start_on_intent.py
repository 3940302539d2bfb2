"""Python is fetched when a reader is about to use it, and where bytes are scarce only when it is used."""

from __future__ import annotations

import pytest
from conftest import Opens, live, settle, until
from playwright.sync_api import Page

PAGE = "explore/kv-cache/"
WIDGET = "document.querySelector('serving-widget')"
IN_VIEW = f"{WIDGET}.scrollIntoView()"
SCARCE = ("{saveData: true}", "{effectiveType: '2g'}", "{effectiveType: 'slow-2g'}", "{effectiveType: '3g'}",
          "{type: 'cellular', effectiveType: '4g'}")  # fmt: skip


def opened(site: str, opens: Opens, connection: str = "{effectiveType: '4g'}") -> tuple[Page, list[str]]:
    """The page, shown, with the widget outside the view, and what it asks for that is Python's."""
    page = opens.fresh()
    asked: list[str] = []
    page.context.on("request", lambda request: asked.append(request.url) if "/pyodide-" in request.url else None)
    page.add_init_script(f"Object.defineProperty(navigator, 'connection', {{value: {connection}}})")
    page.goto(site + PAGE)
    until(page, "!!window.document$")
    return page, asked


def quiet(page: Page) -> None:
    """Wait until what would start by itself has started."""
    page.wait_for_timeout(300)
    page.wait_for_load_state("networkidle")


def test_a_page_that_nobody_touches_starts_nothing_even_with_a_widget_in_view(site: str, opens: Opens) -> None:
    page, asked = opened(site, opens)
    page.evaluate(IN_VIEW)
    quiet(page)
    assert (asked, page.workers) == ([], [worker for worker in page.workers if "search" in worker.url])
    page.mouse.move(5, 5)  # anywhere
    until(page, f"{WIDGET}.dataset.phase !== 'idle'")
    until(page, f"{WIDGET}.answered")
    assert asked


def test_a_widget_far_away_waits_until_it_is_near(site: str, opens: Opens) -> None:
    page, asked = opened(site, opens)
    page.evaluate("document.body.insertAdjacentHTML('afterbegin', '<svg width=10 height=3000></svg>')")
    quiet(page)
    page.mouse.move(5, 5)
    quiet(page)
    assert asked == []
    page.evaluate(IN_VIEW)
    until(page, f"{WIDGET}.answered")


@pytest.mark.parametrize("connection", SCARCE)
def test_where_bytes_are_scarce_only_a_use_starts_python(connection: str, site: str, opens: Opens) -> None:
    page, asked = opened(site, opens, connection)
    page.evaluate(IN_VIEW)
    page.mouse.move(5, 5)
    page.locator("serving-widget").first.hover()
    quiet(page)
    assert asked == []
    page.locator("serving-widget input:visible").first.focus()
    until(page, f"{WIDGET}.answered")


def test_the_second_page_is_ready_at_once(site: str, opens: Opens) -> None:
    page, asked = opened(site, opens)
    live(page)
    settle(page)
    before = len(asked)
    page.locator(".md-tabs__link").first.click()
    until(page, "document.querySelector('#how_many_fit')")
    assert page.evaluate("document.querySelector('#how_many_fit').dataset.phase") == "ready"
    until(page, "document.querySelector('#how_many_fit').answered")
    assert len([address for address in asked[before:] if not address.endswith("python_stdlib.zip")]) == 0
