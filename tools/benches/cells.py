"""Stopping a reader's endless loop: until it says so, and until another program has printed.

The loop comes with a link. The clock starts with the press of Stop; the page is usable once another cell, run at once,
has printed.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page

from tools import browser
from tools.benches import chrome
from tools.benches.row import Row, middle

MOST_STOP_MS = 500
MOST_USABLE_MS = 2000
RUNS = 5
LESSON = "lessons/kv-cache/"
LOOPS, OTHER = "cell-kv_bytes_per_token", "cell-kv_cache_size"
LOOP = b"print('on')\nwhile True:\n    pass\n"
MEASURE = """async ([loops, other]) => {
  const until = async (holds) => { while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5)); };
  const find = (id, selector) => document.querySelector(`#${id} ${selector}`);
  const says = (id, part, words) => () => find(id, '.cell-' + part).textContent.includes(words);
  const press = (id, does) => find(id, `[data-does=${does}]`).click();
  await until(says(loops, 'note', 'came with the link'));
  press(loops, 'run');
  await until(says(loops, 'output', 'on'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  const start = performance.now();
  press(loops, 'stop');
  await until(says(loops, 'status', 'Stopped'));
  const stopped = performance.now() - start;
  press(other, 'run');
  await until(says(other, 'status', 'Finished'));
  return [stopped, performance.now() - start];
}"""


def link(code: bytes) -> str:
    """The fragment of a link with code for the cell that loops."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    letters = base64.urlsafe_b64encode(packer.compress(code) + packer.flush()).decode().rstrip("=")
    return f"#{LOOPS}&{LOOPS}=code:{letters}"


def measure(page: Page, site: str) -> tuple[list[float], list[float]]:
    """Milliseconds until stopped and until usable, for each run; the first, which also fills caches, is left out."""
    found: list[tuple[float, float]] = []
    for _ in range(RUNS + 1):
        page.goto("about:blank")
        page.goto(f"{site}{LESSON}{link(LOOP)}")
        stopped, usable = page.evaluate(MEASURE, [LOOPS, OTHER])
        found.append((stopped, usable))
    return [stopped for stopped, _ in found[1:]], [usable for _, usable in found[1:]]


def rows(site: Path) -> Iterator[Row]:
    """Two figures of the same loops."""
    with browser.served(site) as address, chrome.profile() as context:
        stopped, usable = measure(context.new_page(), address)
    for what, times, most in (
        ("stopped", stopped, MOST_STOP_MS),
        ("stopped, and another program has printed", usable, MOST_USABLE_MS),
    ):
        name = f"Endless loop in a cell: {what}"
        yield Row(name, middle(times), "ms", len(times), "the slowest", max(times), most=most)
