"""One sequence's last block: its tokens against the slots that stay empty."""

from __future__ import annotations

from collections.abc import Sequence

from snippets.draw.figure import WIDTH_PX, Draw, Figure, Layout, Table
from snippets.draw.html import finding_id
from snippets.draw.legend import legend
from snippets.draw.svg import el, hatch, line, rect, svg, text, text_width
from snippets.units import count, percent

_HEIGHT, _LABEL_PX, _GAP = 30.0, 20.0, 2.0
_NARROWEST_SLOT_PX = 6.0  # slots narrower than this are drawn as one bar
_FULL_SHOWN = 3


def _s(n: int, word: str) -> str:
    return f"{count(n)} {word}" if n == 1 else f"{count(n)} {word}s"


def _full_blocks(x: float, y: float, full: int) -> tuple[str, float]:
    """The blocks before the last, the middle ones left out, and where they end."""
    if not full:
        return "", x
    parts = [text(x, y + 12, _s(full, "full block"), "t-small")]
    for n in range(min(full, _FULL_SHOWN)):
        if n == _FULL_SHOWN - 1 and full > _FULL_SHOWN:
            dots = (x + 8 + 7 * dot for dot in range(3))
            parts += [el("circle", cx=at, cy=y + _LABEL_PX + _HEIGHT / 2, r=1.5, class_="f-other") for at in dots]
            x += 30
        parts.append(rect(x, y + _LABEL_PX, 26, _HEIGHT, "f-kv", 2))
        x += 26 + _GAP
    return "".join(parts), max(x, text_width(_s(full, "full block"), 12)) + 14


def _last_block(x: float, y: float, width: float, stored: int, size: int, hatch_id: str) -> str:
    """The last block as slots, tokens first, with both counts above."""
    slot = (width + _GAP) / size
    gap = _GAP if slot - _GAP >= _NARROWEST_SLOT_PX else 0.0
    slot = (width + gap) / size
    top, split = y + _LABEL_PX, x + stored * slot
    fill = f"url(#{hatch_id})"
    if gap:
        parts = [rect(x + n * slot, top, slot - gap, _HEIGHT, "f-kv", 2) for n in range(stored)]
        parts += [
            el("rect", x=x + n * slot, y=top, width=slot - gap, height=_HEIGHT, rx=2, fill=fill)
            for n in range(stored, size)
        ]
    else:
        parts = [rect(x, top, split - x, _HEIGHT, "f-kv", 2)]
        if stored < size:
            parts.append(el("rect", x=split, y=top, width=x + width - split, height=_HEIGHT, rx=2, fill=fill))
    tokens, empty = _s(stored, "token"), f"{count(size - stored)} empty"
    parts.append(text(x, y + 12, tokens, "t-small t-kv"))
    if stored < size:
        left = max(split, x + text_width(tokens, 12) + 14)
        parts.append(text(min(left, x + width - text_width(empty, 12) - 1), y + 12, empty, "t-small"))
    parts.append(line(x, top + _HEIGHT + 7, x + width, top + _HEIGHT + 7, "axis"))
    label = f"the last block: {_s(size, 'slot')}"
    parts.append(text(x + width / 2, top + _HEIGHT + 22, label, "t-small", "middle"))
    return "".join(parts)


def block_tail(
    tokens: int, block_size: int = 16, name: str = "block-tail", compared: Sequence[int] = (16, 32, 64, 128)
) -> Draw:
    """A sequence of so many tokens in blocks of `block_size`; the table compares other block sizes.

    Raises ValueError for fewer than 1 token or blocks of fewer than 1 token.
    """
    if tokens < 1 or block_size < 1:
        raise ValueError(f"need at least 1 token and blocks of at least 1, not {tokens} in blocks of {block_size}")
    full, stored = (tokens - 1) // block_size, (tokens - 1) % block_size + 1
    empty = block_size - stored
    if empty:
        which = f"The last of {count(full + 1)} blocks" if full else "The only block"
        finding = f"{which} holds {_s(stored, 'token')}: {count(empty)} of its {_s(block_size, 'slot')} stand empty"
    else:
        finding = (
            f"The last block is full: {_s(tokens, 'token')} fill {_s(full + 1, 'block')}, and no slot stands empty"
        )
    average = f"({count(block_size)} − 1) ÷ 2 = {count((block_size - 1) / 2, 1)}"
    detail = f"Over many lengths, {average} slots of each sequence stay empty on average."
    rows = []
    for size in compared:
        blocks = -(-tokens // size)
        used = percent(tokens / (blocks * size), 1)
        rows.append((count(size), count(blocks), count(blocks * size - tokens), count((size - 1) / 2, 1), used))
    table = Table(("block size", "blocks", "empty slots", "on average", f"used at {_s(tokens, 'token')}"), tuple(rows))

    def draw(layout: Layout) -> Figure:
        width = WIDTH_PX[layout]
        hatch_id = f"{name}-{layout}-hatch"
        first, x = _full_blocks(0, 0, full)
        below = layout == "narrow" and full > 0
        x, y = (0.0, _LABEL_PX + _HEIGHT + 14) if below else (x, 0.0)
        last = _last_block(x, y, width - x, stored, block_size, hatch_id)
        bottom = y + _LABEL_PX + _HEIGHT + 38
        key = legend(bottom, hatch_id, "tokens stored", "reserved, empty")
        drawing = svg(width, bottom + 16, hatch(hatch_id), first, last, key, labelled_by=finding_id(name))
        return Figure(name, finding, drawing, detail, table)

    return draw
