"""One card's memory to scale: weights, other memory as a range, the KV cache that they leave, and what is left out."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.draw.figure import WIDTH_PX, Draw, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.place import Label, line_width, stack
from snippets.draw.scale import linear_ticks
from snippets.draw.svg import line, rect, svg, text
from snippets.units import GIB, count, gib, percent

WORDS = {
    "finding": "{kv} of {visible} are left for the KV cache",
    "finding sequences": "{n} requests of {tokens} tokens fit into the {kv} left for the KV cache",
    "finding sequence": "1 request of {tokens} tokens fits into the {kv} left for the KV cache",
    "finding none": "A request of {tokens} tokens does not fit into the {kv} left for the KV cache",
    "detail": "Other memory is a range: with {other} of it, {kv} are left. {left_out} stay outside the limit.",
    "weights": "weights {memory}",
    "other": "other memory {memory}",
    "kv": "KV cache {memory}",
    "left out": "left out {memory}",
    "range": "{low} to {high} GiB",
    "limit": "limit {utilization}: {memory}",
    "visible": "{memory} visible",
    "table weights": "weights",
    "table other": "other memory: activations, CUDA context",
    "table kv": "KV cache",
    "table left out": "left out by the limit of {utilization}",
    "table visible": "visible to a program",
}
TABLE_HEAD = ("part", "drawn", "range", "share of the card")


@dataclass(frozen=True)
class Load:
    """Requests of one length: how many fit, as counted in whole blocks, and what one holds."""

    sequences: int
    seq_len: int
    sequence_bytes: float


@dataclass(frozen=True)
class Split:
    """What is drawn. Sizes are bytes; KV is what the others leave. Refused if nothing is left."""

    visible_bytes: float
    utilization: float  # the share of visible memory the server may use: gpu_memory_utilization
    weight_bytes: float
    other_bytes: float  # the value drawn
    other_low_bytes: float
    other_high_bytes: float
    load: Load | None = None  # what the KV cache is cut into, if anything

    def __post_init__(self) -> None:
        if not self.other_low_bytes <= self.other_bytes <= self.other_high_bytes:
            raise ValueError("other_bytes lies outside its own range; give low, drawn and high in that order")
        if self.kv_low_bytes <= 0:
            raise ValueError(
                f"weights of {gib(self.weight_bytes)} and other memory of {gib(self.other_high_bytes)} leave no room "
                f"for a KV cache within {gib(self.limit_bytes)}; take smaller weights or a larger card"
            )

    @property
    def limit_bytes(self) -> float:
        return self.visible_bytes * self.utilization

    @property
    def kv_bytes(self) -> float:
        return self.limit_bytes - self.weight_bytes - self.other_bytes

    @property
    def kv_low_bytes(self) -> float:
        return self.limit_bytes - self.weight_bytes - self.other_high_bytes

    @property
    def kv_high_bytes(self) -> float:
        return self.limit_bytes - self.weight_bytes - self.other_low_bytes

    @property
    def left_out_bytes(self) -> float:
        return self.visible_bytes - self.limit_bytes

    @property
    def sizes(self) -> dict[str, float]:
        """Each part by name, from the first byte on."""
        return {
            "weights": self.weight_bytes,
            "other": self.other_bytes,
            "kv": self.kv_bytes,
            "left out": self.left_out_bytes,
        }

    @property
    def ranges(self) -> dict[str, str]:
        """The parts that are not known exactly, as words."""
        return {
            "other": _range(self.other_low_bytes, self.other_high_bytes),
            "kv": _range(self.kv_low_bytes, self.kv_high_bytes),
        }


_TONES = {"weights": "weights", "other": "activations", "kv": "kv", "left out": "other"}
_FILLS = {"weights": "f-weights", "other": "f-activations", "kv": "f-kv", "left out": "f-free"}
_PART_GAP = 1.5
_THINNEST_PX = 4.0  # requests drawn thinner than this would only grey the bar


def _short(bytes_: float) -> str:
    return f"{bytes_ / GIB:.2f}".rstrip("0").rstrip(".")


def _range(low: float, high: float) -> str:
    return WORDS["range"].format(low=_short(low), high=_short(high))


def _name(split: Split, part: str) -> str:
    return WORDS[part].format(memory=gib(split.sizes[part]))


def _limit(split: Split) -> str:
    return WORDS["limit"].format(utilization=f"{split.utilization:g}", memory=gib(split.limit_bytes))


def _edges(split: Split) -> dict[str, tuple[float, float]]:
    """First and last byte of each part."""
    edges, first = {}, 0.0
    for part, size in split.sizes.items():
        edges[part] = (first, first + size)
        first += size
    return edges


def _wide(split: Split) -> tuple[float, str]:
    """Height and drawing: one bar from left to right, names above and below."""
    width, top, height = float(WIDTH_PX["wide"]), 46.0, 52.0
    bottom, px = top + height, width / split.visible_bytes
    edges = {part: (first * px, last * px) for part, (first, last) in _edges(split).items()}
    limit_x = split.limit_bytes * px
    parts = [
        rect(first, top, last - first - _PART_GAP, height, _FILLS[part], 2) for part, (first, last) in edges.items()
    ]
    kv_start, kv_end = edges["kv"]
    cuts = (kv_start + cut for cut in _cuts(split, px))
    parts += [line(x, top, x, bottom, "s-paper w-15") for x in cuts if x < kv_end - _PART_GAP]
    parts.append(line(limit_x, 6, limit_x, bottom + 6, "s-limit"))
    parts.append(text(limit_x - 7, 14, _limit(split), "t-small t-limit", "end"))
    weights, kv = _name(split, "weights"), _name(split, "kv")
    kv_x = max(line_width(weights, "t-strong") + 14, min(edges["kv"][0], limit_x - 7 - line_width(kv, "t-strong")))
    parts.append(text(0, top - 9, weights, "t-strong t-weights") + text(kv_x, top - 9, kv, "t-strong t-kv"))

    low, high = ((split.weight_bytes + size) * px for size in (split.other_low_bytes, split.other_high_bytes))
    parts.append(_whisker([(low, bottom + 11), (high, bottom + 11)], across=True))
    other = f"{_name(split, 'other')} ({split.ranges['other']})"
    left_out = _name(split, "left out")
    lengths = line_width(other, "t-strong") + 14, line_width(left_out, "t-small")
    starts = stack([((low + high) / 2, lengths[0]), (width, lengths[1])], 0, width)
    parts.append(text(starts[0], bottom + 32, other, "t-strong t-activations"))
    parts.append(text(width, bottom + 32, left_out, "t-small", "end"))

    axis_y = bottom + 50
    visible = WORDS["visible"].format(memory=gib(split.visible_bytes))
    parts.append(line(0, axis_y, width, axis_y, "axis"))
    free_until = width - line_width(visible, "t-small") - 20
    for tick in linear_ticks(split.visible_bytes / GIB):
        x = tick * GIB * px
        if x < free_until:
            parts.append(line(x, axis_y, x, axis_y + 5, "axis"))
            parts.append(text(x, axis_y + 19, f"{tick:g}", "t-small", "middle" if tick else "start"))
    parts.append(line(width, axis_y, width, axis_y + 5, "axis"))
    parts.append(text(width, axis_y + 19, visible, "t-small", "end"))
    return axis_y + 26, "".join(parts)


def _cuts(split: Split, px: float) -> list[float]:
    """Where one request ends and the next begins, in px from the start of the KV cache."""
    load = split.load
    if load is None or load.sequence_bytes * px < _THINNEST_PX:
        return []
    return [n * load.sequence_bytes * px for n in range(1, load.sequences + 1)]


def _whisker(ends: list[tuple[float, float]], across: bool) -> str:
    """A range as a line with a short bar at each end."""
    (x0, y0), (x1, y1) = ends
    dx, dy = (0, 4) if across else (4, 0)
    bars = (line(x - dx, y - dy, x + dx, y + dy, "s-activations w-2") for x, y in ends)
    return line(x0, y0, x1, y1, "s-activations w-2") + "".join(bars)


def _narrow(split: Split) -> tuple[float, str]:
    """Height and drawing: one bar from the bottom up, names on its right."""
    top, height, width, names_x = 22.0, 380.0, 92.0, 118.0
    bottom, px = top + height, height / split.visible_bytes
    edges = {part: (bottom - last * px, bottom - first * px) for part, (first, last) in _edges(split).items()}
    limit_y = bottom - split.limit_bytes * px
    parts = [text(0, 13, WORDS["visible"].format(memory=gib(split.visible_bytes)), "t-small")]
    for part, (first, last) in edges.items():
        parts.append(rect(0, first + _PART_GAP, width, last - first - _PART_GAP, _FILLS[part], 2))
    kv_end, kv_start = edges["kv"]
    cuts = (kv_start - cut for cut in _cuts(split, px))
    parts += [line(0, y, width, y, "s-paper w-15") for y in cuts if y > kv_end + _PART_GAP]
    low, high = (bottom - (split.weight_bytes + size) * px for size in (split.other_low_bytes, split.other_high_bytes))
    parts.append(_whisker([(width + 11, low), (width + 11, high)], across=False))
    parts.append(line(0, limit_y, WIDTH_PX["narrow"], limit_y, "s-limit"))

    above = Label(((_name(split, "left out"), "t-small"),))
    parts.append(above.svg(above.at(names_x, max(0, min((top + limit_y - above.height) / 2, limit_y - 17)))))
    below = [Label(((_limit(split), "t-small t-limit"),))]
    middles = [limit_y + below[0].height / 2 + 4]
    for part in ("kv", "other", "weights"):
        lines = [(_name(split, part), f"t-strong t-{_TONES[part]}")]
        lines += [(split.ranges[part], "t-small")] if part in split.ranges else []
        below.append(Label(tuple(lines)))
        middles.append(sum(edges[part]) / 2)
    wanted = [(middle, label.height + 6) for middle, label in zip(middles, below, strict=True)]
    for start, label in zip(stack(wanted, limit_y + 1, bottom), below, strict=True):
        parts.append(label.svg(label.at(names_x, start + 3)))
    return bottom + 4, "".join(parts)


def _table(split: Split) -> Table:
    rows = [*split.sizes.items(), ("visible", split.visible_bytes)]
    cells = (
        (
            WORDS[f"table {name}"].format(utilization=f"{split.utilization:g}"),
            gib(size),
            split.ranges.get(name, ""),
            percent(size / split.visible_bytes, 1),
        )
        for name, size in rows
    )
    return Table(TABLE_HEAD, tuple(cells))


def _finding(split: Split) -> str:
    kv, load = gib(split.kv_bytes), split.load
    if load is None:
        return WORDS["finding"].format(kv=kv, visible=gib(split.visible_bytes))
    key = {0: "finding none", 1: "finding sequence"}.get(load.sequences, "finding sequences")
    return WORDS[key].format(n=count(load.sequences), tokens=count(load.seq_len), kv=kv)


def memory_split(split: Split, name: str = "memory-split") -> Draw:
    """The drawing for both widths; `name` is unique on the page."""

    def draw(layout: Layout) -> Figure:
        height, drawing = _wide(split) if layout == "wide" else _narrow(split)
        finding = _finding(split)
        detail = WORDS["detail"].format(left_out=gib(split.left_out_bytes), **split.ranges)
        whole = svg(WIDTH_PX[layout], height, drawing, labelled_by=finding_id(name))
        return Figure(name, finding, whole, detail, _table(split))

    return draw
