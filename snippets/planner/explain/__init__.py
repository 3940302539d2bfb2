"""Each number of a plan, opened: the formula in vLLM's names, the numbers in it, the source line it follows."""

from __future__ import annotations

from snippets.planner.engine_args import EngineArgs
from snippets.planner.estimate import Budget
from snippets.planner.explain.budget_numbers import budget_numbers, given_memory, setting_numbers
from snippets.planner.explain.cache_numbers import cache_numbers, layout_numbers
from snippets.planner.explain.explained import Explained
from snippets.planner.resolved import Resolved
from snippets.planner.specs import CacheLayout, CachePlan

__all__ = ["Explained", "explain"]


def explain(
    args: EngineArgs,
    resolved: Resolved | None,
    budget: Budget | None,
    available_bytes: int | None,
    cache: CachePlan | None,
    layout: CacheLayout | None,
    bytes_per_token: int | None,
) -> tuple[Explained, ...]:
    """Every number that was made, in the order vLLM makes them. `budget` is None where the memory was given."""
    opened: list[Explained] = []
    if resolved is not None:
        opened += setting_numbers(resolved)
    if budget is not None:
        opened += budget_numbers(budget, args)
    elif available_bytes is not None:
        opened.append(given_memory(available_bytes, args))
    if cache is not None and resolved is not None and available_bytes is not None:
        opened += cache_numbers(cache, resolved, available_bytes, bytes_per_token)
    elif layout is not None and resolved is not None:
        opened += layout_numbers(layout, resolved, bytes_per_token)
    return tuple(opened)
