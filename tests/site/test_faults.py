"""What goes wrong outside: each fault ends in a sentence and a page that still reads, and is over when the fault is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from conftest import SITE, Opens, live, settle, until
from playwright.sync_api import Browser, BrowserContext, Page, Route
from watch import Watch

from tools import browser as browsers

PAGE = "explore/kv-cache/"
BATCH = "#memory_cliff-batch"
WIDGET = "document.querySelector('#memory_cliff')"
STATUS = f"{WIDGET}.querySelector('.widget-status').textContent"
RESULT = f"[...{WIDGET}.querySelectorAll('.readout')].map((one) => one.textContent).join()"
FAILED = f"{WIDGET}.dataset.phase === 'failed'"
SLOW = f"{WIDGET}.dataset.phase === 'slow'"
NOISE = ["wasm", "404", "Failed to", "net::ERR", "WebAssembly", "Incorrect response", "preloaded"]
TRY_AGAIN = "#memory_cliff [data-tool=retry]"
STOPPED = "Python stopped answering. What is shown is from before; the next try starts it again."
SLOW_WORDS = "Python is slow to load: the network is slow or stands still. The page shows the default until it is here."
MINUTE_MS = 60_000
WASM = next(SITE.glob("assets/pyodide-*/pyodide.asm.wasm")).read_bytes()


def still_reads(page: Page, result: str) -> None:
    """Words, drawings and the last result are there."""
    assert page.evaluate(RESULT) == result
    assert page.locator("article h1").is_visible()
    assert page.locator("#memory_cliff .drawing-wide svg").first.is_visible()


def works(page: Page, batch: str) -> None:
    """A change is answered."""
    page.fill(BATCH, batch)
    until(page, f"{WIDGET}.settled && location.hash.includes('batch:{batch}')")
    assert page.evaluate(STATUS) == "Live"


@pytest.fixture
def page(opens: Opens, watch: Watch) -> Iterator[Page]:
    """A page of a context of its own, not yet gone anywhere."""
    watch.expected += NOISE
    page = opens.fresh()
    yield page
    page.context.close()


FAULTS = {
    "missing": lambda route: route.fulfill(status=404, body="not found"),
    "cut short": lambda route: route.fulfill(body=WASM[: len(WASM) // 2], content_type="application/wasm"),
    "a page instead": lambda route: route.fulfill(body="<!doctype html><title>Not found</title>"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_webassembly_that_does_not_load_is_said_and_python_starts_when_it_does(
    fault: str, site: str, page: Page
) -> None:
    page.context.route("**/*.wasm", FAULTS[fault])
    page.goto(site + PAGE)
    built = page.evaluate(RESULT)
    page.fill(BATCH, "53")
    until(page, FAILED)
    said = page.evaluate(STATUS)
    assert said.startswith("Python could not start: ") and said.endswith(". The page still shows the default.")
    if fault == "missing":
        assert "pyodide.asm.wasm: 404" in said
    still_reads(page, built)
    page.context.unroute("**/*.wasm")
    page.click(TRY_AGAIN)
    live(page)
    assert page.input_value(BATCH) == "53"
    assert page.evaluate(RESULT) != built
    assert not page.is_visible(TRY_AGAIN)


@pytest.mark.parametrize("kind", ["application/octet-stream", ""])
def test_webassembly_of_a_wrong_type_starts_and_from_the_kept_memory(kind: str, site: str, page: Page) -> None:
    printed: list[str] = []
    page.on("console", lambda message: printed.append(message.text))
    page.context.route("**/pyodide.asm.wasm", lambda route: route.fulfill(body=WASM, headers={"Content-Type": kind}))
    page.goto(site + PAGE)
    live(page)
    assert [text for text in printed if "preloaded" not in text] == []


@pytest.mark.parametrize("when", ["idle", "asked"])
def test_a_worker_that_was_killed_is_noticed_at_the_next_question_and_started_again(
    when: str, site: str, page: Page
) -> None:
    page.clock.install()
    page.goto(site + PAGE)
    live(page)
    shown = page.evaluate(RESULT)
    worker = next(worker for worker in page.workers if worker.url.startswith("blob:"))
    if when == "asked":
        worker.evaluate("() => { addEventListener('message', () => close(), {capture: true}); }")
        worker.evaluate("() => { self.postMessage = () => {}; }")
    else:
        worker.evaluate("close()")
    page.fill(BATCH, "53")
    page.clock.run_for(MINUTE_MS)
    until(page, FAILED)
    assert page.evaluate(STATUS) == STOPPED
    still_reads(page, shown)
    assert page.input_value(BATCH) == "53"
    page.click(TRY_AGAIN)
    live(page)
    assert page.evaluate(RESULT) != shown
    works(page, "31")


def test_a_killed_worker_is_started_again_by_the_next_change_too(site: str, page: Page) -> None:
    page.clock.install()
    page.goto(site + PAGE)
    live(page)
    next(worker for worker in page.workers if worker.url.startswith("blob:")).evaluate("close()")
    page.fill(BATCH, "53")
    page.clock.run_for(MINUTE_MS)
    until(page, FAILED)
    works(page, "31")


def test_a_server_that_stands_still_is_said_and_waited_for(site: str, page: Page) -> None:
    held: list[Route] = []
    page.context.route("**/*.wasm", lambda route: held.append(route))
    page.clock.install()
    page.goto(site + PAGE)
    built = page.evaluate(RESULT)
    page.fill(BATCH, "53")
    page.clock.run_for(MINUTE_MS)
    until(page, SLOW)
    assert page.evaluate(STATUS) == SLOW_WORDS
    still_reads(page, built)
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    live(page)
    assert page.evaluate(STATUS) == "Live"
    assert page.evaluate(RESULT) != built


def test_a_start_that_stands_still_can_be_begun_anew(site: str, page: Page) -> None:
    page.context.route("**/*.wasm", lambda route: None)
    page.clock.install()
    page.goto(site + PAGE)
    page.fill(BATCH, "53")
    page.clock.run_for(MINUTE_MS)
    until(page, SLOW)
    page.context.unroute("**/*.wasm")
    page.click(TRY_AGAIN)
    live(page)
    assert page.input_value(BATCH) == "53"


def test_a_question_says_that_the_server_stands_still(site: str, page: Page) -> None:
    page.context.route("**/*.wasm", lambda route: None)
    page.clock.install()
    page.goto(f"{site}lessons/kv-cache/")
    question = page.locator("predict-question").first
    question.locator("input").fill("5")
    question.locator("button").click()
    verdict = question.locator(".question-verdict")
    assert verdict.inner_text() == "Starting Python…"
    page.clock.run_for(MINUTE_MS)
    until(page, "document.querySelector('.question-verdict').textContent.startsWith('Python is slow to load')")
    page.context.unroute("**/*.wasm")
    question.locator("button").click()
    until(page, "['right', 'near', 'off'].includes(document.querySelector('predict-question').dataset.verdict)")


@pytest.mark.parametrize("late", ["pyodide.asm.wasm", "python-*.bin", "paths.mjs"])
def test_a_start_cut_off_halfway_goes_on_by_itself_once_the_network_is_back(late: str, site: str, page: Page) -> None:
    held: list[Route] = []
    page.context.route(f"**/{late}", lambda route: held.append(route))
    page.goto(site + PAGE)
    built = page.evaluate(RESULT)
    page.fill(BATCH, "53")
    while not held:
        page.wait_for_timeout(20)
    page.context.set_offline(True)
    held[0].abort("internetdisconnected")
    page.context.unroute(f"**/{late}")
    until(page, FAILED)
    still_reads(page, built)
    assert page.evaluate(STATUS).startswith("Python could not start: ")
    page.context.set_offline(False)
    live(page)
    assert page.input_value(BATCH) == "53"
    assert page.evaluate(RESULT) != built


def test_two_tabs_do_not_disturb_each_other(site: str, page: Page) -> None:
    other = page.context.new_page()
    for one in (page, other):
        one.goto(site + PAGE)
        live(one)
    works(page, "53")
    works(other, "31")
    other.click("label[title*='Switch to light']")
    other.click("label[title*='Switch to dark']")
    assert page.input_value(BATCH) == "53"
    assert page.evaluate("document.body.dataset.mdColorScheme") == "default"
    other.close()
    works(page, "29")
    page.reload()
    live(page)
    assert page.input_value(BATCH) == "29"
    assert page.evaluate("document.body.dataset.mdColorScheme") == "slate"


@pytest.fixture(scope="module")
def with_cache(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that keeps pages which were left; Playwright's own flags forbid it."""
    kept = browser.browser_type.launch(
        executable_path=browsers.find("chromium"),
        args=list(browsers.QUIET),
        ignore_default_args=["--disable-back-forward-cache"],
    )
    yield kept.new_context()
    kept.close()


NOTE = "addEventListener('pageshow', ({persisted}) => { window.persisted = persisted; })"


@pytest.mark.parametrize("phase", ["starting", "ready"])
def test_a_page_from_the_back_forward_cache_goes_on_where_it_was(
    phase: str, site: str, with_cache: BrowserContext, watch: Watch
) -> None:
    watch.expected += NOISE
    page = with_cache.new_page()
    watch.follow(page)
    page.add_init_script(NOTE)
    page.goto(site + PAGE)
    if phase == "ready":
        live(page)
        works(page, "53")
    page.fill(BATCH, "31")
    until(page, "location.hash.includes('batch:31')")
    page.goto(f"{site}glossary/")
    page.go_back(wait_until="commit")  # a page that was kept is loaded already
    page.wait_for_timeout(300)
    if phase == "ready":
        assert page.evaluate("window.persisted") is True
    live(page)
    settle(page)
    assert page.input_value(BATCH) == "31"
    works(page, "29")
    page.close()
