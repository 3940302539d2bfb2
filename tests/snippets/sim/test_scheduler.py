"""Preemptions as vLLM 0.26.0's own scheduler counts them, and the same rules told elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from snippets.sim.lengths import Request
from snippets.sim.paged import BlockPool
from snippets.sim.scheduler import Limits, Schedule, most_without_preemption, onset, schedule
from snippets.sim.serving import serve

RECORDED = json.loads((Path(__file__).parents[2] / "oracle" / "scheduler_answers.json").read_text())
LIMITS = ("num_gpu_blocks", "block_size", "max_num_seqs", "max_num_batched_tokens", "watermark")


def counted(case: dict[str, Any]) -> Schedule:
    return schedule([Request(p, o) for p, o in case["requests"]], Limits(**{name: case[name] for name in LIMITS}))


def test_the_recording_is_of_vllm_0_26_0_and_has_every_kind_of_load() -> None:
    loads = RECORDED["loads"]
    assert RECORDED["vllm"] == "0.26.0"
    assert sum(case["preemptions"] > 0 for case in loads) > 25
    assert sum(case["preemptions"] > 0 and case["watermark"] > 0 for case in loads) > 5
    assert sum(case["preemptions"] == 0 for case in loads) > 25


@pytest.mark.parametrize("number", range(len(RECORDED["loads"])))
def test_a_load_takes_vllms_steps_and_preemptions(number: int) -> None:
    case = RECORDED["loads"][number]
    found = counted(case)
    assert (found.steps, found.preemptions, found.first_preemption_step, found.most_running) == (
        *(case["steps"], case["preemptions"], case["first_preemption_step"], case["most_running"]),
    )
    stored = sum(p + o - 1 for p, o in case["requests"])
    assert stored + found.recomputed_tokens == case["scheduled_tokens"]


def drawn(random: Random) -> list[Request]:
    return [Request(random.randint(1, 90), random.randint(1, 90)) for _ in range(random.randint(1, 16))]


def test_without_limits_of_a_step_it_is_the_simulator_that_draws_memory() -> None:
    random, preempted = Random(3), 0
    for _ in range(60):
        requests, size = drawn(random), random.choice([1, 4, 16])
        blocks = random.randint(-(-180 // size), 40 + 400 // size)
        run = serve(requests, BlockPool(blocks, size), size)
        found = schedule(requests, Limits(blocks + 1, size, len(requests), 10**6))
        assert (found.steps, found.preemptions) == (run.steps, run.preemptions)
        # There the newest token counts too, which a preempted request brings back uncomputed.
        assert found.recomputed_tokens + found.preemptions == run.recomputed_tokens
        preempted += run.preemptions > 0
    assert preempted > 10


def test_two_requests_by_hand() -> None:
    # 5 blocks of 4 tokens, one of them null. Two prompts of 7 take 2 blocks each. Step 2 stores token 8, step 3 needs a
    # third block for the first: none is free, so the second gives its 2 back, having computed 8 tokens. The first has
    # its 4 answers in step 4; the second, with 9 tokens (2 answered), comes back in step 5 and ends in step 6.
    # Both are in the first two steps, one is in each of the other four.
    found = schedule([Request(7, 4)] * 2, Limits(5, 4, 8, 100))
    assert found == Schedule(
        steps=6,
        preemptions=1,
        first_preemption_step=3,
        recomputed_tokens=8,
        most_running=2,
        sequence_steps=8,
        first_token_step=(1, 1),
        last_token_step=(4, 6),
    )


def test_a_request_that_never_fits_is_refused_with_the_blocks_there_are() -> None:
    with pytest.raises(ValueError, match="request 2 stores 65 tokens, 5 blocks of 16, and 4 can be used"):
        schedule([Request(10, 10), Request(60, 6)], Limits(5, 16, 8, 100))


def test_the_safe_number_of_requests_never_preempts_and_the_onset_does() -> None:
    random, onsets = Random(6), 0
    for _ in range(40):
        size, request = random.choice([1, 16, 32]), Request(random.randint(1, 60), random.randint(1, 60))
        need = -(-request.stored_tokens // size)
        limits = Limits(1 + random.randint(need, 12 * need), size, 30, random.choice([64, 2048]))
        safe = most_without_preemption(request, limits)
        assert safe == (limits.num_gpu_blocks - 1) // need
        assert not any(schedule([request] * n, limits).preemptions for n in range(1, safe + 1))
        many = [request] * 30
        capped = Limits(limits.num_gpu_blocks, size, safe, limits.max_num_batched_tokens)
        assert schedule(many, capped).preemptions == 0
        if (first := onset(request, limits, 30)) is not None:
            onsets += 1
            assert first > safe
            assert schedule([request] * first, limits).preemptions
            assert not schedule([request] * (first - 1), limits).preemptions
    assert onsets > 15
