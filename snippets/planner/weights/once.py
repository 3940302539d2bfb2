"""Results that depend on a config alone are computed once: a config holds mappings, so it has no hash."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

from snippets.model_config.model_config import ModelConfig

Result = TypeVar("Result")


class OncePerConfig(Generic[Result]):
    """Keeps one result for each config that is in use."""

    def __init__(self) -> None:
        self._kept: dict[int, tuple[weakref.ref[ModelConfig], Result]] = {}

    def get(self, config: ModelConfig, compute: Callable[[], Result]) -> Result:
        """The kept result, or `compute`'s."""
        key = id(config)
        found = self._kept.get(key)
        if found is None or found[0]() is not config:
            found = weakref.ref(config, lambda _: self._kept.pop(key, None)), compute()
            self._kept[key] = found
        return found[1]
