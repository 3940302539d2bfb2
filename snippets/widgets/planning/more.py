"""What lets all requests in that the reader asked for with max_num_seqs: a button for each change that admits more."""

from __future__ import annotations

from collections.abc import Mapping

from snippets.catalog.gpus import MissingFactError
from snippets.planner.answers.more_requests import More, more_requests
from snippets.planner.steps.take import Given
from snippets.planner.steps.unnamed_card import unnamed_card
from snippets.units import count
from snippets.widgets.markup import data
from snippets.widgets.parts.nodes import Element, Node, el, words
from snippets.widgets.planning.question import Answered
from snippets.widgets.planning.refusal import changes

WORDS = {
    "more": "max_num_seqs allows {wanted}; of full length fewer fit. Planned again with one change, as expected:",
    "button": "{flag} → {requests} at once",
}


def more(found: Answered) -> tuple[Node, ...]:
    """Buttons; nothing where max_num_seqs was not set, all fit, or nothing tried here admits more."""
    question, wanted = found.question, found.question.args.max_num_seqs
    if wanted is None or found.plan.cache is None or not found.plan.cache.groups:
        return ()
    card = question.gpu or unnamed_card(question.total_bytes)
    given = Given(question.available_bytes, question.weights_bytes, question.total_bytes, weights_of=question.args)
    try:
        ways = more_requests(question.config, card, question.args, wanted, given)
    except MissingFactError:
        return ()
    if not ways:
        return ()
    said = WORDS["more"].format(wanted=count(wanted))
    return words(said), el("div", *map(_button, ways), class_="button-row")


def _button(way: More) -> Element:
    set_to: Mapping[str, str] = changes(way.flag)
    shown = WORDS["button"].format(flag=way.flag, requests=count(way.requests))
    return el("button", shown, type="button", data_values=data(set_to))
