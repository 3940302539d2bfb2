"""More requests at once, against computations by hand."""

from __future__ import annotations

import pytest

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.more_requests import more_requests
from snippets.planner.engine_args import EngineArgs
from snippets.planner.steps.take import Given
from snippets.units import GIB

QWEN, CARD, ARGS = catalog_config("qwen2.5-7b"), gpu("rtx-4090"), EngineArgs(max_model_len=8192)
LOG = Given(available=round(7.21 * GIB))  # 8,437 blocks of 16 tokens, 917,504 bytes each: 16 requests of 512 blocks


def test_of_a_given_memory_fp8_holds_twice_and_a_shorter_length_all() -> None:
    fp8 = int(7.21 * GIB / 458_752) // 512
    blocks = (8437 - 1) // 64  # for each of 64, without the null block
    found = {one.flag: one.requests for one in more_requests(QWEN, CARD, ARGS, 64, LOG)}
    assert found == {"--kv-cache-dtype fp8": fp8, f"--max-model-len {16 * blocks}": 64}


def test_more_cards_are_the_fewest_that_admit_all() -> None:
    """On two cards half the weights and half the bytes a token: about 14 GiB for 28,672 bytes a token."""
    found = {one.flag: one.requests for one in more_requests(QWEN, CARD, ARGS, 32)}
    assert found["--tensor-parallel-size 2"] == 32
    assert not any("size 4" in flag for flag in found)


def test_nothing_is_said_where_all_fit_or_the_plan_does_not_start() -> None:
    assert more_requests(QWEN, CARD, ARGS, 16, LOG) == ()
    assert more_requests(catalog_config("llama-3.1-70b"), CARD, ARGS, 16) == ()


def test_fp8_is_no_answer_where_the_cache_is_fp8() -> None:
    args = EngineArgs(max_model_len=8192, kv_cache_dtype="fp8")
    assert all("fp8" not in one.flag for one in more_requests(QWEN, CARD, args, 64, LOG))


def test_no_requests_are_no_question() -> None:
    with pytest.raises(AnswerError, match="wanted is 0"):
        more_requests(QWEN, CARD, ARGS, 0)
