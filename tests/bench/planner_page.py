"""How quickly the planner answers in Chromium, for `make bench`: from the change of a control to the new page.

`python tests/bench/planner_page.py [SITE]`. The clock starts with the input event and stops when the answer is in the
page: Python in its worker, JSON both ways, and the writing of text and drawing.
"""

from __future__ import annotations

import json
import shutil
import sys
import threading
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from snippets.catalog.configs import config_entries  # noqa: E402
from tools import serve  # noqa: E402

FRAME_MS = 1000 / 60
REPEATS = 20
MOVES = {
    "max_model_len": [str(4096 + 64 * n) for n in range(REPEATS)],
    "gpu_memory_utilization": [f"{0.9 + n / 1000:.3f}" for n in range(REPEATS)],
    "tensor_parallel_size": ["1", "2", "4", "2"] * (REPEATS // 4),
    "kv_cache_dtype": ["fp8", "auto"] * (REPEATS // 2),
    "model": ["llama-3.1-8b", "gemma-2-2b", "gpt-oss-20b", "qwen2.5-7b"] * (REPEATS // 4),
}
CHANGE = """async ([name, texts]) => {
  const widget = document.querySelector('#planner'), field = document.querySelector('#planner-' + name), times = [];
  const turn = () => new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(0);
  });
  for (const text of texts) {
    while (!widget.settled) await new Promise((resolve) => setTimeout(resolve, 10));
    const start = performance.now();
    field.value = text;
    field.dispatchEvent(new Event('input', {bubbles: true}));
    while (!widget.answered) await turn();
    times.push(performance.now() - start);
  }
  return times;
}"""
PASTE = """async (text) => {
  const widget = document.querySelector('#planner'), field = document.querySelector('#planner-config'), tasks = [0];
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => tasks.push(entry.duration)))
    .observe({entryTypes: ['longtask']});
  field.value = text;
  field.dispatchEvent(new Event('input', {bubbles: true}));
  while (!widget.settled) await new Promise((resolve) => setTimeout(resolve, 10));
  return Math.max(...tasks);
}"""


def ready(page: Page) -> None:
    """Wait until Python has answered."""
    page.evaluate("document.querySelector('#planner').dispatchEvent(new Event('pointerenter'))")
    while not page.evaluate("(({answered, settled}) => answered && settled)(document.querySelector('#planner'))"):
        page.wait_for_timeout(50)


def large_config() -> str:
    """A config.json of 100 KB."""
    labels = {str(n): f"LABEL_{n}" for n in range(4600)}
    return json.dumps({**config_entries()["llama-3.1-8b"].config, "id2label": labels}, indent=1)


def answers(page: Page, address: str) -> dict[str, list[float]]:
    """Milliseconds from each change of a control to its answer in the page."""
    page.goto(address)
    ready(page)
    return {name: page.evaluate(CHANGE, [name, texts]) for name, texts in MOVES.items()}


def pasted(page: Page) -> float:
    """The longest time that the page stands still for a large config, in ms; 0 when below 50."""
    page.select_option("#planner-model", "paste")
    ready(page)
    return float(page.evaluate(PASTE, large_config()))


def measure(page: Page, address: str) -> None:
    """Print one line for each control, and one for the paste."""
    for name, times in answers(page, address).items():
        middle, slowest = median(times), max(times)
        print(f"  {name}: {middle:.1f} ms, {middle / FRAME_MS:.1f} frames (of {len(times)}; slowest {slowest:.0f} ms)")
    longest = f"{pasted(page):.0f} ms (0: below 50 ms)"
    print(f"  a config of {len(large_config()):,} bytes: the page stands still for at most {longest}")


def main(site: str = "site") -> int:
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if (found := shutil.which(name))), "")
    if not path:
        print("the planner's page was not measured: no Chromium on the path (`make chromium`)")
        return 0
    server = serve.start(ROOT / site, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print("the planner's page in Chromium, from a change to its answer in the page:")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        measure(
            browser.new_page(viewport={"width": 1280, "height": 900}),
            f"http://127.0.0.1:{server.server_port}/tools/planner/",
        )
        browser.close()
    server.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
