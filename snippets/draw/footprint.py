"""Weights and KV cache laid against GPU boundaries: how many GPUs the memory alone asks for.

Each box is one GPU, or many when there would be too many boxes to see.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from snippets.draw.figure import WIDTH_PX, Draw, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.place import line_width
from snippets.draw.scale import memory_text, nice_step
from snippets.draw.svg import rect, svg, text
from snippets.units import count, percent

WORDS = {
    "finding one": "{total} in all: 1 GPU of {gpu} by memory alone",
    "finding": "{total} in all: {n} GPUs of {gpu} by memory alone",
    "detail": "Activations, CUDA graphs and what the server leaves free come on top.",
    "weights": "weights {memory}",
    "kv": "KV {memory}",
    "free": "{memory} left",
    "gpu": "GPU {n}",
    "box": "each box is a GPU of {gpu}",
    "boxes": "each box is {n} GPUs of {gpu}",
    "part weights": "weights",
    "part kv": "KV cache",
    "part total": "both",
    "part free": "left in {n} × {gpu}",
}
TABLE_HEAD = ("part", "memory", "share of the GPUs' memory")

MOST_BOXES = 100
_COLUMNS: dict[Layout, int] = {"wide": 25, "narrow": 20}
# The drawing is always equally high, so that nothing on the page jumps while a slider moves.
_TOP, _HEIGHT, _NAMES, _CAPTION = 26.0, 52.0, 18.0, 38.0
_GAP = {"wide": 4.0, "narrow": 3.0}
_PART_GAP = 1.5  # px between two parts in one box
_LEAST = 4.0  # px, so that the smallest part is still seen


@dataclass(frozen=True)
class _Boxes:
    """How the GPUs are drawn."""

    number: int
    gpus_each: int
    columns: int
    width: float
    gap: float

    @property
    def rows(self) -> int:
        return ceil(self.number / self.columns)

    @property
    def height(self) -> float:
        return (_HEIGHT - (self.rows - 1) * self.gap) / self.rows

    def corner(self, index: int) -> tuple[float, float]:
        """Left and top of a box."""
        return index % self.columns * (self.width + self.gap), _TOP + index // self.columns * (self.height + self.gap)


def gpus_needed(bytes_: float, gpu_bytes: float) -> int:
    """Whole GPUs whose memory together holds that many bytes."""
    return max(1, ceil(bytes_ / gpu_bytes))


def _boxes(needed: int, layout: Layout) -> _Boxes:
    # A little more than needed, since a last box that is not full counts too.
    gpus_each = 1 if needed <= MOST_BOXES else ceil(nice_step(needed * MOST_BOXES / (MOST_BOXES - 1), MOST_BOXES))
    number = ceil(needed / gpus_each)
    columns = min(number, _COLUMNS[layout])
    return _Boxes(number, gpus_each, columns, (WIDTH_PX[layout] - (columns - 1) * _GAP[layout]) / columns, _GAP[layout])


def _part(boxes: _Boxes, first: float, last: float, class_: str) -> str:
    """A part that reaches from one place to another, both counted in boxes."""
    drawn = []
    for index in range(int(first), min(ceil(last), boxes.number)):
        x, y = boxes.corner(index)
        start, end = max(first - index, 0) * boxes.width, min(last - index, 1) * boxes.width
        start += _PART_GAP if start else 0
        drawn.append(rect(x + start, y, end - start, boxes.height, class_, 2))
    return "".join(drawn)


def _heading(boxes: _Boxes, weights: str, kv: str, kv_from: float, width: float) -> str:
    """What the two parts are, each above its beginning as far as there is room."""
    kv_x = boxes.corner(int(kv_from))[0] + kv_from % 1 * boxes.width if boxes.rows == 1 else 0.0
    least = line_width(weights, "t-strong") + 14
    kv_x = min(max(kv_x, least), width - 1 - line_width(kv, "t-strong"))
    return text(0, _TOP - 10, weights, "t-strong t-weights") + text(kv_x, _TOP - 10, kv, "t-strong t-kv")


def _names(boxes: _Boxes) -> str:
    """GPU 1, GPU 2 … below the boxes of a single row, or the numbers, or nothing where they have no room."""
    last = count(boxes.number)
    name = next((n for n in (WORDS["gpu"], "{n}") if line_width(n.format(n=last), "t-small") + 6 < boxes.width), "")
    if boxes.rows > 1 or boxes.gpus_each > 1 or boxes.number == 1 or not name:
        return ""
    y = _TOP + _HEIGHT + _NAMES
    return "".join(
        text(boxes.corner(n)[0] + boxes.width / 2, y, name.format(n=count(n + 1)), "t-small", "middle")
        for n in range(boxes.number)
    )


def _table(weight_bytes: float, kv_bytes: float, gpu_bytes: float, needed: int) -> Table:
    all_bytes = needed * gpu_bytes
    parts = (
        (WORDS["part weights"], weight_bytes),
        (WORDS["part kv"], kv_bytes),
        (WORDS["part total"], weight_bytes + kv_bytes),
        (WORDS["part free"].format(n=count(needed), gpu=memory_text(gpu_bytes)), all_bytes - weight_bytes - kv_bytes),
    )
    return Table(TABLE_HEAD, tuple((name, memory_text(size), percent(size / all_bytes, 1)) for name, size in parts))


def footprint(weight_bytes: float, kv_bytes: float, gpu_bytes: float, name: str = "footprint") -> Draw:
    """The drawing for both widths; `name` is unique on the page. Sizes are bytes, `gpu_bytes` those of one GPU."""
    total = weight_bytes + kv_bytes
    needed = gpus_needed(total, gpu_bytes)
    gpu = memory_text(gpu_bytes)
    finding = WORDS["finding one" if needed == 1 else "finding"].format(
        total=memory_text(total), n=count(needed), gpu=gpu
    )

    def draw(layout: Layout) -> Figure:
        width = float(WIDTH_PX[layout])
        boxes = _boxes(needed, layout)
        box_bytes = gpu_bytes * boxes.gpus_each
        kv_from, free_from, end = weight_bytes / box_bytes, total / box_bytes, needed / boxes.gpus_each
        least = _LEAST / boxes.width  # the smallest part is still seen
        kv_from = max(kv_from, least)
        free_from = min(max(free_from, kv_from + least), end)
        kv_from = min(kv_from, free_from - least)
        names = _names(boxes)
        caption_y = _TOP + _HEIGHT + (_CAPTION if names else _NAMES)
        each = WORDS["box" if boxes.gpus_each == 1 else "boxes"].format(n=count(boxes.gpus_each), gpu=gpu)
        left = WORDS["free"].format(memory=memory_text(needed * gpu_bytes - total))
        drawing = svg(
            width,
            _TOP + _HEIGHT + _CAPTION + 5,
            _heading(
                boxes,
                WORDS["weights"].format(memory=memory_text(weight_bytes)),
                WORDS["kv"].format(memory=memory_text(kv_bytes)),
                kv_from,
                width,
            ),
            _part(boxes, 0, kv_from, "f-weights"),
            _part(boxes, kv_from, free_from, "f-kv"),
            _part(boxes, free_from, end, "f-free"),
            names,
            text(0, caption_y, each, "t-small"),
            text(width, caption_y, left, "t-small", "end"),
            labelled_by=finding_id(name),
        )
        return Figure(name, finding, drawing, WORDS["detail"], _table(weight_bytes, kv_bytes, gpu_bytes, needed))

    return draw
