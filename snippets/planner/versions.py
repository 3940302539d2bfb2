"""What a start-up log's cache lines mean in which vLLM version: one table, oldest first.

The token line changed its meaning: until 0.20 it divides the blocks among the groups as if each held all tokens; since
0.21 it is the concurrency times max_model_len. For models with one group both give the same number.
Read in the code of 0.20.0, 0.26.0 and 0.33.0; where a rule began in between is known from logs and release notes only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from snippets.planner.specs import CachePlan

Engine = Literal["V0", "V1"]


class VersionError(ValueError):
    """A version text that names no release."""


@dataclass(frozen=True)
class LogRules:
    """How one range of versions words and counts its lines."""

    engine: Engine
    since: tuple[int, int]
    tokens: Literal["not printed", "blocks // groups * block_size", "concurrency * max_model_len"]
    lines: Literal["blocks", "two", "one"]
    in_flight_batches: Literal["one", "concurrent"]  # batches that a window keeps room for
    checks_with_null_block: bool  # admission leaves one block for the null block
    source: str


TABLE = (
    LogRules("V0", (0, 0), "not printed", "blocks", "one", False, "logs of 0.5.4 to 0.9.2"),
    LogRules(
        "V1",
        (0, 8),
        "blocks // groups * block_size",
        "two",
        "one",
        False,
        "0.20.0 v1/core/kv_cache_utils.py _report_kv_cache_config; logs of 0.8.3 to 0.20.0",
    ),
    LogRules("V1", (0, 21), "concurrency * max_model_len", "two", "one", False, "logs of 0.22.0 to 0.25.1"),
    LogRules(
        "V1",
        (0, 26),
        "concurrency * max_model_len",
        "two",
        "concurrent",
        False,
        "0.26.0 v1/core/kv_cache_utils.py get_kv_cache_configs; config/vllm.py max_in_flight_tokens",
    ),
    LogRules(
        "V1",
        (0, 33),
        "concurrency * max_model_len",
        "one",
        "concurrent",
        True,
        "0.33.0 v1/core/kv_cache_utils.py update_kv_cache_capacity; kv_cache_planning.py get_kv_cache_configs",
    ),
)


def rules_for(version: str, engine: Engine = "V1") -> LogRules:
    """The rules of a version such as "0.20.1" or "0.19.2rc1.dev134+g1a2b". Raises VersionError for other texts.

    Versions 0.8 to 0.10 have both engines; before that there is V0 only, after it V1 only.
    """
    found = re.match(r"v?(\d+)\.(\d+)(?!\.dev|dev)", version)
    if not found:
        raise VersionError(f"version is {version!r}; it must be a release such as 0.26.0")
    number = (int(found[1]), int(found[2]))
    if number < (0, 8):
        engine = "V0"
    elif number > (0, 10):
        engine = "V1"
    return [rules for rules in TABLE if rules.engine == engine and rules.since <= number][-1]


def max_in_flight_tokens(version: str, max_num_batched_tokens: int, max_concurrent_batches: int) -> int:
    """Tokens that a window keeps room for beside itself."""
    rules = rules_for(version)
    return max_num_batched_tokens * (max_concurrent_batches if rules.in_flight_batches == "concurrent" else 1)


def kv_cache_size_tokens(version: str, plan: CachePlan, decode_context_parallel_size: int = 1) -> int:
    """The number of tokens that this version prints for the same blocks; 0 where nothing is cached.

    Only V1 prints one. The plan must be of that version's limits: see `max_in_flight_tokens`.
    """
    if rules_for(version).tokens == "concurrency * max_model_len" or not plan.groups:
        return plan.kv_cache_size_tokens
    smallest = min(group.block_size for group in plan.groups)
    return plan.num_gpu_blocks // len(plan.groups) * smallest * decode_context_parallel_size


def log_lines(
    version: str, plan: CachePlan, decode_context_parallel_size: int = 1, engine: Engine = "V1"
) -> tuple[str, ...]:
    """The lines about the cache's size as that version words them, for one stage; none where nothing is cached."""
    if not plan.groups:
        return ()
    rules = rules_for(version, engine)
    length, concurrency = plan.max_model_len, plan.max_concurrency
    if rules.lines == "blocks":
        return (
            f"# GPU blocks: {plan.num_gpu_blocks}",
            f"Maximum concurrency for {length} tokens per request: {concurrency:.2f}x",
        )
    tokens = kv_cache_size_tokens(version, plan, decode_context_parallel_size)
    size = f"GPU KV cache size: {tokens:,} tokens"
    requests = f"Maximum concurrency for {length:,} tokens per request: {concurrency:.2f}x"
    return (f"{size}, {requests}",) if rules.lines == "one" else (size, requests)
