"""No page sets a cookie or keeps anything before the reader chooses; without storage the pages work all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Opens, pages, until
from playwright.sync_api import Page

STARTED = "document.querySelector('.md-search__input') && !!window.document$ && !!window.component$"
NEAR = """() => {
  for (const element of document.querySelectorAll('serving-widget, predict-question, run-program')) {
    element.dispatchEvent(new Event('pointerenter'));
  }
  return [...document.querySelectorAll('serving-widget')].every((widget) => widget.dataset.phase === 'ready');
}"""
KEPT = """async () => ({
  cookie: document.cookie,
  local: Object.entries(localStorage),
  session: Object.entries(sessionStorage),
  databases: (await indexedDB.databases()).map(({name}) => name),
  caches: await caches.keys(),
  workers: (await navigator.serviceWorker.getRegistrations()).length,
  files: await navigator.storage.getDirectory().then(async (root) => (await Array.fromAsync(root.keys()))),
})"""
NOTHING: dict[str, Any] = {
    "cookie": "", "local": [], "session": [], "databases": [], "caches": [], "workers": 0, "files": []
}  # fmt: skip


@pytest.fixture
def reader(opens: Opens) -> Iterator[Page]:
    """A reader's first visit."""
    page = opens.fresh(keeps_copy=True)
    yield page
    page.context.close()


def test_a_visit_to_every_page_leaves_nothing_behind(site: str, reader: Page) -> None:
    for path in [*pages(), "404.html"]:
        reader.goto(site + path)
        until(reader, STARTED, "the theme has started")
        until(reader, NEAR, "Python is there")
        assert reader.evaluate(KEPT) == NOTHING, path
    assert reader.context.cookies() == []


def test_colours_are_kept_once_chosen_and_forgotten_with_the_systems(site: str, reader: Page) -> None:
    reader.goto(site)
    until(reader, STARTED, "the theme has started")
    scheme = "document.body.dataset.mdColorScheme"
    light, dark, system = "Switch to light", "Switch to dark", "Switch to the system"
    reader.click(f"label[title*='{light}']")
    reader.click(f"label[title*='{dark}']")
    until(reader, f"{scheme} === 'slate'")
    [(name, text)] = reader.evaluate(KEPT)["local"]
    assert name.endswith(".__palette")
    assert json.loads(text)["color"]["scheme"] == "slate"
    reader.reload()
    assert reader.evaluate(scheme) == "slate"
    until(reader, STARTED, "the theme has started")
    reader.click(f"label[title*='{system}']")
    assert reader.evaluate(KEPT) == NOTHING


DENIED = """for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) {
  Object.defineProperty(window, name, {get() { throw new DOMException('denied', 'SecurityError'); }});
}"""
FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"
DAMAGED = "localStorage.setItem('/.__palette', '{'); localStorage.setItem('/.__tabs', '{');"


@pytest.mark.parametrize("fault", [DENIED, FULL, DAMAGED], ids=["denied", "full", "damaged"])
def test_where_storage_is_denied_full_or_damaged_the_page_works_and_forgets(
    fault: str, site: str, reader: Page
) -> None:
    reader.add_init_script(fault)
    reader.goto(f"{site}explore/kv-cache/")
    until(reader, STARTED, "the theme has started")
    until(reader, NEAR, "Python is there")
    reader.fill("#memory_cliff-batch", "53")
    until(reader, "document.querySelector('#memory_cliff').settled && location.hash.includes('batch:53')")
    reader.evaluate("performance.mark('kept')")
    reader.click("label[title*='Switch to light']")
    reader.click("label[title*='Switch to dark']")
    until(reader, "document.body.dataset.mdColorScheme === 'slate'")
    reader.locator(".md-tabs__link").first.click()
    until(reader, "document.querySelector('#how_many_fit')")
    assert reader.evaluate("performance.getEntriesByName('kept').length") == 1  # the theme's navigation works too
