"""The plan's memory as the drawing of one card."""

from __future__ import annotations

from snippets.draw.figure import Figure, Layout
from snippets.draw.planner.card import Card, Part, card_figure
from snippets.planner.estimate import Budget, Range
from snippets.planner.plan import Plan
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


def _of_budget(budget: Budget, name: str) -> Card:
    weights = budget.weights_bytes
    return Card(
        name=name,
        total=budget.total_bytes,
        requested=budget.requested_bytes,
        parts=(Part(WORDS["weights"], "weights", weights, weights, weights), *_fitted(budget)),
        kv=budget.available.expected,
        kv_low=budget.available.low,
        kv_high=budget.available.high,
    )


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
    card = _of_budget(plan.budget, name) if plan.budget else _of_given(plan, found.question, name)
    return Figure(NAME, "", "") if card is None else card_figure(card, NAME, layout)
