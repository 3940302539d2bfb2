"""How soon an endless loop in a cell is stopped, and the page usable again, in Chromium, for `make bench`.

`python tests/bench/stop_cell.py [SITE]`. The loop comes with a link. The clock starts with the press of Stop; the page
is usable once another cell, run at once, has printed. Limits: 500 ms and 2,000 ms.
"""

from __future__ import annotations

import base64
import shutil
import sys
import threading
import zlib
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tools import serve  # noqa: E402

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


def main(site: str = "site") -> int:
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if (found := shutil.which(name))), "")
    if not path:
        print("stopping a cell was not measured: no Chromium on the path (`make chromium`)")
        return 0
    server = serve.start(ROOT / site, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        stopped, usable = measure(browser.new_page(), f"http://127.0.0.1:{server.server_port}/")
        browser.close()
    server.shutdown()
    print(f"an endless loop in a cell: stopped after {median(stopped):.0f} ms (limit 500; slowest {max(stopped):.0f}),")
    print(f"the page usable again after {median(usable):.0f} ms (limit 2,000; slowest {max(usable):.0f}); {RUNS} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
