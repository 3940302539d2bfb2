"""One plan: from a config, a card and engine arguments to blocks, tokens and the lines vLLM would print."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import ModelConfig
from snippets.planner.engine_args import EngineArgs
from snippets.planner.estimate import Budget
from snippets.planner.resolved import Resolved
from snippets.planner.specs import CachePlan


@dataclass(frozen=True)
class PlanError:
    """Why there is no (full) plan."""

    field: str  # the setting or config field that can mend it
    message: str  # vLLM's own words where it is vLLM that refuses
    way_out: str  # what to change, with the value that works where one is known


@dataclass(frozen=True)
class Explained:
    """One number, opened."""

    name: str  # its JSON key: "num_gpu_blocks"
    value: str  # as shown, with unit
    formula: str  # in vLLM's names: "available_memory // page_size // group_size"
    numbers: str  # the same with the numbers in it
    source: str  # "vllm/v1/core/kv_cache_utils.py:1005 get_num_blocks"


@dataclass(frozen=True)
class Plan:
    """Everything known for one question. Parts that could not be made are None, and `errors` says why."""

    config: ModelConfig
    gpu: Gpu | None
    args: EngineArgs
    resolved: Resolved | None
    budget: Budget | None  # None when the available memory was given
    available_bytes: int | None  # per rank: given, or the budget's expected value
    cache: CachePlan | None
    cache_low: CachePlan | None  # at the budget's low end; None when that does not start
    cache_high: CachePlan | None
    kv_bytes_per_token: int | None  # marginal, one rank, at full context
    explained: tuple[Explained, ...]
    errors: tuple[PlanError, ...]
