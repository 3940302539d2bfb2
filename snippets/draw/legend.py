"""What the fills of a memory drawing mean: tokens stored, reserved and empty, free."""

from __future__ import annotations

from snippets.draw.svg import el, text, text_width

SIZE_PX = 13


def legend(y: float, hatch_id: str, stored: str, empty: str, free: str = "") -> str:
    """One line of squares with their words, its top at `y`; words left empty are left out."""
    parts, x = [], 0.5
    fills = ((stored, "f-kv", None), (empty, None, f"url(#{hatch_id})"), (free, "f-none s-free", None))
    for words, class_, fill in fills:
        if words:
            parts.append(el("rect", x=x, y=y, width=SIZE_PX, height=SIZE_PX, rx=2, class_=class_, fill=fill))
            parts.append(text(x + SIZE_PX + 6, y + 11, words, "t-small"))
            x += SIZE_PX + 6 + text_width(words, 12) + 16
    return "".join(parts)
