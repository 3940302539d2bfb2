"""HTML text from Python: tags with escaped attributes, and data for the browser as JSON in an attribute."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape

_VOID = {"input"}


def tag(element: str, /, *children: str, **attributes: str | int | float | bool | None) -> str:
    """One element. `class_` is class, `data_kind` is data-kind; True is a bare attribute, None and False are left out.

    Children are HTML already; escape text with `text`.
    """
    parts = [element]
    for key, value in attributes.items():
        shown = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(shown)
        elif value is not None and value is not False:
            parts.append(f'{shown}="{escape(str(value))}"')
    opening = f"<{' '.join(parts)}>"
    return opening if element in _VOID else f"{opening}{''.join(children)}</{element}>"


def text(words: str) -> str:
    """Text as HTML."""
    return escape(words, quote=False)


def data(value: Mapping[str, object] | Sequence[object] | None) -> str:
    """A value for a data attribute, as JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
