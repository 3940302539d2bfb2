"""Memory as cells: tokens stored, reserved and empty, free; each sequence a numbered step of the KV hue.

A cell is a fixed number of tokens of memory, in the order of their addresses. A cell of several sequences shows each
one's share; the number stands where a cell belongs to one sequence alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from snippets.draw.figure import WIDTH_PX, Layout
from snippets.draw.legend import legend
from snippets.draw.svg import el, hatch, num, rect, svg, text, text_width
from snippets.sim.allocation import Piece

GAP_PX = 2
KV_STEPS = 6
FREE = "f-none s-free"
COLUMNS: dict[Layout, tuple[int, ...]] = {"wide": (24, 20, 28, 16, 32, 18, 30), "narrow": (12, 10, 14, 8, 16, 9, 15)}
MAX_ROWS: dict[Layout, int] = {"wide": 10, "narrow": 16}
_SHARE_PX = 4  # in a cell of so many sequences that each would get less, they are drawn as one


@dataclass(frozen=True)
class Memory:
    """What is drawn: `pool_tokens` of memory in cells of `cell_tokens`, and who holds what."""

    pool_tokens: int
    cell_tokens: int
    pieces: Sequence[Piece]
    marked: Iterable[int] = ()  # cells that the last event touched
    row_cells: int = 0  # cells that should fill whole rows or divide one, if that can be had
    waiting: Sequence[int] = ()
    done: int = 0
    sequences: int = 0

    @property
    def cells(self) -> int:
        """How many cells, the last of them perhaps a short one."""
        return -(-self.pool_tokens // self.cell_tokens)


@dataclass(frozen=True)
class Words:
    """What stands in the drawing."""

    stored: str = "tokens stored"
    empty: str = "reserved, empty"
    free: str = "free"
    waiting: str = "Waiting:"
    nobody: str = "Nobody waits"
    done: str = "{done} of {sequences} done"
    empty_run: str = "{tokens} empty"  # inside a long empty stretch; "": not there


def columns(cells: int, row_cells: int, layout: Layout) -> int:
    """Cells in a row: few enough rows, and rows that a reservation fills or divides where that is possible."""
    enough = [n for n in COLUMNS[layout] if -(-cells // n) <= MAX_ROWS[layout]] or [max(COLUMNS[layout])]
    aligned = [n for n in enough if row_cells and (n % row_cells == 0 or row_cells % n == 0)]
    return min((aligned or enough)[0], cells)


class _Drawing:
    def __init__(self, memory: Memory, words: Words, layout: Layout, hatch_id: str) -> None:
        self.memory, self.words = memory, words
        self.width = WIDTH_PX[layout]
        self.columns = columns(memory.cells, memory.row_cells, layout)
        self.pitch = (self.width + GAP_PX) / self.columns
        self.rows = -(-memory.cells // self.columns)
        self.row_px = 28 if self.rows <= 8 else 24
        self.px_per_token = (self.pitch - GAP_PX) / memory.cell_tokens
        self.fill = f"url(#{hatch_id})"
        self.whole: dict[str, list[str]] = {}  # cells of one fill, by its class, as pieces of one path
        width, height = num(self.pitch - GAP_PX - 4), num(self.row_px - GAP_PX - 4)
        corners = ("h{0}a2 2 0 0 1 2 2", "v{1}a2 2 0 0 1-2 2", "h-{0}a2 2 0 0 1-2-2", "v-{1}a2 2 0 0 1 2-2z")
        self.outline = "".join(corners).format(width, height)

    def corner(self, cell: int) -> tuple[float, float]:
        row, column = divmod(cell, self.columns)
        return column * self.pitch, row * self.row_px

    def tokens_of(self, cell: int) -> int:
        memory = self.memory
        return min(memory.cell_tokens, memory.pool_tokens - cell * memory.cell_tokens)

    def box(self, x: float, y: float, tokens: int, class_: str) -> str:
        """Part of a cell, in the colour of a class; hatched if there is none."""
        width, height = tokens * self.px_per_token, self.row_px - GAP_PX
        if class_:
            return rect(x, y, width, height, class_, 2)
        return el("rect", x=x, y=y, width=width, height=height, rx=2, fill=self.fill)

    def part(self, x: float, y: float, tokens: int, class_: str) -> str:
        """The same; whole cells are kept back and drawn together, since there can be many."""
        if tokens < self.memory.cell_tokens:
            return self.box(x, y, tokens, class_)
        self.whole.setdefault(class_, []).append(f"M{num(x + 2)} {num(y)}{self.outline}")
        return ""

    def whole_cells(self) -> str:
        """The cells kept back, one path for each fill."""
        return "".join(
            el("path", d="".join(parts), class_=class_ or None, fill=None if class_ else self.fill)
            for class_, parts in self.whole.items()
        )

    def number(self, middle: float, y: float, label: str, on: str) -> str:
        return text(middle, y + self.row_px / 2 + 3.2, label, f"t-small {on}", "middle")

    def pill(self, middle: float, y: float, label: str) -> str:
        """A label on hatching: paper behind it."""
        width = text_width(label, 12) + 6
        back = rect(middle - width / 2, y + self.row_px / 2 - GAP_PX / 2 - 8, width, 16, "f-paper", 3)
        return back + self.number(middle, y, label, "t-kv")

    def held(self, pieces: Sequence[Piece]) -> str:
        """One cell with something in it."""
        x, y = self.corner(pieces[0].cell)
        parts, at = [], 0
        if len(pieces) * _SHARE_PX > self.pitch:
            stored, reserved = sum(one.stored for one in pieces), sum(one.reserved for one in pieces)
            pieces = [Piece(pieces[0].cell, 0, KV_STEPS // 2, stored, reserved)]
            numbered = False
        else:
            numbered = len(pieces) == 1
        for one in pieces:
            at = max(at, one.offset)
            left = x + at * self.px_per_token
            step = (one.sequence - 1) % KV_STEPS + 1
            if one.stored:
                parts.append(self.part(left, y, one.stored, f"f-kv-{step}"))
            empty = one.reserved - one.stored
            middle = left + one.stored * self.px_per_token
            if empty:
                parts.append(self.part(middle, y, empty, ""))
            if numbered and one.stored:
                label, filled = str(one.sequence), one.stored * self.px_per_token
                if filled >= text_width(label, 12) + 3:
                    parts.append(self.number(left + filled / 2, y, label, f"on-kv-{step}"))
                elif empty * self.px_per_token >= text_width(label, 12) + 6:
                    parts.append(self.pill(middle + empty * self.px_per_token / 2, y, label))
            at += one.reserved
        free = self.tokens_of(pieces[0].cell) - at
        if free > 0:
            parts.append(self.part(x + at * self.px_per_token, y, free, FREE))
        return "".join(parts)

    def runs(self, cells: Iterable[int]) -> Iterable[tuple[int, int]]:
        """Neighbouring cells of one row: first and last of each stretch."""
        ordered = sorted(cells)
        breaks = [b for a, b in pairwise(ordered) if b != a + 1 or b % self.columns == 0]
        starts = [*ordered[:1], *breaks]
        ends = [*(ordered[ordered.index(b) - 1] for b in breaks), *ordered[-1:]]
        return zip(starts, ends, strict=True)

    def marks(self) -> str:
        """A frame around what the event touched."""
        parts = []
        for first, last in self.runs(self.memory.marked):
            x, y = self.corner(first)
            right = self.corner(last)[0] + self.tokens_of(last) * self.px_per_token
            parts.append(rect(x - 1, y - 1, right - x + 2, self.row_px - GAP_PX + 2, "f-none s-ink w-2", 3))
        return "".join(parts)

    def empty_labels(self, by_cell: Sequence[Sequence[Piece]]) -> str:
        """How much of a reservation is empty, in its longest wholly empty stretch."""
        empty: dict[int, int] = {}
        whole: dict[int, list[int]] = {}
        for pieces in by_cell:
            for one in pieces:
                empty[one.sequence] = empty.get(one.sequence, 0) + one.reserved - one.stored
                if one.reserved == self.memory.cell_tokens and not one.stored:
                    whole.setdefault(one.sequence, []).append(one.cell)
        parts = []
        for sequence, cells in whole.items():
            first, last = max(self.runs(cells), key=lambda ends: (ends[1] - ends[0], -ends[0]))
            label = self.words.empty_run.format(tokens=f"{empty[sequence]:,}")
            left, y = self.corner(first)
            right = self.corner(last)[0] + self.pitch - GAP_PX
            width = text_width(label, 12) + 12
            if right - left >= width:  # at the right end, so that rows of equal length make a column
                parts.append(self.pill(right - width / 2, y, label))
        return "".join(parts)

    def queue(self, y: float) -> str:
        """Who waits, first in line first, and how many are done."""
        words, memory = self.words, self.memory
        done = words.done.format(done=memory.done, sequences=memory.sequences)
        parts = [text(self.width, y + 15, done, "t-small", "end")]
        if not memory.waiting:
            return text(0, y + 15, words.nobody, "t-small") + parts[0]
        x, end = text_width(words.waiting, 12) + 8, self.width - text_width(done, 12) - 12
        parts.append(text(0, y + 15, words.waiting, "t-small t-limit"))
        for n, sequence in enumerate(memory.waiting):
            more = f"+{len(memory.waiting) - n}"
            if x + 24 + (text_width(more, 12) + 6 if n + 1 < len(memory.waiting) else 0) > end:
                parts.append(text(x, y + 15, more, "t-small"))
                break
            parts.append(rect(x + 0.5, y + 0.5, 22, 20, "f-none s-other", 3))
            parts.append(text(x + 11.5, y + 15, str(sequence), "t-small", "middle"))
            x += 26
        return "".join(parts)


def draw_cells(name: str, memory: Memory, layout: Layout, labelled_by: str, words: Words = Words()) -> str:
    """The drawing as SVG. Its size depends on the pool alone, not on what is in it."""
    hatch_id = f"{name}-{layout}-hatch"
    drawing = _Drawing(memory, words, layout, hatch_id)
    ordered = sorted(memory.pieces, key=lambda one: (one.cell, one.offset, one.sequence))
    by_cell = [list(pieces) for _, pieces in groupby(ordered, key=lambda one: one.cell)]
    taken = {pieces[0].cell for pieces in by_cell}
    free = (cell for cell in range(memory.cells) if cell not in taken)
    parts = [drawing.part(*drawing.corner(cell), drawing.tokens_of(cell), FREE) for cell in free]
    parts += [drawing.held(pieces) for pieces in by_cell]
    bottom = drawing.rows * drawing.row_px
    return svg(
        drawing.width,
        bottom + 62,
        hatch(hatch_id),
        drawing.whole_cells(),
        *parts,
        drawing.empty_labels(by_cell) if words.empty_run else "",
        drawing.marks(),
        drawing.queue(bottom + 8),
        legend(bottom + 45, hatch_id, words.stored, words.empty, words.free),
        labelled_by=labelled_by,
    )
