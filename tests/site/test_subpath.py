"""`SITE_URL=… make site` gives a folder for a sub-path of any static host, here Python's own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, Opens, answered, live, until
from watch import Watch

from tools.serve import Handler

BELOW = "courses/llm/"


class Plain(SimpleHTTPRequestHandler):
    """A host that sends files as they are: its only knowledge is the type of a module."""

    extensions_map = Handler.extensions_map

    def log_message(self, format: str, *args: object) -> None:
        pass


def _project(folder: Path) -> Path:
    """The site's own configuration over three pages, with the assets that the site has."""
    docs = folder / "docs"
    docs.mkdir()
    for name in ("assets", "stylesheets", "images", "glossary.md", "explore"):
        (docs / name).symlink_to(ROOT / "docs" / name)
    (docs / "index.md").write_text("# Home\n\n[To the memory cliff](explore/kv-cache.md)\n")
    config = yaml.load((ROOT / "mkdocs.yml").read_text(), Loader=yaml.BaseLoader)
    own = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": str(docs),
        "theme": {**config["theme"], "font": False, "custom_dir": str(ROOT / "overrides")},
        "hooks": [str(ROOT / hook) for hook in config["hooks"]],
        "nav": [{"Home": "index.md"}, {"Explore": "explore/kv-cache.md"}, {"Glossary": "glossary.md"}],
        "copyright": "",
        "validation": {"unrecognized_links": "ignore", "not_found": "ignore", "anchors": "ignore"},
    }
    path = folder / "mkdocs.yml"
    path.write_text(yaml.safe_dump(own))
    return path


@pytest.fixture(scope="module")
def below(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a small site that was built for just this address, below the root of its host."""
    folder = tmp_path_factory.mktemp("below")
    host = folder / "host"
    host.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Plain, directory=str(host)))
    address = f"http://127.0.0.1:{server.server_port}/{BELOW}"
    build = [sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(_project(folder)), "-d", str(host / BELOW)]
    done = subprocess.run(build, cwd=ROOT, env={**os.environ, "SITE_URL": address}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield address
    server.shutdown()
    server.server_close()


def test_instant_navigation_widgets_and_the_page_for_what_is_missing_work_below_the_root(
    below: str, opens: Opens
) -> None:
    page = opens(below)
    until(page, "'document$' in window && document.readyState === 'complete'")
    page.evaluate("performance.mark('kept')")
    page.click("article a:has-text('memory cliff')")
    until(page, "document.querySelector('#memory_cliff')")
    assert page.url == f"{below}explore/kv-cache/"
    assert page.evaluate("performance.getEntriesByName('kept').length") == 1  # the page was not loaded anew
    live(page)
    page.fill("#memory_cliff-batch", "53")
    answered(page)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{below}404.html")
    until(page, "document.styleSheets.length > 1")
    assert [url for url in asked if not url.startswith(below)] == []


def test_the_copy_and_the_installed_app_are_of_the_sub_path_only(below: str, opens: Opens, watch: Watch) -> None:
    watch.expected += ["preloaded"]
    page = opens.fresh(keeps_copy=True)
    page.goto(f"{below}explore/kv-cache/")
    live(page)
    page.fill("#memory_cliff-batch", "53")
    answered(page)
    until(page, "navigator.serviceWorker.controller?.state === 'activated'")
    scopes = "navigator.serviceWorker.getRegistrations().then((all) => all.map(({scope}) => scope))"
    assert page.evaluate(scopes) == [below]
    assert page.evaluate("caches.keys()") == [f"offline /{BELOW}"]
    page.context.set_offline(True)
    page.goto(f"{below}glossary/")
    assert page.inner_text("h1").startswith("Glossary")
    page.goto(below)
    manifest = page.context.new_cdp_session(page).send("Page.getAppManifest")["manifest"]
    assert (manifest["startUrl"], manifest["scope"]) == (below, below)
    page.context.close()
