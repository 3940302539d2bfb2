"""A recurrent layer's state and the sizes it is made of."""

from __future__ import annotations

from snippets.model_config.fields import Fields
from snippets.model_config.model_config import StateCache, StateKind

MAX_DIM = 1 << 24


def state(kind: StateKind, **dims: int) -> StateCache:
    """A state cache, its sizes named as vLLM's shape calculator names them."""
    return StateCache(kind, tuple(dims.items()))


def dim(text: Fields, key: str, minimum: int = 1) -> int:
    """One size of a state."""
    return text.integer(key, minimum=minimum, maximum=MAX_DIM)
