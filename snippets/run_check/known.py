"""Which of the catalog's models and cards a run names, where it names one of them."""

from __future__ import annotations

import re

from snippets.catalog.configs import config_entries
from snippets.catalog.gpus import Gpu, gpus
from snippets.run_check.run import Run
from snippets.units import GIB

NEAR = 0.02  # of the card's memory: drivers and ECC move what is visible by less


def model_key(run: Run) -> str | None:
    """The catalog's key of the checkpoint that the run names: its repository, or the last part of its name."""
    name = run.model.rstrip("/").lower()
    last = name.rpartition("/")[2]
    if not last:
        return None
    entries = config_entries()
    whole: list[str] = [key for key, entry in entries.items() if entry.repository.lower() == name]
    parts = [key for key, entry in entries.items() if entry.repository.lower().rpartition("/")[2] == last]
    found = whole or (parts if len(parts) == 1 else [])
    return found[0] if found else None


_MAKERS = frozenset({"nvidia", "geforce", "amd", "instinct", "radeon", "tesla", "dgx", "spark", "sxm"})


def _words(name: str) -> frozenset[str]:
    """What tells cards apart: not the maker, not the size."""
    return frozenset(re.findall(r"[a-z0-9]+", re.sub(r"\d+ ?gb", "", name.lower()))) - _MAKERS


def card_key(run: Run) -> str | None:
    """The catalog's key of the card whose name the run's contains, with about the memory that the driver reports."""
    if not run.card:
        return None
    words = _words(run.card)
    named = [one for one in gpus().values() if _words(one.name) <= words and _fits(one, run.total)]
    named.sort(key=lambda one: -len(_words(one.name)))
    return named[0].key if named else None


def _fits(card: Gpu, total: int | None) -> bool:
    if total is None or card.visible_gib is None:
        return True
    return abs(total / (card.visible_gib * GIB) - 1) <= NEAR
