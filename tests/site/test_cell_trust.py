"""What a reader's program can reach: no other host, nothing that the browser keeps for the site, no other worker."""

from __future__ import annotations

import pytest
from cell import Cell
from conftest import Opens
from stranger import stranger
from watch import Watch

LESSON = "lessons/kv-cache/"
KEPT = (
    *("js.caches", "js.indexedDB", "js.cookieStore", "js.localStorage", "js.BroadcastChannel", "js.SharedWorker"),
    *("js.Worker", "js.postMessage", "js.navigator.storage", "js.navigator.serviceWorker", "js.navigator.locks"),
    *("js.webkitRequestFileSystem", "js.webkitRequestFileSystemSync", "js.Notification"),
)
# Ways back to what was taken: the prototypes, a function made from text, a module made from text.
BACK = {
    "prototype": "js.Object.getPrototypeOf(js.self).caches",
    "constructor": "js.Object.constructor.constructor('return caches')()",
    "run_js": "__import__('pyodide').code.run_js('caches')",
    "importScripts": "js.importScripts('data:text/javascript,self.taken=1')",
}


@pytest.fixture
def cell(site: str, opens: Opens, watch: Watch) -> Cell:
    watch.expected += ["preloaded", "Content Security Policy", "violates", "Refused", "Failed to load", "WebSocket"]
    page = opens.fresh()
    page.goto(site + LESSON)
    return Cell(page, "kv_cache_size").alive()


def test_what_the_browser_keeps_is_out_of_reach(cell: Cell) -> None:
    tries = "\n".join(f"try:\n    print({name!r}, {name})\nexcept AttributeError:\n    print('gone')" for name in KEPT)
    assert cell.run(f"import js\n{tries}") == "gone\n" * len(KEPT)
    back = "\n".join(
        f"try:\n    print({way!r}, {code})\nexcept Exception as error:\n    print('gone')" for way, code in BACK.items()
    )
    assert cell.run(f"import js\n{back}") == "gone\n" * len(BACK)


CODE = """
import js
from pyodide.http import open_url
from pyodide.ffi import create_proxy
url = URL
def attempt(ask):
    try:
        ask()
    except Exception:
        pass
attempt(lambda: open_url(url))
attempt(lambda: js.fetch(url))
attempt(lambda: js.WebSocket.new(url.replace('http', 'ws')))
attempt(lambda: js.EventSource.new(url))
attempt(lambda: js.importScripts(url))
attempt(lambda: js.XMLHttpRequest.new().open('GET', url, False))
import urllib.request
attempt(lambda: urllib.request.urlopen(url, timeout=1))
print('tried')
"""


def test_no_other_host_is_asked(cell: Cell) -> None:
    with stranger() as other:
        assert cell.run(CODE.replace("URL", repr(other.url))) == "tried\n"
        cell.page.wait_for_timeout(500)
        assert other.asked == [] and other.connected == 0


def test_a_program_cannot_speak_for_the_page(cell: Cell) -> None:
    """What is printed is text of a known kind, whatever a program does to its worker."""
    shown = cell.run(
        "import js\nprint('<b>bold</b>')\ntry:\n    js.postMessage(1)\nexcept Exception as e:\n    print(1)"
    )
    assert shown == "<b>bold</b>\n1\n"
    assert cell.page.locator(f"#{cell.id} .cell-output b").count() == 0
