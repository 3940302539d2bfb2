"""Start-up logs of real servers, and which model's layers each of them cached.

startup_logs.json holds what was stated and printed, with the source of each log; published.json single figures from
reports and issues. layouts.json says for each which config the model has, and what had to be inferred where a setting
is left out. configs.json holds the configs that are not in the catalog, reduced to the fields that decide the cache.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from snippets.model_config.model_config import ModelConfig
from snippets.model_config.read import read_config
from snippets.planner.specs import LayerRun, LayerSpec


@dataclass(frozen=True)
class Log:
    """One start: settings that were stated, figures that were printed."""

    id: str
    model: str
    vllm_version: str | None
    source: str
    settings: Mapping[str, Any]
    printed: Mapping[str, Any]


@dataclass(frozen=True)
class Layout:
    """What a log's server cached."""

    categories: tuple[str, ...]
    config: str | None  # a key of the catalog or of configs.json; None when the model is not known
    unknown: str  # why nothing can be computed; "" when it can
    inferred: str  # what the log itself leaves out
    exception: str  # why a computed figure is known to differ
    settings: Mapping[str, Any]  # inferred settings that take the place of stated ones
    num_speculative_tokens: int  # of a drafter
    drafter_layers: Mapping[str, int]  # layers a drafter adds, by kind: copies of the target's
    drafter: LayerRun | None  # layers a drafter adds that are unlike the target's
    rules: str | None  # the version whose rules count, where the log names none or a development build
    available_gib: float | None  # where the printed one is another rank's
    available_gib_per_stage: tuple[float, ...]


_OWN = frozenset(Layout.__dataclass_fields__) - {"settings"}


def logs() -> tuple[Log, ...]:
    """All logs of the collection, in the order of their ids."""
    return _read("startup_logs.json")


def published() -> tuple[Log, ...]:
    """Single figures from reports and issues; of none the log itself was seen."""
    return _read("published.json")


@cache
def _read(name: str) -> tuple[Log, ...]:
    return tuple(
        Log(x["id"], x["model"], x.get("vllm_version"), x["source"], x["settings"], x["printed"]) for x in _data(name)
    )


@cache
def layouts() -> dict[str, Layout]:
    """The layout of every log by its id."""
    return {key: _layout(fields) for key, fields in _data("layouts.json").items()}


@cache
def config_of(key: str) -> ModelConfig:
    """The config of that key, from the catalog or from configs.json. Raises KeyError for an unknown one."""
    own = _data("configs.json")
    fields = own[key]["config"] if key in own else _data("configs.json", "snippets.catalog")[key]["config"]
    return read_config(fields)


def _layout(fields: Mapping[str, Any]) -> Layout:
    return Layout(
        categories=tuple(fields["categories"]),
        config=fields.get("config"),
        unknown=fields.get("unknown", ""),
        inferred=fields.get("inferred", ""),
        exception=fields.get("exception", ""),
        settings={name: value for name, value in fields.items() if name not in _OWN},
        num_speculative_tokens=fields.get("num_speculative_tokens", 0),
        drafter_layers=fields.get("drafter_layers", {}),
        drafter=_run(fields["drafter"]) if "drafter" in fields else None,
        rules=fields.get("rules"),
        available_gib=fields.get("available_gib"),
        available_gib_per_stage=tuple(fields.get("available_gib_per_stage", ())),
    )


def _run(fields: Mapping[str, Any]) -> LayerRun:
    return LayerRun(fields["count"], LayerSpec(**{name: value for name, value in fields.items() if name != "count"}))


@cache
def _data(name: str, package: str = "snippets.planner.evidence") -> Any:
    raw = pkgutil.get_data(package, name)  # works from inside a zip too
    if raw is None:
        raise FileNotFoundError(f"{package}: {name}")
    return json.loads(raw)
