"""The site without network: what is kept, when, what it answers, and what becomes of it with a new build."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from conftest import SITE, WAIT_SECONDS, Opens, answered, live, until
from playwright.sync_api import Page
from watch import Watch

from tools import offline, serve

EXPLORER = "explore/kv-cache/"
ABOUT = "about/offline/"
BATCH = "#memory_cliff-batch"
WANTED = offline.kept_files(SITE)
HELD = """async () => {
  const names = (await caches.keys()).filter((name) => name.startsWith('offline '));
  const counts = await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).length));
  return counts.reduce((sum, one) => sum + one, 0);
}"""
WORKERS = "navigator.serviceWorker.getRegistrations().then((all) => all.length)"
IN_CHARGE = "navigator.serviceWorker.controller?.state === 'activated'"
OTHER = "http://127.0.0.2:9/"
LOST = (
    "net::ERR_",
    "FetchEvent",
    "Failed to load resource",
    "preloaded",
)  # what the browser itself prints without network


class Quiet(serve.Handler):
    """A server that can be made to say nothing, as a network that is there and does not carry."""

    silent = threading.Event()

    def do_GET(self) -> None:
        while Quiet.silent.is_set():
            time.sleep(0.05)
        super().do_GET()


class Host:
    """A static host on an address of its own, which can lose its network and get it back."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self.up()

    def up(self) -> None:
        self.server = serve.Server(("127.0.0.1", self.port), partial(Quiet, directory=str(self.folder)))
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def down(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"


@pytest.fixture
def host() -> Iterator[Host]:
    one = Host(SITE)
    yield one
    Quiet.silent.clear()
    one.server.server_close()


@pytest.fixture
def own_host(tmp_path: Path) -> Iterator[Host]:
    """A host whose files the test may change."""
    one = Host(Path(shutil.copytree(SITE, tmp_path / "site")))
    yield one
    one.server.server_close()


@pytest.fixture
def reader(opens: Opens, watch: Watch) -> Iterator[Page]:
    """A reader's first visit, in a browser that can keep things."""
    watch.expected += LOST
    page = opens.fresh(keeps_copy=True)
    yield page
    page.context.close()


def use(page: Page, address: str) -> None:
    """One visit in which a widget runs."""
    page.goto(address + EXPLORER)
    live(page)
    assert page.evaluate(WORKERS) == 0
    page.fill(BATCH, "53")
    answered(page)
    until(page, IN_CHARGE, "the copy is complete and in charge")


def says(page: Page, state: str) -> str:
    until(page, f"document.querySelector('offline-copy')?.dataset.state === '{state}'", state)
    return page.inner_text("offline-copy [role=status]")


def test_after_a_visit_in_which_a_widget_ran_everything_works_without_network(host: Host, reader: Page) -> None:
    use(reader, host.address)
    assert reader.evaluate(HELD) == len(WANTED)
    host.down()
    reader.evaluate("performance.mark('kept')")
    reader.locator(".md-tabs__link").nth(1).click()  # lessons, without a load
    until(
        reader,
        "location.pathname === '/lessons/' && document.querySelector('h1')?.textContent.includes('All lessons')",
    )
    assert reader.evaluate("performance.getEntriesByName('kept').length") == 1
    reader.go_back()
    until(reader, f"document.querySelector('{BATCH}')?.value === '53'", "back, with what was set")
    reader.reload()
    live(reader)
    assert reader.input_value(BATCH) == "53"
    reader.fill(BATCH, "31")
    answered(reader)
    reader.go_forward()
    reader.goto(f"{host.address}labs/serve-kv/")
    reader.go_back()
    until(reader, "location.pathname === '/lessons/' && document.querySelector('h1')", "back over a load")
    reader.go_forward()
    until(reader, "location.pathname === '/labs/serve-kv/' && document.querySelector('h1')")
    reader.click(".md-search__input")
    reader.keyboard.type("roofline")
    until(
        reader, "document.querySelector('.md-search-result__item a')?.href.includes('glossary')", "the search answers"
    )


def test_python_starts_the_slower_way_without_network_too(host: Host, reader: Page) -> None:
    use(reader, host.address)
    [memory] = [kept.hash for path, kept in WANTED.items() if path.startswith("assets/python/python-")]
    host.down()
    forget = """async (hash) => {
      const store = await caches.open((await caches.keys())[0]);
      return store.delete(new URL('/kept/' + encodeURIComponent(hash), location));
    }"""
    assert reader.evaluate(forget, memory) is True
    told: list[str] = []
    reader.on("console", lambda message: told.append(message.text))
    reader.reload()
    live(reader)
    assert any("Python starts the slower way" in text for text in told)
    reader.fill(BATCH, "31")
    answered(reader)


def test_addresses_that_are_not_a_pages_own_are_answered_without_network(host: Host, reader: Page) -> None:
    use(reader, host.address)
    host.down()
    answer = reader.goto(f"{host.address}no/such/page/")
    assert answer is not None and answer.status == 404
    assert "404" in reader.inner_text("article")
    until(reader, "document.fonts.status === 'loaded' && document.styleSheets.length > 1")
    for asked, path in {
        "lessons": "/lessons/",
        "explore/kv-cache/index.html": "/explore/kv-cache/index.html",
        "glossary/?h=roofline#roofline": "/glossary/",
        "?source=app": "/",
    }.items():
        answer = reader.goto(host.address + asked)
        assert answer is not None and answer.status == 200, asked
        assert reader.evaluate("location.pathname") == path
        assert reader.evaluate("location.search") == asked.partition("?")[2].partition("#")[0].join(
            ["?" * ("?" in asked), ""]
        )


def test_a_module_asked_for_with_a_query_knows_its_whole_address(host: Host, reader: Page) -> None:
    """Answered under the kept file's own address it would be another module, and would lose the query."""
    use(reader, host.address)
    module = next(path for path in WANTED if path.endswith("/paths.mjs"))
    host.down()
    found = reader.evaluate("(url) => fetch(url).then((answer) => answer.url)", f"{host.address}{module}?mode=1")
    assert found == f"{host.address}{module}?mode=1"


def test_a_silent_network_costs_a_few_seconds_and_no_page(host: Host, reader: Page) -> None:
    use(reader, host.address)
    Quiet.silent.set()
    reader.goto(f"{host.address}glossary/", wait_until="commit", timeout=60_000)
    until(reader, "document.querySelector('h1')?.textContent.includes('Glossary')")
    Quiet.silent.clear()


def test_all_that_a_visit_asks_for_is_kept(site: str, opens: Opens) -> None:
    page = opens.fresh()
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url))
    for path in ("", EXPLORER, "lessons/kv-cache/", "tools/planner/", "notebooks/with-and-without-the-cache/", ABOUT):
        page.goto(site + path)
        live(page)
    page.click(".md-search__input")
    until(page, "document.querySelector('.md-search-result__meta').textContent.includes('Type to start')")
    paths = {url.removeprefix(site).partition("?")[0] for url in asked if url.startswith(site)}
    assert len(paths) > 50
    assert paths - set(WANTED) == set()
    page.context.close()


def test_the_button_keeps_the_site_by_key_and_says_how_it_went(host: Host, reader: Page) -> None:
    reader.goto(host.address + ABOUT)
    assert says(reader, "none").startswith("Nothing is kept")
    whole = sum(kept.size_bytes for kept in WANTED.values())
    assert f"{round(whole / 1e6)} MB" in reader.inner_text("article")
    seen = reader.evaluate_handle("""() => {
      const seen = [];
      const bar = document.querySelector('offline-copy progress');
      new MutationObserver(() => { if (!bar.hidden) seen.push(bar.value); }).observe(bar, {attributes: true});
      return seen;
    }""")
    assert reader.evaluate(HELD) == 0
    reader.focus("[data-does=keep]")
    reader.keyboard.press("Enter")
    assert says(reader, "kept").endswith("It works without network.")
    assert reader.evaluate("document.activeElement.dataset.does") == "keep"
    steps = seen.json_value()
    assert len(steps) > 10 and steps == sorted(steps)
    assert reader.evaluate(HELD) == len(WANTED)
    host.down()
    reader.reload()
    says(reader, "kept")
    reader.goto(host.address + EXPLORER)
    live(reader)


def test_a_copy_that_was_removed_is_gone_and_is_not_made_by_use_again(host: Host, reader: Page) -> None:
    use(reader, host.address)
    reader.goto(host.address + ABOUT)
    says(reader, "kept")
    reader.click("[data-does=remove]")
    says(reader, "removed")
    assert reader.evaluate(HELD) == 0
    reader.goto(host.address + EXPLORER)
    live(reader)
    assert reader.evaluate(WORKERS) == 0
    reader.fill(BATCH, "31")
    answered(reader)
    reader.wait_for_timeout(500)
    assert reader.evaluate(WORKERS) == 0
    reader.goto(host.address + ABOUT)
    reader.click("[data-does=keep]")
    says(reader, "kept")
    assert reader.evaluate("localStorage.length") == 0


def test_a_reader_who_saves_data_gets_no_copy_unasked(host: Host, reader: Page) -> None:
    reader.add_init_script("Object.defineProperty(navigator, 'connection', {value: {saveData: true}})")
    reader.goto(host.address + EXPLORER)
    until(reader, f"document.querySelector('{BATCH}').disabled === false")
    reader.fill(BATCH, "31")
    until(reader, "document.querySelector('#memory_cliff').dataset.phase === 'ready'")
    answered(reader)
    reader.wait_for_timeout(500)
    assert reader.evaluate(WORKERS) == 0


def test_a_file_that_is_not_the_builds_makes_no_copy_and_the_next_try_goes_on(own_host: Host, reader: Page) -> None:
    page = own_host.folder / "glossary" / "index.html"
    right = page.read_bytes()
    page.write_bytes(right.replace(b"Glossary", b"Glossery"))
    reader.goto(own_host.address + ABOUT)
    reader.click("[data-does=keep]")
    assert "did not arrive as it was built" in says(reader, "unfetched")
    until(reader, f"{WORKERS}.then((all) => all === 0)")
    so_far = reader.evaluate(HELD)
    assert 0 < so_far < len(WANTED)
    page.write_bytes(right)
    asked: list[str] = []
    reader.context.on("request", lambda request: asked.append(request.url))
    reader.click("[data-does=keep]")
    says(reader, "kept")
    assert reader.evaluate(HELD) == len(WANTED)


def new_build(folder: Path) -> None:
    """Another build in place of the first: a page says something else, the modules lie in another folder."""
    [old] = folder.glob("assets/live-*")
    old.rename(folder / "assets" / "live-000000000000")
    for page in folder.rglob("*.html"):
        text = page.read_text().replace(old.name, "live-000000000000")
        page.write_text(text.replace("Glossary</h1>", "Newer glossary</h1>").replace(">Glossary<", ">Newer glossary<"))
    (folder / offline.WORKER).write_text(offline.worker(offline.kept_files(folder)))


def test_a_new_build_breaks_no_open_page_and_takes_over_when_all_are_closed(own_host: Host, reader: Page) -> None:
    use(reader, own_host.address)
    second = reader.context.new_page()
    second.goto(f"{own_host.address}lessons/kv-cache/")
    new_build(own_host.folder)
    until(reader, "navigator.serviceWorker.getRegistration().then((one) => one.update()).then(() => true)")
    until(reader, "navigator.serviceWorker.getRegistration().then((one) => one.waiting?.state === 'installed')")
    # The open page still loads what its build has and the host has no longer.
    [modules] = SITE.glob("assets/live-*")
    old = f"/assets/{modules.name}/plain_editor.mjs"
    assert not (own_host.folder / old[1:]).exists()
    assert reader.evaluate("(path) => import(path).then((one) => typeof one.createEditor)", old) == "function"
    reader.fill(BATCH, "29")
    answered(reader)
    second.goto(f"{own_host.address}glossary/")  # with network, the newest page
    assert second.inner_text("h1").startswith("Newer glossary")
    own_host.down()
    second.reload()  # without, the page of the build that is kept
    assert second.inner_text("h1").startswith("Glossary")
    own_host.up()
    second.close()
    reader.goto("about:blank")
    reader.goto(f"{own_host.address}glossary/")
    until(
        reader,
        "navigator.serviceWorker.getRegistration().then((one) => !one.waiting && one.active.state === 'activated')",
    )
    new = offline.kept_files(own_host.folder)
    until(reader, f"({HELD})().then((held) => held === {len(new)})", "what only the old build had is gone")
    own_host.down()
    reader.reload()
    assert reader.inner_text("h1").startswith("Newer glossary")
    reader.goto(own_host.address + EXPLORER)
    live(reader)


def test_the_worker_refuses_other_hosts_also_to_a_page_without_a_policy(
    own_host: Host, reader: Page, watch: Watch
) -> None:
    watch.expected.append(f"bare.html asks for {OTHER}")
    (own_host.folder / "bare.html").write_text("<!doctype html><title>No policy</title>")
    use(reader, own_host.address)
    reader.goto(f"{own_host.address}bare.html")
    until(reader, IN_CHARGE)
    left: list[str] = []
    reader.context.on("requestfailed", lambda request: left.append(request.failure or ""))
    refused = reader.evaluate(f"fetch('{OTHER}', {{mode: 'no-cors'}}).then(() => '', (error) => error.name)")
    assert refused == "TypeError"
    assert left == ["net::ERR_FAILED"]  # the worker's no; a host that is not there would be ERR_CONNECTION_REFUSED
    source = offline.SOURCE.read_text()
    assert re.findall(r"(?<!fromNetwork)\bfetch\(([^)]*)\)", source) == ["new URL(path, home", "request", "request"]
    assert not re.search(r"importScripts|XMLHttpRequest|WebSocket|EventSource|\beval\b|https?:", source)


def test_the_site_can_be_installed(site: str, opens: Opens) -> None:
    page = opens.fresh(keeps_copy=True)
    page.goto(site)
    devtools = page.context.new_cdp_session(page)
    told = devtools.send("Page.getAppManifest")
    assert told["errors"] == []
    manifest = told["manifest"]
    assert (manifest["startUrl"], manifest["scope"], manifest["display"]) == (site, site, "kStandalone")
    end = time.monotonic() + WAIT_SECONDS
    while True:
        errors = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
        found = {error["errorId"] for error in errors} - {"in-incognito"}  # as every page of a test is
        if found != {"manifest-location-changed"} or time.monotonic() > end:
            break  # that one is said while the page is still being read
        page.wait_for_timeout(50)
    assert found == set()
    page.context.close()


def test_the_windows_bar_has_the_headers_colour(site: str, opens: Opens) -> None:
    colour = "document.querySelector('meta[name=theme-color]')?.content"
    assert until(opens(site), colour) == "#ffffff"
    assert until(opens(site, scheme="dark"), colour) == "#1e2129"
