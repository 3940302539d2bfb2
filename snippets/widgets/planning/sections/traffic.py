"""How many requests really run: for prompts and answers of your lengths, beside the worst case."""

from __future__ import annotations

from snippets.draw.figure import Layout
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.in_flight import SAFE_SHARE, InFlight
from snippets.units import count, percent
from snippets.widgets.declare import Shown, Values
from snippets.widgets.parts.nodes import Node, table, words
from snippets.widgets.planning.load import in_flight
from snippets.widgets.planning.question import answered

WORDS = {
    "none": "Without a plan nothing runs.",
    "caption": "Requests at once, in one replica",
    "measure": "measure",
    "requests": "requests",
    "meaning": "what it says",
    "worst": "worst case",
    "worst says": "all at {tokens} tokens at the same moment: the log's number, rounded down",
    "safe": "without preemption",
    "safe says": "their blocks stay inside the pool at {share} of moments",
    "expected": "on average",
    "expected says": "as many as the pool holds; a request is then {tokens} tokens long on average",
    "most": "max_num_seqs",
    "most says": "the scheduler's own limit",
    "by memory": "Memory decides: a busy server runs about {n} at once.",
    "by most": "max_num_seqs decides: memory would hold {n} of these.",
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
    said = WORDS[key].format(n=count(flight.expected))
    if flight.cut_share >= 0.0005:
        said += " " + WORDS["cut"].format(share=percent(flight.cut_share, 1))
    return words(said, "part-finding")


def _table(flight: InFlight, longest: int) -> Node:
    rows = (
        (WORDS["worst"], count(flight.worst_case), WORDS["worst says"].format(tokens=count(longest))),
        (WORDS["safe"], count(flight.safe), WORDS["safe says"].format(share=percent(SAFE_SHARE))),
        (
            WORDS["expected"],
            count(flight.expected, 1),
            WORDS["expected says"].format(tokens=count(flight.held.mean_tokens)),
        ),
        (WORDS["most"], count(flight.max_num_seqs), WORDS["most says"]),
    )
    head = (WORDS["measure"], WORDS["requests"], WORDS["meaning"])
    marked = (2,) if flight.decided_by == "memory" else (3,)
    return table(WORDS["caption"], head, rows, (1,), marked, "planner-traffic-table")
