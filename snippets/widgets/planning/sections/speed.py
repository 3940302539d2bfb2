"""The most that can be read and computed in a second, and the least that a million tokens can cost."""

from __future__ import annotations

from snippets.draw.figure import Layout
from snippets.draw.scale import memory_column
from snippets.model_config.model_config import ConfigError
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.bounds import (
    DecodeBound,
    PrefillBound,
    Server,
    cost_per_million_tokens,
    decode_bound,
    in_words,
    prefill_bound,
)
from snippets.planner.report.answer import sentence
from snippets.planner.weights import WeightsError
from snippets.units import count, exact_enough, milliseconds
from snippets.widgets.declare import Shown, Values
from snippets.widgets.parts.nodes import Node, table, words
from snippets.widgets.planning.answer import requests
from snippets.widgets.planning.load import batch_and_context, in_flight
from snippets.widgets.planning.question import answered

WORDS = {
    "none": "Without a plan there is nothing to bound.",
    "no card": "Choose a card of the catalog: bandwidth and rate of another card are not known.",
    "rate": "At most {rate} tokens a second with {batch} at once, contexts of {context}: {each} for each.",
    "shared": "A prefix of {tokens} tokens is read once for all.",
    "even": "That holds whatever the router does, also if all tokens choose the same experts. If they choose evenly, "
    "as is to be expected: at most {rate} tokens a second.",
    "no rate": "No bound: {missing} is not known here.",
    "drafted": "So many only if every drafted token is accepted: {tokens} tokens a step and request.",
    "by": "A step takes at least {step}: {what} decides.",
    "reading": "reading weights and cache",
    "arithmetic": "arithmetic",
    "cost": "At least {cost} per million tokens answered by this load, at {price} per card and hour. "
    "More requests at once cost less each, fewer cost more.",
    "caption": "Bounds, from the vendor's peaks: no program reaches them, and none of this is a forecast",
    "quantity": "quantity",
    "bound": "bound",
    "weights": "weights read in a step, one card",
    "cache": "cache read in a step, one card",
    "step": "a decode step takes at least",
    "read": "of it, reading",
    "compute": "of it, arithmetic",
    "prefill": "the arithmetic of a prompt of {tokens} tokens takes at least",
    "prefill rate": "prompt tokens a second by arithmetic, at most",
    "unknown": "not known",
    "missing": "Not known here and left out: {missing}.",
}


def speed_section(values: Values, layout: Layout) -> Shown:
    """The bounds at a batch and a context."""
    found = answered(values)
    if found is None or found.plan.resolved is None or found.plan.cache is None:
        return Shown(after=(words(WORDS["none"]),))
    asked = found.question
    if asked.gpu is None:
        return Shown(after=(words(WORDS["no card"]),))
    try:
        flight = in_flight(values, found)
        if flight is None:
            return Shown(after=(words(WORDS["none"]),))
        batch, context = batch_and_context(values, flight)
        server = Server.of(asked.config, asked.gpu, asked.args, found.plan.resolved)
        decode = decode_bound(server, batch, context, flight.shared_tokens)
        prefill = prefill_bound(server, context)
    except WeightsError as error:  # there is a plan, so their size is given already; what a step reads of it is not
        return Shown(after=(words(sentence(error.told), "part-error"),))
    except (AnswerError, ConfigError) as error:
        return Shown(after=(words(sentence(str(error)), "part-error"),))
    price = None if values["price"] is None else float(values["price"])
    cost = None if price is None else cost_per_million_tokens(server, decode, price)
    return Shown(after=(*_said(decode, cost, price), _table(decode, prefill), *_missing(decode)))


def _said(decode: DecodeBound, cost: float | None, price: float | None) -> tuple[Node, ...]:
    if decode.tokens_per_second is None or decode.tokens_per_second_per_request is None:
        return (words(WORDS["no rate"].format(missing=in_words(decode.not_known)), "part-finding"),)
    each = count(decode.tokens_per_second_per_request, 1)
    rate = WORDS["rate"].format(
        rate=count(decode.tokens_per_second),
        batch=requests(decode.batch),
        context=count(decode.context_tokens),
        each=each,
    )
    if decode.tokens_per_step > 1:
        rate += " " + WORDS["drafted"].format(tokens=decode.tokens_per_step)
    if decode.shared_tokens:
        rate += " " + WORDS["shared"].format(tokens=count(decode.shared_tokens))
    if decode.even_routing is not None:
        rate += " " + WORDS["even"].format(rate=count(decode.even_routing.tokens_per_second or 0))
    by = WORDS["by"].format(step=milliseconds(decode.step_seconds or 0, 2), what=WORDS[decode.limited_by])
    said = [words(f"{rate} {by}", "part-finding")]
    if cost is not None and price is not None:
        told = WORDS["cost"].format(cost=exact_enough(cost), price=exact_enough(price))
        said.append(words(told, "part-finding"))
    return tuple(said)


def _missing(decode: DecodeBound) -> tuple[Node, ...]:
    missing = in_words(decode.not_known)
    return (words(WORDS["missing"].format(missing=missing), "quiet"),) if missing else ()


def _seconds(seconds: float | None) -> str:
    return WORDS["unknown"] if seconds is None else milliseconds(seconds, 2)


def _table(decode: DecodeBound, prefill: PrefillBound) -> Node:
    rate = prefill.tokens_per_second
    weights, cache = memory_column((decode.weight_bytes, decode.cache_bytes))
    rows = (
        (WORDS["weights"], weights),
        (WORDS["cache"], cache),
        (WORDS["step"], _seconds(decode.step_seconds)),
        (WORDS["read"], _seconds(decode.reading_seconds)),
        (WORDS["compute"], _seconds(decode.computing_seconds)),
        (WORDS["prefill"].format(tokens=count(prefill.prompt_tokens)), _seconds(prefill.seconds)),
        (WORDS["prefill rate"], WORDS["unknown"] if rate is None else count(rate)),
    )
    return table(WORDS["caption"], (WORDS["quantity"], WORDS["bound"]), rows, (1,), (), "planner-speed-table")
