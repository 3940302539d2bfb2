"""Steps of the three ways to batch, by hand, and as vLLM 0.26.0's own scheduler took them."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from snippets.sim.batching import continuous, fewest_steps, one_at_a_time, static_batches
from snippets.sim.lengths import Request

# Two slots. Static: (5, 1) takes 5 steps, (2, 4) takes 4. Continuous: the second ends after step 1 and the third takes
# its slot in steps 2 and 3, the fourth in 4 to 7. Alone: 5 + 1 + 2 + 4.
FOUR = [Request(3, 5), Request(3, 1), Request(3, 2), Request(3, 4)]


def test_one_at_a_time_takes_a_step_for_every_token() -> None:
    run = one_at_a_time(FOUR, 2048)
    assert run.steps == 12
    assert run.last_token_step == (5, 6, 8, 12)
    assert run.slot_use(1) == 1


def test_a_static_batch_lasts_as_long_as_its_longest() -> None:
    run = static_batches(FOUR, 2, 2048)
    assert run.steps == 9
    assert run.first_token_step == (1, 1, 6, 6)
    assert run.last_token_step == (5, 1, 7, 9)
    assert run.slot_use(2) == 12 / 18


def test_continuous_fills_a_slot_as_soon_as_it_is_free() -> None:
    run = continuous(FOUR, 2, 2048)
    assert run.steps == 7
    assert run.first_token_step == (1, 1, 2, 4)
    assert run.last_token_step == (5, 1, 3, 7)
    assert run.slot_use(2) == 12 / 14


def test_a_prompt_longer_than_the_step_is_computed_in_chunks() -> None:
    # 70 tokens at 32 a step: 32 + 32 + 6, and the third makes the first token.
    run = continuous([Request(70, 2)], 4, 32)
    assert (run.steps, run.first_token_step) == (4, (3,))
    # Beside it 31 tokens are left for the prompt: 31 + 31 + 8 in the steps 2, 3 and 4.
    assert continuous([Request(1, 9), Request(70, 1)], 4, 32, handed_over=[0, 1]).first_token_step == (1, 4)


def test_a_request_that_comes_later_joins_the_next_step() -> None:
    run = continuous([Request(1, 6), Request(1, 2)], 2, 2048, handed_over=[0, 3])
    assert run.first_token_step == (1, 4)
    assert run.steps == 6


def test_an_idle_engine_takes_no_steps() -> None:
    assert continuous([Request(1, 2), Request(1, 1)], 2, 2048, handed_over=[0, 50]).steps == 3


def test_no_schedule_needs_fewer_steps() -> None:
    assert fewest_steps(FOUR, 2) == 6  # 12 tokens in 2 slots
    assert fewest_steps(FOUR, 8) == 5  # the longest answer


def test_every_step_is_that_of_vllms_own_scheduler() -> None:
    # Recorded from Scheduler.schedule of vLLM 0.26.0: requests that come over time, chunked prompts, full steps.
    recorded = json.loads((Path(__file__).resolve().parents[2] / "data/batching_of_vllm.json").read_text())
    assert recorded["vllm"] == "0.26.0"
    for load in recorded["loads"]:
        requests = [Request(*lengths) for lengths in load["requests"]]
        run = continuous(requests, load["max_num_seqs"], load["max_num_batched_tokens"], load["handed_over"])
        assert (run.steps, run.sequence_steps) == (load["steps"], load["sequence_steps"])
        assert (list(run.first_token_step), list(run.last_token_step)) == (load["first"], load["last"])


LOADS = st.lists(st.builds(Request, st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=12)


@given(LOADS, st.integers(1, 6))
def test_with_all_there_at_the_start_continuous_is_never_slower_than_static_nor_static_than_one_at_a_time(
    load: list[Request], slots: int
) -> None:
    room = 12 * 30  # no prompt waits for room in a step
    together = continuous(load, slots, room).steps
    assert fewest_steps(load, slots) <= together <= static_batches(load, slots, room).steps
    assert static_batches(load, slots, room).steps <= one_at_a_time(load, room).steps


@given(LOADS, st.integers(1, 6))
def test_every_token_of_every_answer_takes_one_slot_of_one_step(load: list[Request], slots: int) -> None:
    tokens = sum(one.output_tokens for one in load)
    assert continuous(load, slots, 12 * 30).sequence_steps == tokens
