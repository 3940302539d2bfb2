"""What no source line says but start-up logs do: a few medians, in coefficients.json as tools/fit_memory fits them."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True)
class Spread:
    """Measured over expected memory: nine of ten logs lie between the two ratios."""

    low: float
    high: float


@dataclass(frozen=True)
class Coefficients:
    """Medians over sources, each source counted once."""

    bytes_per_logit_sort: float  # the sampler that sorts, to 0.16
    bytes_per_logit_v1: float  # from 0.17 on in the V1 model runner
    forward_factor: float  # measured over counted bytes of the forward pass
    encoder_gib: float  # what a multimodal encoder's profiling adds
    non_torch_gib: Mapping[str, float]  # per kind of card and link
    graph_mib: float  # per CUDA graph and layer
    spread: Mapping[str, Spread]  # per era: "v0", "sort", "v1"


def parse(raw: Mapping[str, Any]) -> Coefficients:
    """Coefficients from the fields of coefficients.json."""
    spread = {era: Spread(**ends) for era, ends in raw["spread"].items()}
    return Coefficients(**{**raw, "spread": spread})


@cache
def coefficients() -> Coefficients:
    """The fitted coefficients."""
    raw = pkgutil.get_data("snippets.planner.memory", "coefficients.json")
    if raw is None:
        raise FileNotFoundError("snippets/planner/memory/coefficients.json")
    return parse(json.loads(raw))
