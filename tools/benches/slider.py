"""Dragging a slider: from its input event to the answer in the page, and to the frame that shows it.

Each move happens at the start of a frame, as a hand's do, and waits for the answer to the one before.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tools import browser
from tools.benches import chrome
from tools.benches.row import Row, p95

PAGE = "explore/kv-cache/"
MOVES = 25  # of each slider that can be seen
MOST_WORK_MS = 8
MOST_FRAME_MS = 33

DRAG = """async ([id, moves]) => {
  const slider = document.getElementById(id), widget = slider.closest('serving-widget'), times = [];
  const turn = () => new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(0);
  });
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const [low, high, step] = [slider.min, slider.max, slider.step || 1].map(Number), steps = (high - low) / step;
  slider.scrollIntoView({block: 'center'});
  while (!widget.settled) await turn();
  for (let move = 1; move <= moves; move++) {
    await frame();
    const at = steps < moves ? move % (Math.floor(steps) + 1) : Math.round(move / moves * steps);
    const start = performance.now();
    slider.value = String(low + at * step);
    slider.dispatchEvent(new Event('input', {bubbles: true}));
    while (!widget.answered) await turn();
    const work = performance.now() - start;
    await frame();
    await turn();
    times.push([work, performance.now() - start]);
  }
  return times;
}"""
SEEN = """[...document.querySelectorAll('serving-widget input[type=range]')]
  .filter((one) => !one.disabled && one.checkVisibility()).map((one) => one.id)"""


def rows(site: Path) -> Iterator[Row]:
    """All sliders together, and the slowest of them."""
    times: dict[str, list[tuple[float, float]]] = {}
    with browser.served(site) as address, chrome.profile() as context:
        page = context.new_page()
        page.goto(address + PAGE)
        chrome.live(page)
        for slider in page.evaluate(SEEN):
            page.evaluate(DRAG, [slider, 3])  # the first moves draw parts that the page opened without
            times[slider] = page.evaluate(DRAG, [slider, MOVES])
    moves = [move for one in times.values() for move in one]
    slowest, its = max(times.items(), key=lambda item: p95([work for work, _ in item[1]]))
    worst = f"the slowest of {len(times)} sliders, {slowest.removesuffix('-slider')}"
    all_work, all_frames = ([move[part] for move in moves] for part in (0, 1))
    yield Row("Slider: answer in the page, p95", p95(all_work), "ms", len(moves), worst,
              p95([work for work, _ in its]), most=MOST_WORK_MS)  # fmt: skip
    yield Row("Slider: frame with the answer, p95", p95(all_frames), "ms", len(moves), worst,
              p95([shown for _, shown in its]), most=MOST_FRAME_MS)  # fmt: skip
