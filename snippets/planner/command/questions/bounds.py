"""--price-per-hour: the most tokens a second, and the least a million of them can cost. Bounds, no forecast."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from snippets.model_config.model_config import ConfigError
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.bounds import DecodeBound, Server, cost_per_million_tokens, decode_bound, in_words
from snippets.planner.answers.in_flight import InFlight
from snippets.planner.command.errors import UsageError
from snippets.planner.command.numbers import MOST_MONEY, at_most, number
from snippets.planner.plan import Plan
from snippets.planner.report.as_text import wrapped
from snippets.planner.report.simultaneous import requests_at_once
from snippets.planner.weights.errors import WeightsError
from snippets.units import count, exact_enough, quantity


class Bounds(NamedTuple):
    """The bound of decoding and of its cost, or why there is none."""

    decode: DecodeBound | None = None
    cost: float | None = None
    even_cost: float | None = None  # with even routing; None without experts
    why_none: str = ""


def add_bound_flags(parser: argparse.ArgumentParser) -> None:
    """The price of one card."""
    group = parser.add_argument_group("how fast and how cheap at best")
    group.add_argument(
        "--price-per-hour", type=at_most(MOST_MONEY, number), metavar="P", help="of one card, in any currency"
    )


def bounds(values: argparse.Namespace, plan: Plan, traffic: InFlight | None) -> Bounds | None:
    """Of the requests that run at once: of the traffic where it is given, else of full context.

    None when not asked, or without a plan. Raises UsageError for a wrong price or a card that is not named.
    """
    price = values.price_per_hour
    if price is None or plan.cache is None or plan.resolved is None:
        return None
    if not price >= 0:
        raise UsageError("--price-per-hour: a price is 0 or more.")
    if plan.gpu is None:
        raise UsageError("--price-per-hour needs a card of the catalog (--gpu), for its bandwidth.")
    if not plan.cache.groups:
        return Bounds(why_none="a model that keeps no KV cache answers no tokens")
    batch, context, shared = requests_at_once(plan) or 1, plan.cache.max_model_len, 0
    if traffic is not None:
        batch, context, shared = traffic.running_at_most, round(traffic.held.mean_tokens), traffic.shared_tokens
    try:
        server = Server.of(plan.config, plan.gpu, plan.args, plan.resolved)
        bound = decode_bound(server, batch, max(1, min(context, plan.resolved.max_model_len)), shared)
        even = bound.even_routing
        even_cost = None if even is None else cost_per_million_tokens(server, even, price)
        return Bounds(bound, cost_per_million_tokens(server, bound, price), even_cost)
    except WeightsError as error:  # what a step reads of weights whose size alone is given is not known either
        return Bounds(why_none=error.told.rstrip("."))
    except ConfigError as error:
        return Bounds(why_none=str(error).rstrip("."))
    except AnswerError as error:
        raise UsageError(f"--price-per-hour: {str(error).rstrip('.')}.") from None


def bounds_text(made: Bounds) -> str:
    """What is bounded, and what is left out of it."""
    bound = made.decode
    if bound is None:
        return f"No bound of speed or cost: {made.why_none}.\n"
    if bound.tokens_per_second is None:
        return f"No bound of speed or cost: {in_words(bound.not_known)} is not known here.\n"
    requests = quantity(bound.batch, "requests")
    shared = f", {count(bound.shared_tokens)} of them shared," if bound.shared_tokens else ""
    lines = [
        f"Upper bound of speed, decoding {requests} of {count(bound.context_tokens)} tokens{shared} in each replica:",
        f"  {count(bound.tokens_per_second)} tokens a second in all, "
        f"{count(bound.tokens_per_second_per_request or 0, 1)} a request",
    ]
    if bound.tokens_per_step > 1:
        lines.append(f"  If all drafted tokens are accepted: {bound.tokens_per_step} tokens a step and request.")
    if bound.not_known:
        lines += wrapped(f"  From reading alone: {in_words(bound.not_known)} is not known here.", "")
    if made.cost is not None:
        cost = exact_enough(made.cost)
        lines.append(f"Lower bound of cost: {cost} per million tokens answered, in the currency of the price.")
    lines += _even(made)
    return "\n".join(lines) + "\n"


def _even(made: Bounds) -> list[str]:
    """What the bounds of a mixture of experts allow for, and what they become with even routing."""
    even = made.decode.even_routing if made.decode else None
    if even is None or even.tokens_per_second is None:
        return []
    said = (
        "Both hold whatever the router does, also if all tokens choose the same experts. If they choose evenly, as is "
        f"to be expected: {count(even.tokens_per_second)} tokens a second at most"
    )
    if made.even_cost is not None:
        said += f", and {exact_enough(made.even_cost)} per million at least"
    return wrapped(f"{said}.", "  ")


def bounds_json(made: Bounds) -> dict[str, object]:
    """Upper bounds of rates, lower bounds of time and cost; null where there is none, and why."""
    bound = made.decode
    even = bound.even_routing if bound else None
    return {
        "batch": bound.batch if bound else None,
        "context_tokens": bound.context_tokens if bound else None,
        "shared_tokens": bound.shared_tokens if bound else None,
        "max_tokens_per_second": bound.tokens_per_second if bound else None,
        "max_tokens_per_second_per_request": bound.tokens_per_second_per_request if bound else None,
        "min_step_seconds": bound.step_seconds if bound else None,
        "min_cost_per_million_tokens": made.cost,
        "even_routing": even
        and {
            "max_tokens_per_second": even.tokens_per_second,
            "max_tokens_per_second_per_request": even.tokens_per_second_per_request,
            "min_cost_per_million_tokens": made.even_cost,
        },
        "not_known": list(bound.not_known) if bound else [made.why_none],
    }
