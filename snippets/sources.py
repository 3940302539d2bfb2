"""Where quoted figures come from: one table, read from catalog/sources.json."""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Source:
    """A work that a figure is quoted from, and the place in it."""

    title: str
    locator: str  # section, table or page; for code, file and function
    url: str
    read: str  # the day it was read, ISO 8601


@cache
def load() -> dict[str, Source]:
    """All sources by key."""
    raw = pkgutil.get_data("snippets.catalog", "sources.json")
    if raw is None:
        raise FileNotFoundError("snippets/catalog/sources.json")
    return {key: Source(**fields) for key, fields in json.loads(raw).items()}
