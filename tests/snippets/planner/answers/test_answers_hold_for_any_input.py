"""What must hold of the answers for any input."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.planner.answers.in_flight import Pool, Traffic, in_flight
from snippets.planner.answers.lengths import KINDS, Kind, Lengths
from snippets.planner.answers.prefix_reuse import Group, PrefixReuse
from snippets.planner.answers.right_size import amount, right_size
from snippets.planner.answers.step_work import pairs
from snippets.planner.cache import plan_cache
from snippets.planner.specs import LayerRun, LayerSpec, Limits
from snippets.sim.paged import cdiv


@st.composite
def lengths(draw: st.DrawFn) -> Lengths:
    mean = draw(st.integers(2, 3_000))
    kind: Kind = draw(st.sampled_from(KINDS))
    return Lengths(kind, mean, draw(st.floats(0, (mean - 1) / 1.74 if kind == "uniform" else 5_000)))


TRAFFIC = st.builds(Traffic, lengths(), lengths(), st.integers(0, 2_000))


@given(TRAFFIC, st.integers(2, 200_000), st.sampled_from([4_096, 32_768, 131_072]))
@settings(max_examples=60, deadline=None)
def test_worst_case_safe_and_expected_number_stand_in_order(traffic: Traffic, blocks: int, longest: int) -> None:
    answer = in_flight(traffic, Pool(blocks, longest, 256, lambda tokens: cdiv(tokens, 16)))
    assert 0 <= answer.worst_case <= answer.safe <= answer.expected + 1e-6
    assert 0 <= answer.cut_share <= 1 + 1e-9
    assert answer.held.mean_tokens <= longest


@given(TRAFFIC, st.integers(2, 50_000))
@settings(max_examples=40, deadline=None)
def test_more_blocks_never_run_fewer_requests(traffic: Traffic, blocks: int) -> None:
    less, more = (
        in_flight(traffic, Pool(n, 32_768, 256, lambda tokens: cdiv(tokens, 16))) for n in (blocks, blocks + 500)
    )
    assert (less.worst_case, less.safe) <= (more.worst_case, more.safe)
    assert less.expected < more.expected


@given(
    st.integers(1, 8).map(lambda n: 16 * n),
    st.integers(1, 8),
    st.integers(2, 4_096),
    st.booleans(),
    st.integers(0, 6_000),
    st.integers(1, 6_000),
)
def test_what_is_reused_was_shared_ends_with_a_block_of_every_group_and_leaves_a_token(
    block_size: int, times: int, window: int, drops: bool, shared: int, prompt: int
) -> None:
    groups = (Group("full", block_size * times), Group("sliding", block_size, window))
    aligned = block_size * times
    reuse = PrefixReuse(True, groups, aligned, block_size, aligned, drops, False)
    found = reuse.reused(shared, prompt)
    assert 0 <= found <= min(shared, prompt - 1)
    assert found % aligned == 0


@given(st.integers(1, 400), st.integers(1, 2_000), st.integers(256, 20_000))
def test_the_amount_that_suffices_is_the_least_in_whole_blocks(layers: int, requests: int, length: int) -> None:
    stage = (LayerRun(layers, LayerSpec("full", 16, num_kv_heads=8, head_size=128)),)
    limits = Limits(length)
    plan = plan_cache([stage], [2**45], limits)
    size = amount(plan, requests).kv_cache_memory_bytes
    enough, less = (plan_cache([stage], [n], limits).num_gpu_blocks - 1 for n in (size, size - 1))
    assert enough // plan.blocks_per_request == requests
    assert less // plan.blocks_per_request < requests


@given(st.integers(1, 500), st.integers(256, 20_000), st.integers(20, 2_000))
def test_the_length_that_lets_all_in_is_the_longest(requests: int, length: int, mebibytes: int) -> None:
    stage = (
        LayerRun(12, LayerSpec("full", 16, num_kv_heads=8, head_size=64)),
        LayerRun(12, LayerSpec("sliding", 16, num_kv_heads=8, head_size=64, sliding_window=128)),
    )
    limits = Limits(length, max_in_flight_tokens=2_048)
    plan = plan_cache([stage], [2**40], limits)
    small = type(plan)(**{**vars(plan), "num_gpu_blocks": max(2, mebibytes * 2**20 // plan.bytes_per_block)})
    longest = right_size(small, [stage], limits, requests).max_model_len_for_all

    def fits(tokens: int) -> bool:
        reserved = plan_cache([stage], [2**40], Limits(tokens, max_in_flight_tokens=2_048)).blocks_per_request
        return requests * reserved <= small.num_gpu_blocks - 1

    assert longest == 0 or fits(longest)
    assert longest == length or not fits(longest + 1)


@given(st.integers(1, 300), st.integers(1, 300))
def test_pairs_are_those_counted_one_by_one(tokens: int, window: int) -> None:
    assert pairs(tokens, window) == sum(min(i, window) for i in range(1, tokens + 1))
    assert pairs(tokens, window, chunked=True) == sum(i % window + 1 for i in range(tokens))
