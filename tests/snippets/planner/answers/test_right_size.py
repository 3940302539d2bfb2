"""Right-sizing, with the blocks written out by hand and put back into the planner."""

from __future__ import annotations

from dataclasses import replace

import pytest

from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.right_size import amount, longest_for, right_size, utilization_for
from snippets.planner.cache import plan_cache
from snippets.planner.estimate import Budget, Range
from snippets.planner.specs import CachePlan, LayerRun, LayerSpec, Limits, Stage

GIB = 2**30
BLOCK = 16 * 28 * 2 * 4 * 128 * 2  # bytes of a block of Qwen2.5-7B: 16 tokens in 28 layers, 4 KV heads of 128, 16 bits
QWEN: Stage = (LayerRun(28, LayerSpec("full", 16, num_kv_heads=4, head_size=128)),)
SHORT = Limits(8_192)


def planned(limits: Limits = SHORT, gib: float = 60, stage: Stage = QWEN) -> CachePlan:
    return plan_cache([stage], [int(gib * GIB)], limits)


def test_64_requests_of_8192_tokens_take_32769_blocks() -> None:
    enough = amount(planned(), 64)
    assert enough.num_gpu_blocks == 64 * 512 + 1
    assert enough.kv_cache_memory_bytes == 32_769 * BLOCK


def test_that_memory_given_to_the_planner_holds_them_and_one_byte_less_does_not() -> None:
    size = amount(planned(), 64).kv_cache_memory_bytes
    assert plan_cache([QWEN], [size], SHORT).num_gpu_blocks - 1 == 64 * 512
    assert plan_cache([QWEN], [size - 1], SHORT).num_gpu_blocks - 1 < 64 * 512


def test_what_is_beyond_max_num_seqs_is_spare() -> None:
    found = right_size(planned(), [QWEN], SHORT, max_num_seqs=64)
    assert found.fits == (60 * GIB // BLOCK - 1) // 512  # 137 requests, of which only 64 may run
    assert found.spare_bytes == 60 * GIB // BLOCK * BLOCK - 32_769 * BLOCK
    assert found.max_model_len_for_all == 8_192


def test_when_memory_is_short_the_length_that_lets_all_in_is_said() -> None:
    plan = planned(gib=10)
    found = right_size(plan, [QWEN], SHORT, max_num_seqs=64)
    assert found.spare_bytes == 0
    assert found.max_model_len_for_all == (10 * GIB // BLOCK - 1) // 64 * 16
    fits = plan_cache([QWEN], [10 * GIB], replace(SHORT, max_model_len=found.max_model_len_for_all))
    assert 64 * fits.blocks_per_request <= fits.num_gpu_blocks - 1


def test_windows_leave_room_for_what_is_in_flight_at_every_length() -> None:
    # gpt-oss-20b: 12 layers of window 128 beside 12 full ones. With 8,192 tokens in flight a window reserves
    # min(127 + 8192, length) tokens and a block: ten requests of length n take 10 * (n/16 + n/16 + 1) blocks and one.
    stage = (
        LayerRun(12, LayerSpec("sliding", 16, num_kv_heads=8, head_size=64, sliding_window=128)),
        LayerRun(12, LayerSpec("full", 16, num_kv_heads=8, head_size=64)),
    )
    limits = Limits(8_192, max_in_flight_tokens=8_192)
    plan = planned(limits, gib=2, stage=stage)
    blocks = 2 * GIB // (16 * 12 * 2_048)
    longest = longest_for(plan, [stage], limits, 10)
    assert longest == ((blocks - 1) // 10 - 1) // 2 * 16


def budget(total_gib: float, utilization: float, available_gib: float) -> Budget:
    def at(gib: float) -> Range:
        return Range(int(gib * GIB), int(gib * GIB), int(gib * GIB))

    requested = int(total_gib * utilization * GIB)
    return Budget(int(total_gib * GIB), requested, 0, False, at(0), at(0), at(0), at(available_gib))


def test_the_utilization_for_twelve_gib_less_is_that_much_lower() -> None:
    # 80 GiB at 0.9 leave 50 GiB, so 22 GiB go elsewhere: for 38 GiB of cache (22 + 38) / 80 = 0.75.
    assert utilization_for(38 * GIB, budget(80, 0.9, 50)) == 0.75
    assert utilization_for(38 * GIB + 1, budget(80, 0.9, 50)) == 0.751  # rounded up, so that it does fit


def test_more_than_the_card_has_is_said() -> None:
    found = right_size(planned(gib=50), [QWEN], SHORT, 1_024, budget(80, 0.9, 50))
    assert found.enough.fits_the_card is False
    assert found.one_more.fits_the_card is True
    assert found.one_more.requests == found.fits + 1


def test_no_requests_are_refused() -> None:
    with pytest.raises(AnswerError) as refused:
        right_size(planned(), [QWEN], SHORT, 0)
    assert refused.value.field == "max_num_seqs"
