"""Prefix reuse, against vLLM 0.26.0's own KVCacheManager.

Each case was put to the real KVCacheManager on a CPU: one request computed a prefix step by step, a second one asked
get_computed_blocks with a prompt that begins alike. `reused` is its answer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from snippets.planner.answers.prefix_reuse import PrefixReuse, prefix_reuse
from snippets.planner.engine_args import SpeculativeConfig
from snippets.planner.specs import CacheGroup, CachePlan, LayerSpec

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[3] / "data" / "prefix_reuse.json").read_text(encoding="utf-8")
)


def reuse_of(case: dict[str, Any]) -> PrefixReuse:
    groups = tuple(
        CacheGroup(1, "", spec.block_size, 1, 1, 1, spec) for spec in (LayerSpec(**group) for group in case["groups"])
    )
    return prefix_reuse(
        CachePlan(20_000, groups, 1, 1, 1.0, 1, 65_536, ()),
        enable_prefix_caching=True,
        cache_block_size=case["cache_block_size"],
        decode_context_parallel_size=case.get("dcp", 1),
        speculative=SpeculativeConfig("eagle", 3) if case.get("eagle") else None,
    )


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{len(case['groups'])} groups, eagle {case.get('eagle', False)}"
)
def test_vllm_0_26_0_reused_as_many_tokens(case: dict[str, Any]) -> None:
    reuse = reuse_of(case)
    assert (reuse.scheduler_block_size, reuse.hash_block_size) == (
        case["scheduler_block_size"],
        case["hash_block_size"],
    )
    assert [reuse.reused(shared, prompt) for shared, prompt in case["prompts"]] == case["reused"]


def one_group(block_size: int, **given: Any) -> PrefixReuse:
    return reuse_of({"groups": [{"kind": "full", "block_size": block_size}], "cache_block_size": block_size, **given})


def test_a_prompt_of_160_tokens_that_comes_again_is_reused_up_to_144() -> None:
    # Ten whole blocks of 16, but the last token is always computed again, and with it its block.
    assert one_group(16).cached_tokens(160) == 144


def test_a_drafter_on_hidden_states_doubles_the_smallest_prefix() -> None:
    assert one_group(16).smallest_prefix == 16
    assert one_group(16, eagle=True).smallest_prefix == 32


def test_context_parallel_blocks_are_as_many_times_longer() -> None:
    assert one_group(16, dcp=8).smallest_prefix == 128


def test_states_kept_without_alignment_are_never_reused_below_the_common_multiple() -> None:
    # mamba_cache_mode "none": the state's block is max_model_len long, so blocks end together only there.
    case = {
        "groups": [
            {"kind": "full", "block_size": 544},
            {"kind": "mamba", "block_size": 32_640, "mamba_cache_mode": "none"},
        ],
        "cache_block_size": 544,
    }
    reuse = reuse_of(case)
    assert (reuse.scheduler_block_size, reuse.hash_block_size) == (32_640, 32_640)
    assert reuse.cached_tokens(32_640) == 0


def test_nothing_is_reused_when_prefix_caching_is_off() -> None:
    plan = CachePlan(10, (CacheGroup(1, "", 16, 1, 1, 1, LayerSpec("full", 16)),), 1, 1, 1.0, 1, 4096, ())
    reuse = prefix_reuse(plan, enable_prefix_caching=False, cache_block_size=16)
    assert (reuse.smallest_prefix, reuse.cached_tokens(4096)) == (0, 0)
