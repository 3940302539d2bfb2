"""What one start of vLLM printed, under the names that the planner uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Setting = int | float | str | bool


@dataclass(frozen=True)
class Line:
    """A line that something was read from."""

    number: int  # from 1
    text: str  # without colours, cut to what can be shown


@dataclass(frozen=True)
class Start:
    """One start. Sizes are GiB as printed; None, empty or "" where the log does not say."""

    version: str = ""
    model: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)  # by the names of planner.engine_args.EngineArgs
    total_gib: float | None = None  # what the driver reports
    free_gib: float | None = None  # of it, at the start
    weights_gib: tuple[float, ...] = ()  # one for each rank that printed it
    activation_gib: float | None = None
    non_torch_gib: float | None = None
    estimated_graphs_gib: float | None = None  # subtracted before the cache is sized
    graphs_gib: float | None = None  # what capturing took
    available_gib: tuple[float, ...] = ()
    kv_tokens: int | None = None
    max_concurrency: float | None = None
    gpu_blocks: int | None = None
    attention_backend: str = ""
    needed_gib: float | None = None  # of a refusal: one request of max_model_len
    estimated_max_len: int | None = None  # of a refusal: what would fit
    refusal: str = ""  # what vLLM said when it did not start
    has_drafter: bool = False
    is_cpu: bool = False
    lines: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()


class NotALogError(ValueError):
    """No line of the text is one that vLLM prints at its start."""
