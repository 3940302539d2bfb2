"""--price-per-hour: the most tokens a second, and the least a million of them can cost. Bounds, no forecast."""

from __future__ import annotations

import argparse

from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.bounds import DecodeBound, Server, cost_per_million_tokens, decode_bound
from snippets.planner.answers.in_flight import InFlight
from snippets.planner.answers.step_work import rank_weights
from snippets.planner.command.errors import UsageError
from snippets.planner.command.numbers import MOST_MONEY, at_most, number
from snippets.planner.plan import Plan
from snippets.planner.report.simultaneous import requests_at_once
from snippets.planner.weights.errors import WeightsError
from snippets.units import count

Bounds = tuple[DecodeBound, float | None]


def add_bound_flags(parser: argparse.ArgumentParser) -> None:
    """The price of one card."""
    group = parser.add_argument_group("how fast and how cheap at best")
    group.add_argument(
        "--price-per-hour", type=at_most(MOST_MONEY, number), metavar="P", help="of one card, in any currency"
    )


def bounds(values: argparse.Namespace, plan: Plan, traffic: InFlight | None) -> Bounds | None:
    """Of the requests that run at once: of the traffic where it is given, else of full context.

    None when not asked, or without a plan. Raises UsageError when a bound cannot be made.
    """
    price = values.price_per_hour
    if price is None or plan.cache is None or plan.resolved is None:
        return None
    if not price >= 0:
        raise UsageError("--price-per-hour: a price is 0 or more.")
    if plan.gpu is None:
        raise UsageError("--price-per-hour needs a card of the catalog (--gpu), for its bandwidth.")
    batch, context = requests_at_once(plan) or 1, plan.cache.max_model_len
    if traffic is not None:
        batch, context = max(1, int(traffic.running)), round(traffic.held.mean_tokens)
    try:
        weights = rank_weights(plan.config, plan.args, plan.gpu)
        server = Server(plan.config, plan.gpu, plan.args, plan.resolved, weights)
        bound = decode_bound(server, max(batch, 1), max(1, min(context, plan.resolved.max_model_len)))
        return bound, cost_per_million_tokens(server, bound, price)
    except (AnswerError, WeightsError) as error:
        raise UsageError(f"--price-per-hour: {str(error).rstrip('.')}.") from None


def bounds_text(made: Bounds) -> str:
    """Two lines for the report."""
    bound, cost = made
    at = f"{count(bound.batch)} requests of {count(bound.context_tokens)} tokens in each replica"
    if bound.tokens_per_second is None:
        return f"No bound of speed: {', '.join(bound.not_known)} of the card is not known.\n"
    rate = (
        f"{bound.tokens_per_second:,.0f} tokens a second in all, {bound.tokens_per_second_per_request:,.1f} a request"
    )
    lines = f"Upper bound of speed, decoding {at}: {rate}.\n"
    return lines + (f"Lower bound of cost: {cost:,.3f} per million tokens answered.\n" if cost is not None else "")


def bounds_json(made: Bounds) -> dict[str, object]:
    """Upper bounds of rates, lower bounds of time and cost."""
    bound, cost = made
    return {
        "batch": bound.batch,
        "context_tokens": bound.context_tokens,
        "max_tokens_per_second": bound.tokens_per_second,
        "max_tokens_per_second_per_request": bound.tokens_per_second_per_request,
        "min_step_seconds": bound.step_seconds,
        "min_cost_per_million_tokens": cost,
        "not_known": list(bound.not_known),
    }
