"""Published config.json files as facts: the fields that the planner reads, exactly as published, with their source.

The data stands in configs.json; adding a model there needs no code. A config is read only when somebody asks for it.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from snippets.model_config.model_config import ModelConfig
from snippets.model_config.read import read_config


class UnknownModelError(KeyError):
    """A key that is not in the catalog."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class ConfigEntry:
    """One checkpoint's config.json."""

    key: str
    name: str
    repository: str  # on Hugging Face
    source_url: str  # the copy that was read
    read: str  # the day it was read, ISO 8601
    config: Mapping[str, object]
    hf_quant_config: Mapping[str, object] | None = None  # the side file of that name, where vLLM would read one
    note: str = ""  # what the copy lacked and where that was taken from


@cache
def config_entries() -> dict[str, ConfigEntry]:
    """Every config by key, in the order of configs.json; none of them read yet."""
    raw = pkgutil.get_data("snippets.catalog", "configs.json")  # works from inside a zip too, as in the browser
    if raw is None:
        raise FileNotFoundError("snippets/catalog/configs.json")
    return {key: ConfigEntry(key=key, **fields) for key, fields in json.loads(raw).items()}


@cache
def catalog_config(key: str) -> ModelConfig:
    """The config of that key, read. An unknown key is refused with the keys there are."""
    try:
        entry = config_entries()[key]
    except KeyError:
        known = ", ".join(config_entries())
        raise UnknownModelError(f"model {key!r} is not in the catalog; it has: {known}") from None
    return read_config(entry.config, entry.hf_quant_config)
