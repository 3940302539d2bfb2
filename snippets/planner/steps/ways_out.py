"""What to change when vLLM refuses: each proposal was planned again, at both ends of the memory that is estimated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from snippets.planner.cache import plan_cache
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.specs import CacheError
from snippets.planner.steps.take import StartError, Steps
from snippets.planner.weights.errors import WeightsError

Attempt = Callable[[EngineArgs], Steps]  # the steps with these arguments
Proposal = tuple[EngineArgs, str]  # changed arguments, and the change in words
End = Literal["low", "expected"]  # of the estimated memory; one and the same where the memory is given
MAX_CARDS = 16

ONE, MANY = "This works: ", "These work, each alone: "
DOUBTFUL = "Not at the low end of the estimated memory, only as expected: "
NOT_SURE = "CUDA out of memory at the high end of what is estimated."
TAKEN = "vLLM takes these, but the memory is then too small: "


@dataclass(frozen=True)
class Ways:
    """Changes as flags: that start at the low end too, that start as expected alone, that are taken but do not fit."""

    sure: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()


def failure_at(end: End, steps: Steps) -> Exception | None:
    """What fails first; None: it starts, at the low end too if that is asked."""
    first = next(iter(steps.failures), None)
    if end == "expected" or steps.memory_given or not isinstance(first, CacheError | None):
        return first
    if steps.doubt is not None:
        return first or steps.doubt
    if steps.resolved is None or not any(steps.resolved.stages):
        return first
    try:
        lows = [budget.available.low for budget in steps.budgets] or list(steps.available)
        plan_cache(steps.resolved.stages, lows, steps.resolved.limits)
    except CacheError as error:
        return error
    return StartError("", NOT_SURE) if steps.fit is not None and not steps.fit.is_sure else None


def sorted_out(proposals: Iterable[Proposal], attempt: Attempt) -> Ways:
    """Proposals of one kind by how they come out."""
    found: dict[str, list[str]] = {"sure": [], "doubtful": [], "taken": []}
    for changed, words in proposals:
        steps = attempt(changed)
        if failure_at("low", steps) is None:
            found["sure"].append(words)
        elif failure_at("expected", steps) is None:
            found["doubtful"].append(words)
        elif not isinstance(steps.failures[0], EngineArgsError | WeightsError):
            found["taken"].append(words)
    return Ways(tuple(found["sure"]), tuple(found["doubtful"]), tuple(found["taken"]))


def sentence(ways: Ways, otherwise: str) -> str:
    """The ways found, the sure ones first; those that are merely taken where nothing starts."""
    said = []
    if ways.sure:
        said.append(f"{MANY if len(ways.sure) > 1 else ONE}{'; '.join(ways.sure)}.")
    if ways.doubtful:
        said.append(f"{DOUBTFUL}{'; '.join(ways.doubtful)}.")
    if not said and ways.taken:
        said.append(f"{TAKEN}{'; '.join(ways.taken)}.")
    return " ".join(said) or otherwise


def either(flag: str, values: Sequence[str]) -> tuple[str, ...]:
    """ "--flag 1 or 2 or 4"; nothing without values."""
    return (f"{flag} {' or '.join(values)}",) if values else ()
