"""Numbers as typed on the line: read, and bounded before anything of their size is made."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import TypeVar

from snippets.planner.engine_args import EngineArgsError
from snippets.planner.settings.lengths import parse_human_int

# Far above what any server has, far below what would fill this computer's memory.
MOST_TOKENS = 2**40
MOST_BLOCKS = 2**40
MOST_BYTES = 2**60
MOST_GIB = 2**20
MOST_RANKS = 2**16
MOST_SEQS = 2**20
MOST_BATCHED_TOKENS = 2**30
MOST_TOKENS_PER_BLOCK = 2**24
MOST_DRAFTED_TOKENS = 2**10
MOST_MONEY = 10**9

SHOWN = 40  # characters of a wrong value
N = TypeVar("N", bound=float)


def shown(value: str) -> str:
    """A value in quotes, cut where it is long."""
    return repr(value if len(value) <= SHOWN else value[: SHOWN - 1] + "…")


def whole(value: str) -> int:
    """A whole number."""
    try:
        return int(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shown(value)} is not a whole number") from None


def human_readable_int(value: str) -> int:
    """8192, 8k = 8,000, 8K = 8,192, 1G = 2**30 (utils/argparse_utils.py human_readable_int)."""
    try:
        return parse_human_int(value, "it")
    except EngineArgsError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def number(value: str) -> float:
    """A number, not infinite."""
    try:
        read = float(value)
    except ValueError:
        read = math.nan
    if not math.isfinite(read):
        raise argparse.ArgumentTypeError(f"{shown(value)} is not a number")
    return read


def at_most(most: float, read: Callable[[str], N]) -> Callable[[str], N]:
    """`read`, which refuses what is larger than `most`, below zero too."""

    def bounded(value: str) -> N:
        found = read(value)
        if abs(found) > most:
            raise argparse.ArgumentTypeError(f"{shown(value)} is beyond what is planned for, {most:,} at most")
        return found

    return bounded


def between(least: float, most: float, read: Callable[[str], N]) -> Callable[[str], N]:
    """`read`, which refuses what vLLM is never asked about: the question is this planner's own."""

    def bounded(value: str) -> N:
        found = read(value)
        if not least <= found <= most:
            raise argparse.ArgumentTypeError(f"{shown(value)} is not between {least:,} and {most:,}")
        return found

    return bounded


def gib(value: str) -> float:
    """A size in GiB, 0 or more."""
    size = number(value)
    if size < 0:
        raise argparse.ArgumentTypeError(f"{value} GiB is less than nothing")
    if size > MOST_GIB:
        raise argparse.ArgumentTypeError(f"{shown(value)} GiB is more than any card has")
    return size


def max_model_len(value: str) -> int | str:
    """A number of tokens, or auto (also -1)."""
    if value.strip().lower() in {"auto", "-1"}:
        return "auto"
    return at_most(MOST_TOKENS, human_readable_int)(value)
