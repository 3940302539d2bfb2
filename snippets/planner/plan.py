"""One plan: from a config, a card and engine arguments to blocks, tokens and the lines vLLM would print."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import ModelConfig
from snippets.planner.cache.held import marginal_bytes_per_token
from snippets.planner.engine_args import EngineArgs
from snippets.planner.estimate import Budget, Fit
from snippets.planner.explain import Explained, explain
from snippets.planner.resolved import Resolved
from snippets.planner.settings.positions import notes_of_positions
from snippets.planner.specs import CacheLayout, CachePlan
from snippets.planner.steps.refusals import PlanError, explain_failure
from snippets.planner.steps.take import Given, StartError, Steps, cache_at, layout_of, take
from snippets.planner.steps.unnamed_card import assumption, unnamed_card

FIT_UNKNOWN = (
    "Whether weights, cache and the rest fit the card is not known here: its memory, or the weights' size, is missing."
)
FREE_ASSUMED = (
    "What is free at the start is assumed: the card without what a CUDA context takes, and nothing else running on it."
)

__all__ = ["Explained", "Plan", "PlanError", "make_plan"]


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
    weights_bytes: int | None = None  # of the fullest rank: given or counted; None when neither is possible
    notes: tuple[str, ...] = ()  # what was assumed, what vLLM warns of
    fit: Fit | None = None  # of a cache whose size was fixed, beside all else on the card
    layout: CacheLayout | None = None  # groups, pages and blocks: also where memory or weights are missing


def make_plan(
    config: ModelConfig,
    gpu: Gpu | None,
    args: EngineArgs,
    *,
    available_bytes: int | None = None,
    weights_bytes: int | None = None,
    total_bytes: int | None = None,
    free_bytes: int | None = None,
) -> Plan:
    """Plan as vLLM 0.26.0 does. All bytes are of one rank; what is given is not estimated.

    available_bytes: "Available KV cache memory". weights_bytes: "Model loading took". total_bytes: what the driver
    reports for the card. free_bytes: what of it is free at start. Refusals stand in `errors`; nothing is raised for
    what a user can type, and every part that could be made is there.
    """
    given = Given(available_bytes, weights_bytes, total_bytes, free_bytes, weights_of=args)
    card = gpu or unnamed_card(total_bytes)
    steps = take(config, card, args, given)
    errors = tuple(
        explain_failure(failure, config, card, args, steps, lambda changed: take(config, card, changed, given))
        for failure in steps.failures
    )
    is_estimated = available_bytes is None and not args.kv_cache_memory_bytes
    budget = steps.budget if is_estimated else None
    available = min(steps.available, default=None)
    low, high = _ends(steps) if budget is not None else (steps.cache, steps.cache)
    if steps.fit is not None and not steps.fit.is_sure:
        low = None
    layout = layout_of(steps)
    per_token = _per_token(steps, layout)
    return Plan(
        config=config,
        gpu=gpu,
        args=args,
        resolved=steps.resolved,
        budget=budget,
        available_bytes=available,
        cache=steps.cache,
        cache_low=low,
        cache_high=high,
        kv_bytes_per_token=per_token,
        explained=explain(args, steps.resolved, budget, available, steps.cache, layout, per_token),
        errors=errors,
        weights_bytes=max(steps.weights, default=None),
        notes=_notes(config, gpu, args, total_bytes, steps),
        fit=steps.fit,
        layout=layout,
    )


def _ends(steps: Steps) -> tuple[CachePlan | None, CachePlan | None]:
    """The cache at the low and at the high end of the budget; none where the start ends before the cache counts."""
    if any(isinstance(failure, StartError) for failure in steps.failures):
        return None, None
    assert steps.resolved is not None
    low = None
    if steps.doubt is None:
        low = cache_at(steps.resolved, [budget.available.low for budget in steps.budgets], steps.cache)
    high = cache_at(steps.resolved, [budget.available.high for budget in steps.budgets], steps.cache)
    return low, high


def _per_token(steps: Steps, layout: CacheLayout | None) -> int | None:
    if layout is None or steps.resolved is None:
        return None
    return round(marginal_bytes_per_token(layout, steps.resolved.limits))


def _notes(
    config: ModelConfig, gpu: Gpu | None, args: EngineArgs, total_bytes: int | None, steps: Steps
) -> tuple[str, ...]:
    return (
        *((assumption(total_bytes),) if gpu is None else ()),
        *_about_free_memory(steps),
        *_about_fixed_size(args, steps),
        *config.notes,
        *notes_of_positions(config, steps.resolved.max_model_len if steps.resolved else None),
        *(steps.resolved.warnings if steps.resolved else ()),
        *(steps.cache.warnings if steps.cache else ()),
    )


def _about_free_memory(steps: Steps) -> tuple[str, ...]:
    """That what is free at the start is assumed, where that decides."""
    refused = next((failure for failure in steps.failures if isinstance(failure, StartError)), None)
    if refused is not None and refused.utilization is not None:
        return (FREE_ASSUMED,)
    if steps.doubt is None:
        return ()
    return (f"vLLM may refuse: “{steps.doubt}” {steps.doubt.utilization:.2f} surely passes. {FREE_ASSUMED}",)


def _about_fixed_size(args: EngineArgs, steps: Steps) -> tuple[str, ...]:
    """That a cache of fixed size was measured against nothing."""
    is_fixed = args.kv_cache_memory_bytes and not steps.memory_given
    return (FIT_UNKNOWN,) if is_fixed and steps.cache and steps.cache.groups and not steps.budgets else ()
