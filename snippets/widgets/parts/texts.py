"""Long texts cross from the page to Python once, and stand as `[handle]` in a state after that.

A message of every slider move would else carry a pasted config both ways. The page gives the handles.
"""

from __future__ import annotations

from collections.abc import Mapping

Sent = Mapping[str, str | list[str]]  # control name → its text, or the handle of a long one

MOST_KEPT = 8
_texts: dict[str, str] = {}


class ForgottenError(KeyError):
    """A handle that means nothing here (any more): the page sends the text again."""


def keep(handle: str, text: str) -> None:
    """Remember a text under its handle; the oldest of too many is forgotten."""
    _texts.pop(handle, None)
    _texts[handle] = text
    while len(_texts) > MOST_KEPT:
        del _texts[next(iter(_texts))]


def whole(state: Sent) -> dict[str, str]:
    """A state with the texts in place of their handles."""
    try:
        return {name: one if isinstance(one, str) else _texts[one[0]] for name, one in state.items()}
    except KeyError as error:
        raise ForgottenError(*error.args) from None


def short(state: Mapping[str, str]) -> dict[str, str | list[str]]:
    """A state with handles in place of the texts that came under one."""
    handles = {id(text): handle for handle, text in _texts.items()}  # the very same string: no comparing
    return {name: [handles[id(text)]] if id(text) in handles else text for name, text in state.items()}
