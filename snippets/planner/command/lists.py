"""The catalog as lists: cards and models."""

from __future__ import annotations

from snippets.catalog.configs import config_entries
from snippets.catalog.gpus import gpus


def gpu_list() -> str:
    """Key, name and memory of each card."""
    rows = []
    for card in gpus().values():
        memory = f"{card.visible_gib} GiB" if card.visible_gib is not None else "memory not known"
        rows.append(f"{card.key:<16} {card.name:<28} {memory}")
    return "\n".join(rows) + "\n"


def model_list() -> str:
    """Key and repository of each model."""
    return "".join(f"{key:<32} {entry.repository}\n" for key, entry in config_entries().items())
