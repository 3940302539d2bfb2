"""What was assumed and what vLLM warns of, with a sentence where a warning does not explain itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

WORDS = {
    "warns": "vLLM would warn: “{warning}”.",
    "padding": "Its groups share blocks, so each has equally many layers; places left over are empty.",
}
PADDING = re.compile(r"Add \d+ padding layers")


def notes(said: Sequence[str]) -> tuple[str, ...]:
    """The notes of a plan as the page shows them."""
    return tuple(map(_note, said))


def _note(said: str) -> str:
    if PADDING.match(said):
        return f"{WORDS['warns'].format(warning=said)} {WORDS['padding']}"
    return said
