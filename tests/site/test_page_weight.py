"""What a page costs before the reader does anything: bytes, requests, and no Python."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from conftest import SITE, Opens, live, pages, until
from playwright.sync_api import Page

from tools import transfer

MOST_BYTES = 350_000
MOST_REQUESTS = 60
THEME = "!!window.document$"
SHIFTS = """
  window.shifted = 0;
  new PerformanceObserver((list) => list.getEntries().forEach(({value}) => { shifted += value; }))
    .observe({type: 'layout-shift', buffered: true});"""


def sent(path: str) -> int:
    """Bytes that a host sends for a path of the site, packed where it packs."""
    file = SITE / unquote(path).lstrip("/")
    file = file / "index.html" if path.endswith("/") else file
    return len(transfer.packed(file) or file.read_bytes())


@pytest.fixture
def asked(opens: Opens) -> tuple[Page, list[str]]:
    """A page that is not yet opened, with nothing in its cache, and the paths it asks for."""
    page = opens.fresh()
    paths: list[str] = []
    page.context.on("request", lambda request: paths.append(urlsplit(request.url).path))
    return page, paths


@pytest.mark.parametrize("path", [*pages(), "404.html"], ids=lambda path: path or "home")
def test_a_page_that_nobody_touches_stays_within_its_budget(
    path: str, site: str, asked: tuple[Page, list[str]]
) -> None:
    page, paths = asked
    page.goto(site + path)
    until(page, THEME)
    page.evaluate("window.scrollTo(0, document.querySelector('serving-widget')?.offsetTop ?? 0)")
    page.wait_for_load_state("networkidle")
    files = [path for path in paths if path.startswith("/")]
    weights = {path: sent(path) for path in files}
    assert sum(weights[path] for path in files) <= MOST_BYTES, weights
    assert len(files) <= MOST_REQUESTS, files
    assert [path for path in files if "/assets/py" in path or "search_index" in path] == []


def test_the_search_index_comes_when_the_search_is_opened(site: str, asked: tuple[Page, list[str]]) -> None:
    page, paths = asked
    page.goto(site)
    until(page, THEME)
    page.wait_for_load_state("networkidle")
    assert not any("search_index" in path for path in paths)
    page.click(".md-search__input")
    until(page, "document.querySelector('.md-search-result__meta').textContent.trim() === 'Type to start searching'")
    assert sum("search_index" in path for path in paths) == 1


def test_a_link_that_searches_does_so_at_once(site: str, opens: Opens) -> None:
    page = opens(f"{site}?q=roofline")
    until(page, "/match/.test(document.querySelector('.md-search-result__meta').textContent)")


def test_a_link_from_the_search_marks_the_words_it_found(site: str, opens: Opens) -> None:
    page = opens(f"{site}lessons/kv-cache/?h=context")
    until(page, "document.querySelector('mark[data-md-highlight]')")


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("path", ["", "explore/kv-cache/", "tools/planner/"])
def test_nothing_moves_when_widgets_go_live(path: str, width: int, site: str, opens: Opens) -> None:
    page = opens.fresh()
    page.set_viewport_size({"width": width, "height": 800})
    page.add_init_script(SHIFTS)
    page.goto(site + path)
    until(page, THEME)
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelector('serving-widget').scrollIntoView()")
    page.wait_for_timeout(200)
    page.evaluate("shifted = 0")
    live(page)
    page.wait_for_timeout(200)
    assert page.evaluate("shifted") == 0


def test_every_request_of_the_weight_is_a_file_of_the_site(site: str, asked: tuple[Page, list[str]]) -> None:
    page, paths = asked
    page.goto(site)
    until(page, THEME)
    assert all((SITE / Path(unquote(path).lstrip("/"))).exists() for path in paths if path.startswith("/"))
