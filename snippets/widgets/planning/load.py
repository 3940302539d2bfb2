"""The load that traffic makes: how many requests run at once, and how long they are meanwhile."""

from __future__ import annotations

from snippets.planner.answers.in_flight import InFlight, Traffic, requests_in_flight
from snippets.planner.answers.lengths import Lengths
from snippets.widgets.declare import Values
from snippets.widgets.planning.question import Answered


def _traffic(values: Values) -> Traffic:
    def lengths(name: str) -> Lengths:
        return Lengths.around(float(values[f"{name}_mean"] or 1), float(values[f"{name}_deviation"] or 0))

    return Traffic(lengths("prompt"), lengths("output"), int(values["shared_prefix"] or 0))


def in_flight(values: Values, found: Answered) -> InFlight | None:
    """Requests at once for the traffic set; None without a plan or a cache. Raises AnswerError for a wrong traffic."""
    cache, resolved = found.plan.cache, found.plan.resolved
    if cache is None or resolved is None or not cache.groups:
        return None
    return requests_in_flight(cache, resolved, _traffic(values), found.question.args.speculative)


def batch_and_context(values: Values, flight: InFlight) -> tuple[int, int]:
    """What a step decodes: as typed, or where left empty what the traffic makes of it, so that bounds hold for it."""
    batch = int(values["batch"]) if values["batch"] is not None else flight.running_at_most
    context = int(values["context"]) if values["context"] is not None else max(1, round(flight.held.mean_tokens))
    return batch, context
