"""Requests in flight under whole plans: which blocks count, and which are held once."""

from __future__ import annotations

import pytest

from snippets.catalog.gpus import gpu
from snippets.planner.answers.in_flight import Traffic, pool_of, requests_in_flight
from snippets.planner.answers.lengths import Lengths
from snippets.planner.cache import plan_cache
from snippets.planner.engine_args import EngineArgs, SpeculativeConfig
from snippets.planner.evidence.logs import config_of
from snippets.planner.resolved import Resolved
from snippets.planner.settings import resolve
from snippets.planner.specs import CachePlan

GIB = 2**30
SHORT_CHAT = Traffic(Lengths("fixed", 400), Lengths("fixed", 200))


def planned(model: str, **args: object) -> tuple[CachePlan, Resolved]:
    given = EngineArgs(**{"max_model_len": 8_192, **args})  # type: ignore[arg-type]
    resolved = resolve(config_of(model), given, gpu("h100-80gb"))
    return plan_cache(resolved.stages, [40 * GIB] * len(resolved.stages), resolved.limits), resolved


def test_llama_3_1_8b_runs_15_times_as_many_short_chats_as_full_contexts() -> None:
    # 40 GiB are 20,480 blocks of 16 tokens. A chat stores 400 to 599 tokens, 25 to 38 blocks; a full context 512.
    answer = requests_in_flight(*planned("llama-3.1-8b"), SHORT_CHAT)
    assert answer.worst_case == 20_479 // 512
    assert answer.expected == pytest.approx(20_479 / 31.7, rel=0.01)
    assert answer.running == answer.expected  # below the 1,024 that an H100 allows
    assert 590 < answer.safe < answer.expected


def test_a_prefix_of_2005_tokens_is_shared_in_125_whole_blocks() -> None:
    pool = pool_of(*planned("llama-3.1-8b"), shared_prefix_tokens=2_005)
    assert pool.shared_blocks == 125
    assert pool_of(*planned("llama-3.1-8b", enable_prefix_caching=False), 2_005).shared_blocks == 0


def test_windows_share_no_prefix_because_they_have_moved_on() -> None:
    # gpt-oss-20b: one group of full layers and one of windows of 128 tokens; only the first keeps the prefix.
    pool = pool_of(*planned("gpt-oss-20b"), shared_prefix_tokens=2_000)
    assert pool.shared_blocks == 125
    assert pool.blocks_held(4_000) == 250 + 8  # 127 older tokens and the next, beginning on a block


def test_context_parallel_ranks_hold_an_eighth_of_an_mla_request_each() -> None:
    plan, resolved = planned("deepseek-v3", tensor_parallel_size=8, decode_context_parallel_size=8)
    pool = pool_of(plan, resolved)
    assert pool.blocks_held(8 * resolved.block_size) == 1
    assert pool.blocks_held(8 * resolved.block_size + 1) == 2


def test_a_hybrid_holds_its_states_and_one_attention_block_from_the_first_token() -> None:
    # Qwen3.5-27B: three groups of states and one of attention, in blocks of 784 tokens.
    pool = pool_of(*planned("qwen3.5-27b"))
    assert [pool.blocks_held(n) for n in (1, 784, 785)] == [4, 4, 5]


def test_drafted_tokens_take_slots_ahead() -> None:
    plan, resolved = planned("llama-3.1-8b")
    assert pool_of(plan, resolved, 0, SpeculativeConfig("ngram", 4)).blocks_held(13) == 2
    assert pool_of(plan, resolved).blocks_held(13) == 1
