"""A browser on the built site. Every page opened in a test must stay on its own origin and print no error."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright
from watch import Watch

from tools import assets
from tools import browser as browsers

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT / "tests" / "snippets" / "widgets"
sys.path.insert(0, str(SHARED))
SITE = ROOT / os.environ.get("SITE", "site")
WAIT_SECONDS = 120


def live_folder() -> str:
    """Where the built site's modules lie: `assets/live-HASH/`."""
    found = [path.relative_to(SITE).as_posix() for path in SITE.glob("assets/live-*")]
    assert len(found) == 1, f"{SITE}: run `make site`"
    return f"{found[0]}/"


def pages() -> list[str]:
    """Paths of all pages of the built site, as the sitemap lists them."""
    sitemap = SITE / "sitemap.xml"
    if not sitemap.exists():
        raise pytest.UsageError(f"{sitemap} is missing: run `make site`, or `make test`, which builds it")
    found = [element.text or "" for element in ElementTree.parse(sitemap).iter() if element.tag.endswith("loc")]
    return [address.removeprefix(found[0]) for address in found]


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """Address of the built site."""
    with browsers.served(SITE) as address:
        yield address


@pytest.fixture(scope="session")
def sample_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of bare pages with the sample widgets, the site's own scripts, styles and policy, and no theme."""
    from sample_page import page_html, parts_html

    folder = tmp_path_factory.mktemp("sample")
    (folder / "assets").mkdir()
    for name in SITE.joinpath("assets").iterdir():
        if name.name != "python" and not name.name.startswith("live-"):
            (folder / "assets" / name.name).symlink_to(name)
    shutil.copytree(SITE / live_folder(), folder / "assets" / "live")
    shutil.copytree(SITE / "assets" / "python", folder / "assets" / "python")
    (folder / "stylesheets").symlink_to(ROOT / "docs" / "stylesheets")
    paths = folder / "assets" / "live" / "paths.mjs"  # the snapshot knows nothing of the sample widgets
    paths.write_text(re.sub(r"(?m)^(export const SNAPSHOT) = .*$", r"\1 = null;", paths.read_text()))
    archive = next((folder / "assets" / "python").glob("snippets-*.zip"))
    archive.write_bytes(assets.snippets_archive())
    with zipfile.ZipFile(archive, "a") as opened:
        opened.write(SHARED / "sample_widget.py", "snippets/widgets/sample.py")
        opened.write(SHARED / "sample_parts.py", "snippets/widgets/sample_parts.py")
        opened.write(SHARED / "sample_question.py", "snippets/widgets/questions/sample.py")
    policy = (SITE / "index.html").read_text().partition('http-equiv="Content-Security-Policy" content="')[2]
    (folder / "index.html").write_text(page_html(policy.partition('">')[0]))
    (folder / "parts.html").write_text(parts_html(policy.partition('">')[0]))
    with browsers.served(folder) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browsers.find("chromium"), args=list(browsers.QUIET))
        yield launched
        launched.close()


class Opens:
    """Opens addresses. Pages of one kind share a context, and so its cache, unless one must be fresh."""

    def __init__(self, browser: Browser, watch: Watch) -> None:
        self.browser = browser
        self.watch = watch
        self.kept: dict[tuple[object, ...], BrowserContext] = {}
        self.opened: list[Page] = []

    def __call__(
        self, url: str, width: int = 1280, scheme: Any = "light", scripts: bool = True, touch: bool = False
    ) -> Page:
        key = (scheme, scripts, touch)
        if key not in self.kept:
            self.kept[key] = self._context(scheme, scripts, touch)
        page = self._follow(self.kept[key].new_page())
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(url)
        return page

    def fresh(self, keeps_copy: bool = False) -> Page:
        """An empty page in a context of its own, to be prepared before it goes anywhere."""
        return self._follow(self._context("light", True, False, keeps_copy).new_page())

    def _context(self, scheme: Any, scripts: bool, touch: bool, keeps_copy: bool = False) -> BrowserContext:
        context = self.browser.new_context(
            viewport={"width": 1280, "height": 800},
            color_scheme=scheme,
            java_script_enabled=scripts,
            has_touch=touch,
            is_mobile=touch,
            permissions=["clipboard-read", "clipboard-write"],
        )
        if not keeps_copy:  # a copy would answer in place of the server, also where a test has damaged that
            context.add_init_script("delete Navigator.prototype.serviceWorker")
        return context

    def _follow(self, page: Page) -> Page:
        self.watch.follow(page)
        self.opened.append(page)
        return page

    def close_pages(self) -> None:
        for page in self.opened:
            page.close()
        self.opened.clear()


@pytest.fixture
def watch(watched: Watch) -> Iterator[Watch]:
    """Fails the test at its end when a page printed an error or left its origin."""
    watched.wrong.clear()
    watched.expected.clear()
    yield watched
    watched.check()


@pytest.fixture(scope="session")
def watched() -> Watch:
    """The one watch over all pages."""
    return Watch()


@pytest.fixture(scope="session")
def opener(browser: Browser, watched: Watch) -> Opens:
    """Contexts kept for the whole run."""
    return Opens(browser, watched)


@pytest.fixture
def opens(opener: Opens, watch: Watch) -> Iterator[Opens]:
    """Opens addresses: `opens(url, width=360, scheme="dark", scripts=False)`; its pages are closed after the test."""
    yield opener
    opener.close_pages()


def until(page: Page, expression: str, what: str = "") -> Any:
    """Wait until a JavaScript expression is true. The policy forbids Playwright's own waiting for functions."""
    end = time.monotonic() + WAIT_SECONDS
    while not (value := _said(page, expression)):
        if time.monotonic() > end:
            raise AssertionError(f"{what or expression}: not within {WAIT_SECONDS} s at {page.url}")
        page.wait_for_timeout(20)
    return value


def _said(page: Page, expression: str) -> Any:
    """What an expression gives; nothing while one page goes and another comes."""
    try:
        return page.evaluate(expression)
    except Error as error:
        if "Execution context was destroyed" in str(error):
            return None
        raise


SWAP = """() => {
  window.swapped = document.querySelector('article');
  dispatchEvent(new PopStateEvent('popstate'));
}"""


def keep(opener: Opens, url: str) -> Page:
    """A live page for all tests of a module, to be brought back by `reset`."""
    page = after_the_swap(live(opener(url)))
    opener.opened.remove(page)
    return page


def after_the_swap(page: Page) -> Page:
    """Take a live page's first step in its history.

    At that step the theme loads the page anew and puts all of it in place of what stands there, a moment later: taken
    here, so that no test measures what is about to go.
    """
    page.evaluate(SWAP)
    until(page, "document.querySelector('article') !== swapped", "the theme has loaded the page anew")
    return live(page)


ALL_LIVE = """() => {
  const widgets = [...document.querySelectorAll('serving-widget')];
  for (const widget of widgets) widget.dispatchEvent(new Event('pointerenter'));
  return widgets.every((widget) => widget.dataset.phase === 'ready' && !widget.hasAttribute('data-waiting'));
}"""


def live(page: Page) -> Page:
    """Wait until every widget of the page is live."""
    until(page, ALL_LIVE, "Python is live")
    settle(page)
    return page


def answered(page: Page) -> None:
    """Wait until what is shown is the answer to what is set."""
    until(page, "() => [...document.querySelectorAll('serving-widget')].every((widget) => widget.answered)", "answered")


def settle(page: Page) -> None:
    """Wait until, besides, both widths are drawn and the address says what is set."""
    until(page, "() => [...document.querySelectorAll('serving-widget')].every((widget) => widget.settled)", "settled")


@pytest.fixture(scope="session")
def sample_page(sample_site: str, opener: Opens) -> Page:
    """The sample page, live, for all tests that do not need its start."""
    page = live(opener(sample_site))
    opener.opened.remove(page)
    return page


@pytest.fixture
def sample(sample_page: Page, watch: Watch) -> Page:
    """The live sample page as it opens."""
    return reset(sample_page)


def put(page: Page, field: str, text: str) -> None:
    """Put a long text into a field at once: the browser takes minutes to type 100 KB."""
    page.eval_on_selector(
        field,
        """(one, text) => {
          one.value = JSON.parse(text);
          one.dispatchEvent(new Event('input', {bubbles: true}));
        }""",
        json.dumps(text),  # half a character would not pass as it is
    )
    settle(page)


def reset(page: Page) -> Page:
    """Bring a live page back to how it opens, without loading it again."""
    page.set_viewport_size({"width": 1280, "height": 800})
    page.evaluate("""() => {
      for (const details of document.querySelectorAll('details')) details.open = false;
      history.pushState({x: 0, y: 0}, '', location.pathname); // as if gone back to: a new entry would keep what is set
      dispatchEvent(new PopStateEvent('popstate'));
      document.activeElement.blur();
    }""")
    settle(page)
    return page


def go(page: Page, fragment: str) -> Page:
    """Follow a fragment on the page, as if it had been typed into the address bar."""
    page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
    settle(page)
    return page
