"""The slots of a batch over the engine's steps: static batches above, continuous batching below, the same requests."""

from __future__ import annotations

from collections.abc import Sequence

from snippets.draw.figure import WIDTH_PX, Draw, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.legend import legend
from snippets.draw.scale import Linear, linear_ticks
from snippets.draw.svg import el, hatch, line, rect, svg, text
from snippets.sim.batching import BatchRun, continuous, static_batches
from snippets.sim.lengths import Request
from snippets.units import count, percent

EXAMPLE = (9, 3, 5, 12, 4, 10, 2, 6)  # tokens of the answers
_ROW_PX, _GAP_PX, _HEAD_PX = 20.0, 2.0, 24.0
_ROOM = 1_000_000  # prompts are short beside it


def slots_taken(run: BatchRun, max_num_seqs: int) -> list[int]:
    """A slot for each request, the lowest that is free when it starts."""
    free_from = [0] * max_num_seqs
    taken = []
    for first, last in zip(run.first_token_step, run.last_token_step, strict=True):
        slot = next(slot for slot, step in enumerate(free_from) if step < first)
        free_from[slot] = last
        taken.append(slot)
    return taken


def _panel(run: BatchRun, max_num_seqs: int, x_of: Linear, y: float, words: str, hatch_id: str) -> str:
    """One way to batch: a row for each slot, hatched where it is empty."""
    parts = [text(0, y + 14, words, "t-small")]
    top = y + _HEAD_PX
    for slot in range(max_num_seqs):
        row = top + slot * _ROW_PX
        width = x_of(run.steps) - x_of(0)
        parts.append(el("rect", x=x_of(0), y=row, width=width, height=_ROW_PX - _GAP_PX, fill=f"url(#{hatch_id})"))
    spans = zip(run.first_token_step, run.last_token_step, slots_taken(run, max_num_seqs), strict=True)
    for number, (first, last, slot) in enumerate(spans, 1):
        row, left, right = top + slot * _ROW_PX, x_of(first - 1), x_of(last)
        parts.append(rect(left, row, right - left - 1, _ROW_PX - _GAP_PX, "f-kv", 2))
        parts.append(text((left + right - 1) / 2, row + 13.5, str(number), "f-on", "middle"))
    return "".join(parts)


def batch_slots(output_tokens: Sequence[int] = EXAMPLE, max_num_seqs: int = 4, name: str = "batch-slots") -> Draw:
    """Requests with answers of so many tokens, all there at the start, one-step prompts."""
    requests = [Request(1, tokens) for tokens in output_tokens]
    runs = {
        "Static batches": static_batches(requests, max_num_seqs, _ROOM),
        "Continuous batching": continuous(requests, max_num_seqs, _ROOM),
    }
    still, joined = runs.values()
    finding = (
        f"The same {count(len(requests))} requests in {count(max_num_seqs)} slots: {count(still.steps)} steps in "
        f"static batches, {count(joined.steps)} when a slot is filled again at once"
    )
    rows = tuple(
        (
            str(number),
            count(tokens),
            *(f"{run.first_token_step[i]} to {run.last_token_step[i]}" for run in runs.values()),
        )
        for i, (number, tokens) in enumerate(enumerate(output_tokens, 1))
    )
    table = Table(("request", "tokens of its answer", "steps, static", "steps, continuous"), rows)

    def draw(layout: Layout) -> Figure:
        width, hatch_id = WIDTH_PX[layout], f"{name}-{layout}-hatch"
        x_of = Linear(0, still.steps, 0, width)
        panels, y = [], 0.0
        for words, run in runs.items():
            said = f"{words}: {count(run.steps)} steps, {percent(run.slot_use(max_num_seqs))} of the slots in use"
            panels.append(_panel(run, max_num_seqs, x_of, y, said, hatch_id))
            y += _HEAD_PX + max_num_seqs * _ROW_PX + 12
        ticks = [step for step in linear_ticks(still.steps, 6 if layout == "wide" else 4) if step]
        axis = [line(0, y, width, y, "axis")]
        axis += [line(x_of(step), y, x_of(step), y + 4, "axis") for step in ticks]
        axis += [text(min(x_of(step), width - 8), y + 18, count(step), "t-small", "middle") for step in ticks]
        axis.append(text(0, y + 18, "step", "t-small"))
        key = legend(y + 32, hatch_id, "a request in its slot", "empty slot")
        drawing = svg(width, y + 48, hatch(hatch_id), *panels, *axis, key, labelled_by=finding_id(name))
        detail = "A row is a slot, a bar a request with its number, as long as its answer has tokens."
        return Figure(name, finding, drawing, detail, table)

    return draw
