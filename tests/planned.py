"""The site's one question as the planner answers it: what pages, widgets and labs are held against."""

from __future__ import annotations

from functools import cache

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.planner.engine_args import EngineArgs
from snippets.planner.plan import Plan, make_plan

BASELINE = EngineArgs(max_model_len=8192)  # `vllm serve`, everything else left at vLLM's defaults


@cache
def planned(model: str = "qwen2.5-7b", args: EngineArgs = BASELINE) -> Plan:
    """The plan for that model on the RTX 4090."""
    return make_plan(catalog_config(model), gpu("rtx-4090"), args)


def concurrency(plan: Plan) -> float:
    """What vLLM would print for it."""
    assert plan.cache is not None
    return plan.cache.max_concurrency


def tokens(plan: Plan) -> int:
    """The tokens it would print."""
    assert plan.cache is not None
    return plan.cache.kv_cache_size_tokens


def other_memory(plan: Plan) -> tuple[int, int, int]:
    """Low, expected and high bytes of what is neither weights nor cache."""
    budget = plan.budget
    assert budget is not None
    rest, left = budget.requested_bytes - budget.weights_bytes, budget.available
    return rest - left.high, rest - left.expected, rest - left.low
