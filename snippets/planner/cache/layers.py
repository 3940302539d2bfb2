"""A model's layers, counted: each distinct spec with the number of layers on every pipeline stage.

Counting is enough, because vLLM deals equal layers to groups in turn (`layers[i::num_groups]`) and its layer order is
stage by stage, so that a stage's equal layers are neighbours in that list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from snippets.planner.cache.pages import spec_of
from snippets.planner.cache.spec import Spec
from snippets.planner.specs import Stage

Layers = dict[Spec, list[int]]  # in the order in which vLLM meets the specs


class Group(NamedTuple):
    """Layers that share one block table (KVCacheGroupSpec)."""

    spec: Spec  # merged; the first where they differ
    per_stage: Sequence[int]
    members: Layers | None = None  # set: a UniformTypeKVCacheSpecs of these


def counted(stages: Sequence[Stage]) -> tuple[Layers, dict[Spec, str]]:
    """The layers of all stages, and the name of the first layer of each spec."""
    layers: Layers = {}
    names: dict[Spec, str] = {}
    same: dict[int, Spec | None] = {}  # patterns repeat the very same objects
    index = 0
    for s, stage in enumerate(stages):
        for run in stage:
            key = id(run.spec)
            spec = same[key] if key in same else same.setdefault(key, spec_of(run.spec))
            if spec is not None and run.count > 0:
                if spec not in layers:
                    layers[spec] = [0] * len(stages)
                    names[spec] = run.name or f"layers.{index}"
                layers[spec][s] += run.count
            index += run.count
    return layers, names


def gathered(parts: Iterable[tuple[Spec, Sequence[int]]]) -> Layers:
    """Specs that have become equal, counted together."""
    layers: Layers = {}
    for spec, counts in parts:
        known = layers.get(spec)
        layers[spec] = list(counts) if known is None else [a + b for a, b in zip(known, counts, strict=True)]
    return layers


def totals(layers: Layers) -> list[int]:
    """Layers on each stage."""
    return [sum(column) for column in zip(*layers.values(), strict=True)]


def dealt(counts: Sequence[int], num_groups: int, group: int) -> list[int]:
    """How many of each stage's equal layers group number `group` gets when they are dealt in turn."""
    share, before = [], 0
    for count in counts:
        share.append((before + count - group - 1) // num_groups - (before - group - 1) // num_groups)
        before += count
    return share
