"""The finished `vllm serve` command of a plan."""

from __future__ import annotations

import json
import shlex
from dataclasses import fields

from snippets.planner.engine_args import EngineArgs
from snippets.planner.plan import Plan

NOT_FLAGS = {"usage", "speculative"}
# Flags that vLLM's parser spells with --no- when they are false; the rest are left out then.
THREE_STATES = {"enable_prefix_caching", "enable_chunked_prefill", "async_scheduling"}


def serve_flags(args: EngineArgs, drafter: str = "DRAFTER") -> list[str]:
    """The words after the model: only what differs from vLLM's defaults, in EngineArgs' order."""
    words: list[str] = []
    for field in fields(args):
        value = getattr(args, field.name)
        if field.name in NOT_FLAGS or value == field.default:
            continue
        flag = "--" + field.name.replace("_", "-")
        if value is True:
            words.append(flag)
        elif value is False:
            words += ["--no-" + flag.removeprefix("--")] if field.name in THREE_STATES else []
        else:
            words += [flag, str(value)]
    if args.speculative is not None:
        config: dict[str, object] = {
            "method": args.speculative.method,
            "num_speculative_tokens": args.speculative.num_speculative_tokens,
        }
        if args.speculative.draft is not None:
            config["model"] = drafter
        words += ["--speculative-config", json.dumps(config)]
    return words


def serve_command(plan: Plan, model: str = "MODEL", drafter: str = "DRAFTER") -> str:
    """One line for a shell. `model` and `drafter`: what vLLM loads, a repository or a folder."""
    return shlex.join(["vllm", "serve", model, *serve_flags(plan.args, drafter)])
