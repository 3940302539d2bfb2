"""Hits as vLLM 0.26.0 counts them: recorded runs of its scheduler, and what is written about its rule."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from snippets.planner.answers.prefix_reuse import Group, PrefixReuse
from snippets.sim.prefix_hits import predicted_hits, shared_tokens

RECORDED = json.loads((Path(__file__).parents[2] / "oracle" / "scheduler_answers.json").read_text())


@pytest.mark.parametrize("case", RECORDED["prefixes"], ids=lambda case: case["name"])
def test_hits_are_those_that_vllms_scheduler_counted(case: dict[str, Any]) -> None:
    prompts = [[token for token, times in prompt for _ in range(times)] for prompt in case["prompts"]]
    found = predicted_hits(prompts, case["block_size"])
    assert found == case["cached_tokens"]
    assert (sum(map(len, prompts)), sum(found)) == (case["queries"], case["hits"])


def test_a_prompt_that_waits_for_blocks_is_counted_at_every_try() -> None:
    # The first prompt takes 5 steps to its end, and the second is looked up in each of them and once more.
    waits = RECORDED["waits"]
    assert waits["queries"] == 200 + 200 * 6
    assert waits["steps"] == 10


def test_the_same_prompt_of_402_tokens_twice_hits_400_of_804() -> None:
    # vLLM 0.26.0 (CPU build) on 2026-11-29, blocks of 16: vllm:prefix_cache_queries 804, vllm:prefix_cache_hits 400.
    prompt = list(range(402))
    assert predicted_hits([prompt, prompt], 16) == [0, 400]


@pytest.mark.parametrize(("tokens", "hits"), [(15, 0), (16, 0), (17, 16), (1000, 992), (1024, 1008), (1025, 1024)])
def test_a_repeated_prompt_never_hits_its_last_token(tokens: int, hits: int) -> None:
    prompt = list(range(tokens))
    assert predicted_hits([prompt, prompt], 16) == [0, hits]


def test_one_changed_first_token_costs_the_whole_prefix() -> None:
    prompt = list(range(1000))
    assert predicted_hits([prompt, [7, *prompt[1:]]], 16) == [0, 0]


def test_equal_blocks_behind_different_ones_are_not_found() -> None:
    tail = [5] * 64
    assert predicted_hits([[1] * 16 + tail, [2] * 16 + tail], 16) == [0, 0]


def test_a_prompt_finds_what_any_earlier_one_left() -> None:
    a, b, c = [1] * 32, [2] * 32, [3] * 32
    assert predicted_hits([a + b, a + c, a + b + c, a + c + b], 16) == [0, 32, 64, 64]


def test_it_agrees_with_the_planner_where_both_speak() -> None:
    random = Random(5)
    for _ in range(200):
        size = random.choice([1, 16, 32, 128])
        planner = PrefixReuse(True, (Group("full", size),), size, size, size, False, False)
        shared, first, second = (random.randrange(1, 600) for _ in range(3))
        one, other = [1] * shared + [2] * first, [1] * shared + [3] * second
        assert shared_tokens(one, other) == shared
        assert predicted_hits([one, other], size)[1] == planner.reused(shared, len(other))


def test_shared_tokens_of_a_prompt_and_its_beginning_are_the_beginning() -> None:
    assert shared_tokens([1, 2, 3], [1, 2]) == 2
    assert shared_tokens([], [1]) == 0
