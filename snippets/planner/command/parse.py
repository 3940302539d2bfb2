"""A command line, `vllm serve` lines included, as values."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import PurePath
from typing import NoReturn

from snippets.planner.command.errors import UsageError
from snippets.planner.command.normalise import normalised
from snippets.planner.command.other_flags import add_other_flags
from snippets.planner.command.own_flags import add_own_flags
from snippets.planner.command.questions.bounds import add_bound_flags
from snippets.planner.command.questions.traffic import add_traffic_flags
from snippets.planner.command.streams import out

DESCRIPTION = """\
What vLLM 0.26.0 makes of a model, a card and its flags: KV cache blocks, tokens, requests at once, the log lines, or
its refusal. Flags of a `vllm serve` line can be pasted. Exit code: 0 it would start, 1 it would refuse, 2 no answer."""
EXAMPLES = """\
examples:
  %(prog)s qwen2.5-7b --gpu rtx-4090 --max-model-len 8K
  %(prog)s path/to/config.json --gpu h100-80gb -tp 2 --json
  %(prog)s gemma-3-27b --gpu h200 --prompt-len 2000 --output-len 500 --layouts 4"""


class _Help(argparse.RawDescriptionHelpFormatter):
    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(text, width, break_on_hyphens=False)  # a flag stays in one piece


class _Parser(argparse.ArgumentParser):
    def _print_message(self, message: str, file: object = None) -> None:
        out(message)  # argparse's own passes over a full disk and a reader that left

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix("argument ")
        raise UsageError(message[:1].upper() + message[1:].rstrip(".") + ".")


def started_as() -> str:
    """What a person types to start this: the one file, or the module."""
    name = PurePath(sys.argv[0]).name if sys.argv else ""
    return f"python3 {name}" if name.endswith(".pyz") else "python -m snippets.planner"


def make_parser() -> argparse.ArgumentParser:
    """The planner's flags, and hidden behind them the rest of `vllm serve`'s."""
    parser = _Parser(
        prog=started_as(),
        description=DESCRIPTION,
        formatter_class=_Help,
        usage="%(prog)s CONFIG.json --gpu KEY [flags]",
        epilog=EXAMPLES,
    )
    parser.add_argument(
        "model", nargs="?", metavar="CONFIG.json", help="a file, a folder, - for stdin, or a model of --list-models"
    )
    parser.add_argument("--model", dest="model_flag", help=argparse.SUPPRESS)  # vLLM's older way to name it
    add_own_flags(parser)
    add_traffic_flags(parser)
    add_bound_flags(parser)
    add_other_flags(parser)
    return parser


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Values of the line. Raises UsageError; an unknown flag is refused with the nearest there is."""
    parser = make_parser()
    values, unknown = parser.parse_known_args(normalised(words))
    if unknown:
        raise UsageError(_unknown(unknown[0].split("=")[0], list(parser._option_string_actions)))
    return values


def _unknown(word: str, known: Sequence[str]) -> str:
    if not word.startswith("-"):
        return f"{word!r} is one word too many: give one model, and quote what holds blanks."
    near = get_close_matches(word, known, n=1, cutoff=0.6)
    hint = f" Did you mean {near[0]}?" if near else " See --help."
    return f"{word} is no flag of vLLM 0.26.0 nor of this planner.{hint}"
