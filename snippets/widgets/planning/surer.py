"""What a plan that starts only as expected needs so that it starts with the least memory too."""

from __future__ import annotations

from dataclasses import replace

from snippets.planner.cache import plan_cache
from snippets.planner.specs import CacheError
from snippets.widgets.markup import data
from snippets.widgets.parts.nodes import Node, el, words
from snippets.widgets.planning.question import Answered

WORDS = {"surely": "Planned again with the least memory, this starts:"}


def surer(found: Answered) -> tuple[Node, ...]:
    """A button for the longest context that surely starts; nothing where none does."""
    length = surer_length(found)
    if not length:
        return ()
    button = el("button", f"--max-model-len {length}", type="button", data_values=data({"max_model_len": str(length)}))
    return words(WORDS["surely"]), el("div", button, class_="button-row")


def surer_length(found: Answered) -> int:
    """The longest max_model_len at the low end of the estimated memory; 0: none, or it starts as it is."""
    plan, question = found.plan, found.question
    if plan.budget is None or plan.resolved is None or plan.cache is None or plan.cache_low is not None:
        return 0
    stages = plan.resolved.stages
    try:
        plan_cache(stages, [plan.budget.available.low] * len(stages), plan.resolved.limits)
    except CacheError as error:
        length = error.estimated_max_model_len
        if length > 0 and question.plan(replace(question.args, max_model_len=length)).cache_low is not None:
            return length
    return 0
