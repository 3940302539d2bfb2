"""How many requests really run: for prompts and answers of your lengths, beside the worst case."""

from __future__ import annotations

from snippets.draw.figure import Layout
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.in_flight import LEAST_SHARE_SAID, SAFE_SHARE, InFlight
from snippets.units import count, percent
from snippets.widgets.declare import Shown, Values
from snippets.widgets.parts.nodes import Node, table, words
from snippets.widgets.planning.answer import average
from snippets.widgets.planning.load import in_flight
from snippets.widgets.planning.question import answered

WORDS = {
    "none": "Without a plan nothing runs.",
    "caption": "Requests at once, in one replica",
    "measure": "measure",
    "requests": "requests",
    "meaning": "what it says",
    "safe": "without preemption",
    "safe says": "plan with this: at {share} of moments their blocks stay inside the pool",
    "expected": "on average",
    "expected says": "what a busy server holds, rounded up; now and then one is preempted and computed again",
    "worst": "worst case",
    "worst says": "all have {tokens} tokens at the same moment: the log's number, rounded down",
    "most": "max_num_seqs",
    "most says": "the scheduler's own limit",
    "by memory": "{safe} at once without preemption. Memory decides: a busy server runs about {n} at once, "
    "each then {tokens} tokens long on average.",
    "by most": "{most} at once: max_num_seqs decides, memory would hold {n} of these.",
    "cut": "{share} of the requests reach max_model_len and are cut short.",
    "assumed": "Assumed: a server that is always busy, log-normal lengths, and prompts quickly computed.",
}


def traffic_section(values: Values, layout: Layout) -> Shown:
    """The four numbers, and which one decides."""
    found = answered(values)
    cache = found.plan.cache if found else None
    try:
        flight = in_flight(values, found) if found else None
    except AnswerError as error:
        return Shown(after=(words(f"{error}.", "part-error"),))
    if flight is None or cache is None:
        return Shown(after=(words(WORDS["none"]),))
    return Shown(after=(_said(flight), _table(flight, cache.max_model_len), words(WORDS["assumed"], "quiet")))


def _said(flight: InFlight) -> Node:
    key = "by memory" if flight.decided_by == "memory" else "by most"
    said = WORDS[key].format(
        safe=count(flight.safe),
        n=average(flight),
        most=count(flight.max_num_seqs),
        tokens=count(flight.held.mean_tokens),
    )
    if flight.cut_share >= LEAST_SHARE_SAID:
        said += " " + WORDS["cut"].format(share=percent(flight.cut_share, 1))
    return words(said, "part-finding")


def _table(flight: InFlight, longest: int) -> Node:
    rows = (
        (WORDS["safe"], count(flight.safe), WORDS["safe says"].format(share=percent(SAFE_SHARE))),
        (WORDS["expected"], average(flight), WORDS["expected says"]),
        (WORDS["worst"], count(flight.worst_case), WORDS["worst says"].format(tokens=count(longest))),
        (WORDS["most"], count(flight.max_num_seqs), WORDS["most says"]),
    )
    head = (WORDS["measure"], WORDS["requests"], WORDS["meaning"])
    marked = (0,) if flight.decided_by == "memory" else (3,)
    return table(WORDS["caption"], head, rows, (1,), marked, "planner-traffic-table")
