"""Requests in flight, against two simulations that know nothing of the formula, and against sums by hand."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from math import log, sqrt
from random import Random

import pytest

from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.in_flight import InFlight, Pool, Traffic, in_flight
from snippets.planner.answers.lengths import Lengths
from snippets.sim.lengths import Request
from snippets.sim.paged import BlockPool, cdiv
from snippets.sim.serving import serve

CHAT = Traffic(Lengths("lognormal", 1000, 1500), Lengths("lognormal", 300, 300))
STORIES = Traffic(Lengths("lognormal", 200, 100), Lengths("lognormal", 600, 800))
RETRIEVAL = Traffic(Lengths("lognormal", 4000, 100), Lengths("lognormal", 100, 10))
MAX_MODEL_LEN = 32_768


def pool(num_gpu_blocks: int, **given: int) -> Pool:
    """Blocks of 16 tokens, full attention."""
    return Pool(num_gpu_blocks, MAX_MODEL_LEN, 10_000, lambda tokens: cdiv(tokens, 16), **given)


def drawn(traffic: Traffic, count: int, seed: int) -> list[tuple[int, int]]:
    """Prompts and answers drawn one by one with Python's own log-normal."""
    random = Random(seed)

    def tokens(lengths: Lengths) -> int:
        sigma = sqrt(log(1 + (lengths.deviation_tokens / lengths.mean_tokens) ** 2))
        return max(1, round(random.lognormvariate(log(lengths.mean_tokens) - sigma**2 / 2, sigma)))

    found = []
    for _ in range(count):
        prompt = min(tokens(traffic.prompt), MAX_MODEL_LEN - 1)
        found.append((prompt, min(tokens(traffic.output), MAX_MODEL_LEN - prompt)))
    return found


def at_random_moments(traffic: Traffic, requests: int, moments: int, seed: int) -> list[int]:
    """Blocks held by so many slots, each serving one request after the other, at moments picked blindly."""
    line = drawn(traffic, 120_000, seed)
    ends = list(accumulate(output for _, output in line))
    random = Random(seed + 1)

    def held() -> int:
        moment = random.randrange(ends[-1])
        i = bisect_right(ends, moment)
        prompt, output = line[i]
        return cdiv(prompt + moment - (ends[i] - output), 16)

    return [sum(held() for _ in range(requests)) for _ in range(moments)]


@pytest.mark.parametrize("traffic", [CHAT, STORIES, RETRIEVAL])
def test_mean_blocks_are_those_of_slots_looked_at_blindly(traffic: Traffic) -> None:
    answer = in_flight(traffic, pool(20_000))
    sums = at_random_moments(traffic, 100, 600, seed=5)
    assert answer.held.mean == pytest.approx(sum(sums) / len(sums) / 100, rel=0.02)


@pytest.mark.parametrize(("traffic", "blocks"), [(CHAT, 4_000), (CHAT, 20_000), (STORIES, 20_000), (RETRIEVAL, 2_000)])
def test_the_safe_number_overflows_at_one_moment_in_a_hundred_or_less(traffic: Traffic, blocks: int) -> None:
    answer = in_flight(traffic, pool(blocks))
    sums = at_random_moments(traffic, answer.safe, 1_500, seed=9)
    assert sum(blocks_held > blocks - 1 for blocks_held in sums) / len(sums) <= 0.017  # 15 of 1,500, two sigma more
    assert answer.worst_case <= answer.safe < answer.expected


def running_while_busy(requests: list[Request], blocks: int, warm_up: int) -> float:
    """Requests in memory, over the steps after the warm-up in which others wait."""
    moments = serve(requests, BlockPool(blocks, 16), 16, max_growth_events=40).moments
    busy = [pair for pair in pairwise(moments) if pair[0].step >= warm_up and pair[0].waiting]
    steps = [after.step - before.step for before, after in busy]
    return sum(n * len(before.stays) for n, (before, _) in zip(steps, busy, strict=True)) / sum(steps)


@pytest.mark.parametrize(
    ("traffic", "blocks", "count", "warm_up"), [(CHAT, 3_000, 1_000, 1_000), (RETRIEVAL, 6_000, 300, 200)]
)
def test_the_simulated_scheduler_keeps_about_as_many_running(
    traffic: Traffic, blocks: int, count: int, warm_up: int
) -> None:
    """It lets a request in as soon as its prompt fits, so memory is full but for what is too small for the next."""
    seeds = (3, 4)
    lines = [[Request(*one) for one in drawn(traffic, count, seed)] for seed in seeds]
    running = sum(running_while_busy(line, blocks, warm_up) for line in lines) / len(seeds)
    assert running == pytest.approx(in_flight(traffic, pool(blocks + 1)).expected, rel=0.05)


def test_fixed_lengths_by_hand() -> None:
    # 160 tokens of prompt, 320 of answer, blocks of 16: in its 320 steps a request stores 160 to 479 tokens. In the
    # first step that is 10 blocks, then sixteen steps each of 11, 12, … 29, and fifteen of 30.
    mean = (10 + 16 * sum(range(11, 30)) + 15 * 30) / 320
    assert mean == 20.4375
    answer = in_flight(Traffic(Lengths("fixed", 160), Lengths("fixed", 320)), pool(2_045))
    assert answer.held.mean == pytest.approx(mean, rel=2e-3)
    assert answer.expected == pytest.approx(2_044 / mean, rel=2e-3)
    assert answer.worst_case == 2_044 // 2_048


def test_a_request_with_states_and_a_full_window_holds_the_same_at_every_length() -> None:
    # A hybrid that holds 3 state blocks and 5 of a window: 1,000 usable blocks are 125 requests, whatever they send.
    flat = Pool(1_001, MAX_MODEL_LEN, 256, lambda tokens: 8)
    answer = in_flight(CHAT, flat)
    assert (answer.worst_case, answer.safe) == (125, 125)
    assert answer.running_safely == 125
    assert in_flight(CHAT, Pool(1_001, MAX_MODEL_LEN, 100, lambda tokens: 8)).running_safely == 100
    assert answer.expected == pytest.approx(125)


def shared(tokens: int, shared_blocks: int) -> InFlight:
    traffic = Traffic(Lengths("fixed", 100), Lengths("fixed", 100), shared_prefix_tokens=tokens)
    return in_flight(traffic, pool(10_001, shared_blocks=shared_blocks))


def test_a_shared_prefix_is_held_once() -> None:
    # 2,000 tokens of prefix are 125 blocks; a request holds 7 to 13 of its own beyond it.
    alone, once = shared(2_000, 0), shared(2_000, 125)
    assert alone.held.mean == pytest.approx(125 + 150 / 16 + 0.5, rel=0.01)
    assert once.held.mean == pytest.approx(alone.held.mean - 125, rel=1e-6)
    assert once.usable_blocks == 10_000 - 125
    assert once.expected > 12 * alone.expected


def test_max_num_seqs_is_the_second_ceiling() -> None:
    answer = in_flight(CHAT, Pool(100_000, MAX_MODEL_LEN, 64, lambda tokens: cdiv(tokens, 16)))
    assert (answer.running, answer.decided_by) == (64, "max_num_seqs")
    assert answer.expected > 1_000


def test_requests_longer_than_max_model_len_are_cut_and_counted() -> None:
    prompts = [prompt for prompt, _ in drawn(CHAT, 40_000, seed=2)]
    answer = in_flight(CHAT, Pool(20_000, 4_000, 256, lambda tokens: cdiv(tokens, 16)))
    assert sum(prompt > 3_700 for prompt in prompts) / len(prompts) == pytest.approx(answer.cut_share, abs=0.01)


def test_a_prefix_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(AnswerError) as refused:
        in_flight(Traffic(Lengths("fixed", 1), Lengths("fixed", 1), MAX_MODEL_LEN - 1), pool(100))
    assert refused.value.field == "shared_prefix_tokens"
