"""--prompt-len and --output-len: how many requests of that traffic really run at once."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from snippets.planner.answers import usual_traffic as usual
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.in_flight import LEAST_SHARE_SAID, SAFE_SHARE, InFlight, Traffic, requests_in_flight
from snippets.planner.answers.lengths import Lengths
from snippets.planner.command.errors import UsageError
from snippets.planner.command.numbers import MOST_TOKENS, between, number, whole
from snippets.planner.plan import Plan
from snippets.planner.report.as_text import table
from snippets.units import count, exact_enough, percent


def add_traffic_flags(parser: argparse.ArgumentParser) -> None:
    """Mean lengths in tokens, log-normally spread; a deviation of 0 makes all alike."""
    mean, spread = between(1, MOST_TOKENS, number), between(0, MOST_TOKENS, number)
    group = parser.add_argument_group("how many requests really fit (needs both lengths)")
    group.add_argument("--prompt-len", type=mean, metavar="N", help="mean tokens of a prompt, such as 1024")
    group.add_argument("--output-len", type=mean, metavar="N", help="mean tokens of an answer, such as 256")
    group.add_argument("--prompt-len-std", **_deviation(spread, usual.PROMPT_DEVIATION))
    group.add_argument("--output-len-std", **_deviation(spread, usual.OUTPUT_DEVIATION))
    group.add_argument(
        "--shared-prefix-len",
        type=between(0, MOST_TOKENS, whole),
        default=usual.SHARED_PREFIX_TOKENS,
        metavar="N",
        help="tokens that every prompt begins with, beside --prompt-len (default %(default)s)",
    )


def _deviation(read: Callable[[str], float], default: float) -> dict[str, Any]:
    spread = "standard deviation of it, 0 for all alike (default %(default)s)"
    return {"type": read, "default": default, "metavar": "N", "help": spread}


def traffic_answer(values: argparse.Namespace, plan: Plan) -> InFlight | None:
    """Requests in flight; None when not asked, or without a cache. Raises UsageError."""
    if values.prompt_len is None and values.output_len is None:
        return None
    if values.prompt_len is None or values.output_len is None:
        raise UsageError("--prompt-len and --output-len belong together; give both.")
    if plan.cache is None or plan.resolved is None or not plan.cache.groups:
        return None
    try:
        return requests_in_flight(plan.cache, plan.resolved, traffic_asked(values), plan.args.speculative)
    except AnswerError as error:
        raise UsageError(f"{error}.") from None


def traffic_asked(values: argparse.Namespace) -> Traffic:
    """The traffic of the line."""
    prompt = Lengths.around(values.prompt_len, values.prompt_len_std)
    return Traffic(prompt, Lengths.around(values.output_len, values.output_len_std), values.shared_prefix_len)


def traffic_text(answer: InFlight, asked: Traffic) -> str:
    """What was asked and four numbers for the report."""
    prefix = f", a shared prefix of {count(asked.shared_prefix_tokens)}" if asked.shared_prefix_tokens else ""
    rows = [
        ("without preemption", count(answer.safe), f"at {percent(SAFE_SHARE)} of moments; plan with this"),
        ("on average", count(answer.expected, 1), "as many as the blocks hold on a busy server"),
        ("worst case", count(answer.worst_case), "all of max_model_len at once"),
        ("max_num_seqs", count(answer.max_num_seqs), "the scheduler's own limit"),
    ]
    lines = [
        f"Requests at once with prompts of {_mean(asked.prompt)} tokens and answers of {_mean(asked.output)}{prefix}:",
        *table(rows, frozenset({1})),
        f"  {'Memory' if answer.decided_by == 'memory' else 'max_num_seqs'} decides.",
    ]
    if answer.cut_share >= LEAST_SHARE_SAID:
        lines.append(f"  {percent(answer.cut_share, 1)} of the requests reach max_model_len and are cut short.")
    return "\n".join(lines) + "\n"


def _mean(lengths: Lengths) -> str:
    spread = lengths.deviation_tokens
    return f"{exact_enough(lengths.mean_tokens)}" + (f" ± {exact_enough(spread)}" if spread else "")


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
