"""The plan's memory as the drawing of one card."""

from __future__ import annotations

from snippets.catalog.gpus import MissingFactError
from snippets.draw.figure import Figure, Layout
from snippets.draw.planner.card import Card, Part, card_figure
from snippets.planner.estimate import Budget, Range
from snippets.planner.memory.budget import estimate_budget
from snippets.planner.plan import Plan
from snippets.planner.steps.unnamed_card import unnamed_card
from snippets.units import GIB, count
from snippets.widgets.planning.question import Answered, Question

NAME = "planner-card"
WORDS = {
    "weights": "weights",
    "activation": "activations",
    "non_torch": "CUDA context",
    "cuda_graphs": "graphs",
    "one of": "each of {n} × {card}",
    "own": "a card of {gib:g} GiB",
    "unknown": "weights and the rest",
}


def _name(question: Question) -> str:
    name = question.gpu.name if question.gpu else WORDS["own"].format(gib=(question.total_bytes or 0) / GIB)
    return name if question.cards == 1 else WORDS["one of"].format(n=count(question.cards), card=name)


def _fitted(budget: Budget) -> tuple[Part, ...]:
    """The parts that are estimated; one that is surely nothing is left out."""
    sizes: tuple[tuple[str, str, Range], ...] = (
        ("activation", "activations", budget.activation),
        ("non_torch", "other", budget.non_torch),
        ("cuda_graphs", "graphs", budget.cuda_graphs),
    )
    return tuple(Part(WORDS[key], tone, size.expected, size.low, size.high) for key, tone, size in sizes if size.high)


def _of_budget(budget: Budget, name: str, has_cache: bool = True) -> Card:
    weights = budget.weights_bytes
    exact = (Part(WORDS["weights"], "weights", weights, weights, weights),) if weights else ()
    return Card(
        name=name,
        total=budget.total_bytes,
        requested=budget.requested_bytes,
        parts=(*exact, *_fitted(budget)),
        kv=budget.available.expected,
        kv_low=budget.available.low,
        kv_high=budget.available.high,
        has_cache=has_cache,
    )


def _without_cache(plan: Plan, question: Question, name: str) -> Card | None:
    """Weights, where they are known, and what a step takes; nothing is kept."""
    if plan.resolved is None:
        return None
    card, weights = question.gpu or unnamed_card(question.total_bytes), plan.weights_bytes or 0
    try:
        budget = estimate_budget(
            question.config, card, question.args, plan.resolved, weights, total_bytes=question.total_bytes
        )
    except MissingFactError:
        return None
    return _of_budget(budget, name, has_cache=False)


def _of_given(plan: Plan, question: Question, name: str) -> Card | None:
    left = plan.available_bytes
    total = question.total_bytes or (question.gpu.visible_bytes if question.gpu else 0)
    if left is None or not total:
        return None
    requested = round(total * question.args.gpu_memory_utilization)
    weights = plan.weights_bytes or 0
    rest = max(requested - left - weights, 0)
    parts = [Part(WORDS["weights"], "weights", weights, weights, weights)] if weights else []
    parts += [Part(WORDS["unknown" if not weights else "activation"], "activations", rest, rest, rest)] if rest else []
    return Card(name, total, requested, tuple(parts), left, left, left, is_given=True)


def card_of(found: Answered | None, layout: Layout) -> Figure:
    """The drawing; an empty one where nothing is known."""
    if found is None:
        return Figure(NAME, "", "")
    plan, name = found.plan, _name(found.question)
    if plan.cache is not None and not plan.cache.groups:
        card = _without_cache(plan, found.question, name)
        return Figure(NAME, "", "") if card is None else card_figure(card, NAME, layout)
    card = _of_budget(plan.budget, name) if plan.budget else _of_given(plan, found.question, name)
    return Figure(NAME, "", "") if card is None else card_figure(card, NAME, layout)
