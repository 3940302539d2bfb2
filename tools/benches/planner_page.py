"""How quickly the planner answers in Chromium: from the change of a control to the new page.

The clock starts with the input event and stops when the answer is in the page: Python in its worker, JSON both ways,
and the writing of text and drawing.
"""

from __future__ import annotations

import json

from playwright.sync_api import Page

from snippets.catalog.configs import config_entries
from tools.benches import chrome

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


def large_config() -> str:
    """A config.json of 100 KB."""
    labels = {str(n): f"LABEL_{n}" for n in range(4600)}
    return json.dumps({**config_entries()["llama-3.1-8b"].config, "id2label": labels}, indent=1)


def answers(page: Page, address: str) -> dict[str, list[float]]:
    """Milliseconds from each change of a control to its answer in the page."""
    page.goto(address)
    chrome.live(page)
    return {name: page.evaluate(CHANGE, [name, texts]) for name, texts in MOVES.items()}


def pasted(page: Page) -> float:
    """The longest time that the page stands still for a large config, in ms; 0 when below 50."""
    page.select_option("#planner-model", "paste")
    chrome.live(page)
    return float(page.evaluate(PASTE, large_config()))
