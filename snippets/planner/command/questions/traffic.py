"""--prompt-len and --output-len: how many requests of that traffic really run at once."""

from __future__ import annotations

import argparse

from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.in_flight import InFlight, Traffic, requests_in_flight
from snippets.planner.answers.lengths import Lengths
from snippets.planner.command.errors import UsageError
from snippets.planner.plan import Plan
from snippets.units import count


def add_traffic_flags(parser: argparse.ArgumentParser) -> None:
    """Mean lengths in tokens; answers spread log-normally where a deviation is given."""
    group = parser.add_argument_group("how many requests really fit")
    group.add_argument("--prompt-len", type=float, metavar="N", help="mean tokens of a prompt")
    group.add_argument("--output-len", type=float, metavar="N", help="mean tokens of an answer")
    group.add_argument("--prompt-len-std", type=float, default=0.0, metavar="N", help="standard deviation (default 0)")
    group.add_argument("--output-len-std", type=float, default=0.0, metavar="N", help="standard deviation (default 0)")
    group.add_argument("--shared-prefix-len", type=int, default=0, metavar="N", help="tokens every prompt begins with")


def traffic_answer(values: argparse.Namespace, plan: Plan) -> InFlight | None:
    """Requests in flight; None when not asked, or without a plan. Raises UsageError."""
    if values.prompt_len is None and values.output_len is None:
        return None
    if values.prompt_len is None or values.output_len is None:
        raise UsageError("--prompt-len and --output-len belong together; give both.")
    try:
        traffic = Traffic(
            _lengths(values.prompt_len, values.prompt_len_std),
            _lengths(values.output_len, values.output_len_std),
            values.shared_prefix_len,
        )
        if plan.cache is None or plan.resolved is None:
            return None
        return requests_in_flight(plan.cache, plan.resolved, traffic, plan.args.speculative)
    except AnswerError as error:
        raise UsageError(f"{error}.") from None


def _lengths(mean: float, deviation: float) -> Lengths:
    return Lengths("lognormal" if deviation else "fixed", mean, deviation)


def traffic_text(answer: InFlight) -> str:
    """Three lines for the report."""
    return (
        f"Requests of this traffic at once: {answer.expected:,.1f} on average, {count(answer.safe)} without preemption "
        f"at 99 % of moments.\nEach with max_model_len at once: {count(answer.worst_case)}. max_num_seqs allows "
        f"{count(answer.max_num_seqs)}; {answer.decided_by} decides.\n"
    )


def traffic_json(answer: InFlight) -> dict[str, object]:
    """Requests, and blocks a request holds on average."""
    return {
        "expected": answer.expected,
        "safe": answer.safe,
        "worst_case": answer.worst_case,
        "max_num_seqs": answer.max_num_seqs,
        "decided_by": answer.decided_by,
        "mean_blocks_held": answer.held.mean,
    }
