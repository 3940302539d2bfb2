"""One card's memory to scale, in the order vLLM takes it, with the error bar of what is left for the KV cache."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.draw.figure import WIDTH_PX, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.place import Label, line_width, stack
from snippets.draw.scale import linear_ticks, memory_text
from snippets.draw.svg import hatch, line, rect, svg, text
from snippets.units import GIB, gib, percent

WORDS = {
    "left": "{kv} of {total} are left for the KV cache on {card}",
    "given": "{kv} of {total} are given to the KV cache on {card}",
    "over": "Weights and the rest take {taken}; vLLM may use {requested} of {card}",
    "detail": "The bar over the KV cache spans {low} to {high}: nine of ten start-up logs stay within such a range.",
    "detail over": "Nothing is left for the KV cache.",
    "detail given": "The memory is given, so there is no error bar.",
    "none": "No KV cache: {taken} of {total} are taken on {card}",
    "none unknown": "No KV cache, and the weights are not counted: {taken} beside them are taken of {total} on {card}",
    "detail none": "Every step starts anew, so no memory is kept from one to the next.",
    "requested": "vLLM may use {memory}",
    "total": "{memory} in all",
    "kv": "KV cache {memory}",
    "over by": "{memory} too much",
    "free": "free {memory}",
    "over row": "too much",
    "no kv": "none",
    "range": "{low} to {high}",
}
TABLE_HEAD = ("part", "expected", "range", "share of the card")
_GAP = 1.5
_FILLS = {"weights": "f-weights", "activations": "f-activations", "graphs": "f-graphs", "other": "f-other"}
_LEAST_PX = 1.0


@dataclass(frozen=True)
class Part:
    """Memory taken before the cache. Sizes are bytes; `low` and `high` are equal where it is exact."""

    label: str
    tone: str  # "weights", "activations", "graphs", "other"
    expected: int
    low: int
    high: int


@dataclass(frozen=True)
class Card:
    """What is drawn. `kv` may be below 0: then nothing is left."""

    name: str
    total: int
    requested: int
    parts: tuple[Part, ...]
    kv: int
    kv_low: int
    kv_high: int
    is_given: bool = False  # the KV memory is known; the parts may be unknown
    has_cache: bool = True  # False: the model keeps nothing, and what would be left for a cache stays free

    @property
    def taken(self) -> int:
        """Bytes before the cache, as expected."""
        parts_alone = self.is_given or not self.has_cache
        return sum(part.expected for part in self.parts) if parts_alone else self.requested - self.kv

    @property
    def over(self) -> int:
        """Bytes beyond what vLLM may use, without a cache beyond the card; 0 or less where it starts."""
        return self.taken - (self.requested if self.has_cache else self.total)

    @property
    def scale_bytes(self) -> int:
        """The longest thing drawn."""
        return max(self.total, self.taken, self.taken + self.kv)


def _range(low: float, high: float) -> str:
    return "" if low == high else WORDS["range"].format(low=_short(low), high=gib(high))


def _short(size: float) -> str:
    return f"{size / GIB:.2f}"


def _finding(card: Card) -> str:
    if not card.has_cache and card.over <= 0:
        key = "none" if any(part.tone == "weights" for part in card.parts) else "none unknown"
        return WORDS[key].format(taken=gib(card.taken), total=gib(card.total), card=card.name)
    if card.kv <= 0:
        return WORDS["over"].format(taken=gib(card.taken), requested=gib(card.requested), card=card.name)
    key = "given" if card.is_given else "left"
    return WORDS[key].format(kv=gib(card.kv), total=gib(card.total), card=card.name)


def _table(card: Card) -> Table:
    rows = [_row(card, part.label, part.expected, _range(part.low, part.high)) for part in card.parts]
    kv = WORDS["kv"].format(memory="").strip()
    if card.kv > 0 and card.has_cache:
        rows.append(_row(card, kv, card.kv, _range(card.kv_low, card.kv_high)))
    else:
        rows.append((kv, WORDS["no kv"], "", ""))
    if card.over > 0:
        rows.append(_row(card, WORDS["over row"], card.over))
    rows.append(_row(card, WORDS["requested"].format(memory="").strip(), card.requested))
    rows.append(_row(card, WORDS["total"].format(memory="").strip(), card.total))
    return Table(TABLE_HEAD, tuple(rows))


def _row(card: Card, name: str, size: float, span: str = "") -> tuple[str, str, str, str]:
    return name, gib(size), span, percent(size / card.total, 1)


def _segments(card: Card, px: float) -> list[tuple[str, float, float]]:
    """Fill class, start and end in px, of everything taken."""
    found, at = [], 0.0
    for part in card.parts:
        found.append((_FILLS[part.tone], at, at + part.expected * px))
        at += part.expected * px
    if card.kv > 0 and card.has_cache:
        found.append(("f-kv", at, at + card.kv * px))
        at += card.kv * px
    if card.total * px > at:
        found.append(("f-free", at, card.total * px))
    return found


def _bar_ends(card: Card) -> tuple[float, float]:
    """Where the KV cache may begin: from the largest one to the smallest."""
    return card.requested - card.kv_high, card.requested - card.kv_low


def _whisker(x0: float, x1: float, y: float) -> str:
    bars = "".join(line(x, y - 4, x, y + 4, "s-ink w-2") for x in (x0, x1))
    return line(x0, y, x1, y, "s-ink w-2") + bars


def _wide(card: Card, name: str) -> tuple[float, str]:
    width, top, height = float(WIDTH_PX["wide"]), 50.0, 54.0
    bottom, px = top + height, width / card.scale_bytes
    segments = _segments(card, px)
    drawn = [rect(x0, top, max(x1 - x0 - _GAP, _LEAST_PX), height, fill, 2) for fill, x0, x1 in segments]
    if card.taken > card.total:
        start = card.total * px
        drawn += [hatch(f"{name}-hatch"), line(start, top - 4, start, bottom + 4, "s-ink w-15")]
    limit = card.requested * px
    drawn.append(line(limit, 4, limit, bottom + 6, "s-limit"))
    words = WORDS["requested"].format(memory=gib(card.requested))
    before = limit - 7 - line_width(words, "t-small") >= 0
    drawn.append(text(limit - 7 if before else limit + 7, 13, words, "t-small t-limit", "end" if before else "start"))

    if not card.has_cache and card.over <= 0:
        free = WORDS["free"].format(memory=gib(card.total - card.taken))
        x = min(card.taken * px, max(limit - 7 - line_width(free, "t-strong"), 0))
        drawn.append(text(x, top - 13, free, "t-strong"))
    elif card.kv > 0:
        kv = WORDS["kv"].format(memory=gib(card.kv))
        start = sum(part.expected for part in card.parts) * px if not card.is_given else limit - card.kv * px
        wanted = max(start, 0.0)
        x = min(wanted, max(limit - 7 - line_width(kv, "t-strong"), 0))
        drawn.append(text(x, top - 13, kv, "t-strong t-kv"))
        if card.kv_low != card.kv_high:
            low, high = (max(end * px, 0.0) for end in _bar_ends(card))
            drawn.append(_whisker(low, min(high, width), top + height / 2))
    else:
        over = WORDS["over by"].format(memory=gib(card.over))
        x = min(limit + 8, width - line_width(over, "t-strong") - 1)
        drawn.append(text(x, top - 13, over, "t-strong t-limit"))

    label_y, axis_y = bottom + 24, bottom + 24
    labels, at = [], 0.0
    for part in card.parts:
        middle = (at + part.expected / 2) * px
        at += part.expected
        words = f"{part.label} {memory_text(part.expected)}"
        labels.append((middle, words, part.tone))
    first, *others = labels or [(0.0, "", "other")]
    if first[1]:
        wide_enough = card.parts[0].expected * px > line_width(first[1], "t-strong") + 16
        if wide_enough:
            drawn.append(text(8, top + height / 2 + 5, first[1], "t-strong f-on"))
        else:
            others = labels
    rows = _rows(others, width)
    for row, placed in enumerate(rows):
        for middle, x, words, tone in placed:
            y = label_y + row * 19
            drawn.append(line(middle, bottom + 2, middle, y - 12, "axis"))
            drawn.append(text(x, y, words, f"t-small t-{tone}"))
        axis_y = label_y + row * 19
    axis_y += 16
    drawn.append(_axis(card, px, width, axis_y))
    return axis_y + 26, "".join(drawn)


def _rows(labels: list[tuple[float, str, str]], width: float) -> list[list[tuple[float, float, str, str]]]:
    """Labels under the bar, in as few rows as hold them: middle of the part, start, words, tone."""
    lengths = [line_width(words, "t-small") + 16 for _, words, _ in labels]
    if sum(lengths) <= width:
        starts = stack([(middle, length) for (middle, _, _), length in zip(labels, lengths, strict=True)], 0, width)
        return [[(m, x, words, tone) for (m, words, tone), x in zip(labels, starts, strict=True)]]
    half = len(labels) // 2
    return [*_rows(labels[half:], width), *_rows(labels[:half], width)] if half else []


def _axis(card: Card, px: float, width: float, y: float) -> str:
    total = WORDS["total"].format(memory=gib(card.total))
    end, room = card.total * px, line_width(total, "t-small")
    starts = end - room - 1 if end > room + 20 else min(end, width - room - 1)
    parts = [line(0, y, width, y, "axis")]
    for tick in linear_ticks(card.scale_bytes / GIB):
        x, label = tick * GIB * px, f"{tick:,g}"
        half = line_width(label, "t-small") / 2
        middle = min(max(x, half), width - half)
        if middle + half < starts - 12 or middle - half > starts + room + 12:
            parts.append(line(x, y, x, y + 5, "axis"))
            parts.append(text(middle, y + 19, label, "t-small", "middle"))
    parts.append(line(end, y, end, y + 5, "axis"))
    parts.append(text(starts, y + 19, total, "t-small"))
    return "".join(parts)


def _narrow(card: Card, name: str) -> tuple[float, str]:
    top, height, width, names_x = 22.0, 360.0, 84.0, 112.0
    bottom, px = top + height, height / card.scale_bytes
    total = WORDS["total"].format(memory=gib(card.total))
    drawn = [text(0, 13, total, "t-small")] if card.total == card.scale_bytes else []
    for fill, y0, y1 in _segments(card, px):
        drawn.append(rect(0, bottom - y1 + _GAP, width, max(y1 - y0 - _GAP, _LEAST_PX), fill, 2))
    limit_y = bottom - card.requested * px
    drawn.append(line(0, limit_y, WIDTH_PX["narrow"], limit_y, "s-limit"))
    if card.has_cache and card.kv > 0 and card.kv_low != card.kv_high:
        low, high = (min(max(bottom - end * px, top), bottom) for end in _bar_ends(card))
        drawn.append(line(width / 2, low, width / 2, high, "s-ink w-2"))
        drawn += [line(width / 2 - 4, y, width / 2 + 4, y, "s-ink w-2") for y in (low, high)]
    labels: list[tuple[float, Label]] = []
    at = 0.0
    for part in card.parts:
        lines = [(f"{part.label} {memory_text(part.expected)}", f"t-strong t-{part.tone}")]
        labels.append((bottom - (at + part.expected / 2) * px, Label(tuple(lines))))
        at += part.expected
    if not card.has_cache and card.over <= 0:
        free = WORDS["free"].format(memory=gib(card.total - card.taken))
        labels.append((bottom - (card.taken + card.total) / 2 * px, Label(((free, "t-strong"),))))
    elif card.kv > 0:
        lines = [(WORDS["kv"].format(memory=gib(card.kv)), "t-strong t-kv")]
        if card.kv_low != card.kv_high:
            lines.append((_range(card.kv_low, card.kv_high), "t-small"))
        labels.append((bottom - (at + card.kv / 2) * px, Label(tuple(lines))))
    else:
        over = WORDS["over by"].format(memory=gib(card.over))
        labels.append((bottom - card.taken * px, Label(((over, "t-strong t-limit"),))))
    limit = Label(((WORDS["requested"].format(memory=gib(card.requested)), "t-small t-limit"),))
    labels.append((limit_y - 9 if card.total == card.scale_bytes else limit_y + 12, limit))
    if card.total < card.scale_bytes:
        total_y = bottom - card.total * px
        drawn.append(line(0, total_y, width, total_y, "s-ink w-15"))
        labels.append((total_y, Label(((total, "t-small"),))))
    labels.sort(key=lambda one: one[0])
    wanted = [(middle, label.height + 7) for middle, label in labels]
    for start, (middle, label) in zip(stack(wanted, 0, bottom), labels, strict=True):
        drawn.append(label.svg(label.at(names_x, start + 3)))
        if label is not limit:
            drawn.append(line(width + 4, middle, names_x - 5, start + 10, "axis"))
    return bottom + 6, "".join(drawn)


def card_figure(card: Card, name: str, layout: Layout) -> Figure:
    """The drawing for one width; `name` is unique on the page."""
    height, drawing = _wide(card, name) if layout == "wide" else _narrow(card, name)
    detail = WORDS["detail given" if card.kv > 0 else "detail over"]
    if not card.has_cache:
        detail = WORDS["detail none"]
    elif not card.is_given and card.kv > 0:
        detail = WORDS["detail"].format(low=gib(max(card.kv_low, 0)), high=gib(max(card.kv_high, 0)))
    whole = svg(WIDTH_PX[layout], height, drawing, labelled_by=finding_id(name))
    return Figure(name, _finding(card), whole, detail, _table(card))
