"""One start that was measured, whether a lab's result or a log told it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from snippets.planner.engine_args import Usage
from snippets.startup_log.start import Line, Setting

Value = int | float | str | bool | None


@dataclass(frozen=True)
class Shape:
    """What decides the bytes of a uniform cache, where the model itself is not known."""

    num_layers: int
    num_kv_heads: int
    head_dim: int
    dtype_bytes: int


@dataclass(frozen=True)
class Pair:
    """A number that the lab predicted itself, beside what it measured; a range is a tuple."""

    name: str
    predicted: Value | tuple[Value, ...]
    measured: Value | tuple[Value, ...]
    unit: str
    equal: bool | None = None  # of a check, which must hold exactly


@dataclass(frozen=True)
class Run:
    """Sizes are bytes of the fullest card; None where they were not told."""

    name: str  # of a lab's setting; "" for a log
    model: str
    version: str
    settings: Mapping[str, Setting]  # by the names of EngineArgs
    usage: Usage = "server"
    card: str = ""  # as the driver names it
    is_cpu: bool = False
    total: int | None = None
    free: int | None = None
    weights: int | None = None
    activation: int | None = None
    non_torch: int | None = None
    estimated_graphs: int | None = None
    graphs: int | None = None
    available: int | None = None
    is_exact: bool = False  # the available bytes are exact; else they were printed to 0.01 GiB
    num_gpu_blocks: int | None = None
    kv_tokens: int | None = None
    max_concurrency: float | None = None
    attention_backend: str = ""
    shape: Shape | None = None
    refusal: str = ""
    needed: int | None = None  # of a refusal: one request of max_model_len
    estimated_max_len: int | None = None  # of a refusal: what would fit
    skipped: str = ""
    pairs: tuple[Pair, ...] = ()
    lines: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dropped:
    """What a text held."""

    title: str  # what it is, in a few words
    runs: tuple[Run, ...]
    notes: tuple[str, ...] = ()
