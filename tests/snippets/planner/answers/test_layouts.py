"""The table of layouts: sizes that divide, by hand, and vLLM's reasons where they do not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from snippets.catalog.gpus import gpu
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.layouts import Layout, Layouts, divisors, layouts
from snippets.planner.engine_args import EngineArgs
from snippets.planner.evidence.logs import config_of
from snippets.planner.steps.take import Given

GIB = 2**30
FORTY_GIB = Given(available=40 * GIB)
KV_PER_TOKEN = 57_344  # Qwen2.5-7B: 28 layers, 4 KV heads of 128, keys and values of 2 bytes


def table(model: str, num_cards: int, card: str = "h100-80gb", given: Given = FORTY_GIB, **args: object) -> Layouts:
    asked = EngineArgs(max_model_len=8_192, **args)  # type: ignore[arg-type]
    return layouts(config_of(model), [gpu(card)] * num_cards, asked, given)


def row(of: Layouts, tp: int, pp: int, dp: int, dcp: int = 1, experts: bool = False) -> Layout:
    (found,) = [
        one
        for one in of.rows
        if (one.tensor_parallel_size, one.pipeline_parallel_size, one.data_parallel_size) == (tp, pp, dp)
        and (one.decode_context_parallel_size, one.enable_expert_parallel) == (dcp, experts)
    ]
    return found


def test_four_cards_have_six_plain_layouts() -> None:
    plain = {
        (one.tensor_parallel_size, one.pipeline_parallel_size, one.data_parallel_size)
        for one in table("qwen2.5-7b", 4).rows
    }
    assert plain == {(1, 1, 4), (1, 2, 2), (1, 4, 1), (2, 1, 2), (2, 2, 1), (4, 1, 1)}


def test_each_rank_keeps_half_the_heads_so_a_replica_of_two_holds_twice_the_tokens() -> None:
    of = table("qwen2.5-7b", 2)
    one, two = row(of, 1, 1, 2), row(of, 2, 1, 1)
    assert one.tokens == 40 * GIB // (16 * KV_PER_TOKEN) * 16
    assert two.tokens == 40 * GIB // (16 * KV_PER_TOKEN // 2) * 16
    assert one.requests == 2 * 91  # 40 GiB hold 91.43 requests of 448 MiB; none is spread over two replicas
    assert two.requests == 182  # 182.86


def test_weights_leave_more_for_the_cache_when_they_are_split_than_when_they_are_copied() -> None:
    of = table("llama-3.1-70b", 8, given=Given())
    assert row(of, 1, 1, 8).state == "too small"  # 131 GiB of weights on a card with 79
    assert "weights take 131" in row(of, 1, 1, 8).reason
    assert of.best == row(of, 8, 1, 1)
    assert (of.best.requests or 0) > 10 * (row(of, 2, 1, 4).requests or 0)


def test_three_cards_cannot_split_28_heads_and_pipeline_or_copy_instead() -> None:
    of = table("qwen2.5-7b", 3)
    assert row(of, 3, 1, 1).state == "refused"
    assert row(of, 3, 1, 1).reason == (
        "Total number of attention heads (28) must be divisible by tensor parallel size (3)."
    )
    assert {row(of, 1, 3, 1).state, row(of, 1, 1, 3).state} == {"fits"}


def test_six_cards_cannot_split_four_kv_heads_although_they_divide_24_query_heads() -> None:
    # Qwen3.5-27B: 24 query heads, 4 KV heads. Three and six divide the former and not the latter.
    of = table("qwen3.5-27b", 6)
    assert "4 KV heads" in row(of, 3, 2, 1).reason
    assert "4 KV heads" in row(of, 6, 1, 1).reason
    assert row(of, 2, 3, 1).state == "fits"


def test_more_stages_than_layers_are_refused() -> None:
    of = table("llama-3.2-1b", 32)  # 16 layers
    assert row(of, 1, 32, 1).state == "refused"
    assert row(of, 1, 16, 2).state == "fits"


def test_of_equals_the_layout_with_fewer_stages_is_best() -> None:
    # A cap of four requests in each replica leaves them equal: eight cards as one replica give 4, as eight give 32.
    of = table("qwen2.5-7b", 2, max_num_seqs=4)
    assert [one.requests for one in of.rows if one.state == "fits"] == [8, 4, 4]
    one_replica = [one for one in of.rows if one.data_parallel_size == 1 and one.state == "fits"]
    assert [one.pipeline_parallel_size for one in one_replica] == [1, 2]


def test_max_num_seqs_caps_each_replica() -> None:
    one = row(table("qwen2.5-7b", 4, max_num_seqs=10), 1, 1, 4)
    assert (one.memory_concurrency or 0) > 90
    assert (one.requests_per_replica, one.requests) == (10, 40)


def test_experts_can_be_split_or_shared_out_whole() -> None:
    of = table("qwen3-30b-a3b", 4, given=Given())
    split, whole = row(of, 4, 1, 1), row(of, 4, 1, 1, experts=True)
    assert split.weights_bytes == pytest.approx(whole.weights_bytes, rel=0.01)
    assert not any(one.enable_expert_parallel for one in table("qwen2.5-7b", 4).rows)


def test_context_parallel_multiplies_the_tokens_where_ranks_hold_copies_of_a_head() -> None:
    # Qwen3-235B has 4 KV heads: on eight ranks two hold the same one and can share its tokens, four cannot.
    of = table("qwen3-235b-a22b", 8)
    assert row(of, 8, 1, 1, dcp=2).memory_concurrency == pytest.approx(2 * (row(of, 8, 1, 1).memory_concurrency or 0))
    assert "must less than or equal to" in row(of, 8, 1, 1, dcp=4).reason
    assert "must be greater than total num kv heads 4" in row(of, 4, 1, 2, dcp=2).reason


def test_an_mla_latent_on_eight_ranks_can_be_shared_eight_ways() -> None:
    of = table("deepseek-v3", 8, "h200")
    alone, eight = row(of, 8, 1, 1), row(of, 8, 1, 1, dcp=8)
    assert eight.memory_concurrency == pytest.approx(8 * (alone.memory_concurrency or 0), rel=1e-2)


def test_of_unequal_cards_the_smallest_decides() -> None:
    config, args = config_of("qwen2.5-7b"), EngineArgs(max_model_len=8_192)
    mixed = layouts(config, [gpu("h100-80gb"), gpu("rtx-4090")], args)
    assert mixed.gpu.key == "rtx-4090"
    assert mixed.rows == layouts(config, [gpu("rtx-4090")] * 2, args).rows


def test_what_fits_stands_first_and_refused_layouts_last() -> None:
    states = [one.state for one in table("llama-3.1-70b", 8, given=Given()).rows]
    assert states == sorted(states, key=("fits", "too small", "not known", "refused").index)


@pytest.mark.parametrize("num_cards", [0, 65])
def test_more_than_64_cards_and_none_are_refused(num_cards: int) -> None:
    with pytest.raises(AnswerError) as refused:
        table("qwen2.5-7b", num_cards)
    assert refused.value.field == "cards"


def test_parallel_sizes_of_the_question_are_ignored() -> None:
    config, cards = config_of("qwen2.5-7b"), [gpu("h100-80gb")] * 2
    args = EngineArgs(max_model_len=8_192)
    odd = replace(args, tensor_parallel_size=7, data_parallel_size=3)
    assert layouts(config, cards, odd, FORTY_GIB).rows == layouts(config, cards, args, FORTY_GIB).rows


def test_divisors_of_64_are_the_seven_powers_of_two() -> None:
    assert divisors(64) == (1, 2, 4, 8, 16, 32, 64)
    assert divisors(7) == (1, 7)


def test_weights_that_were_given_are_of_the_layout_they_were_given_with() -> None:
    # Qwen2.5-7B on four ranks: a quarter of its 15.2 GB, not the 14.2 GiB typed for one.
    given = Given(weights=int(14.2 * GIB))
    rows = layouts(config_of("qwen2.5-7b"), [gpu("rtx-4090")] * 4, EngineArgs(max_model_len=8000), given).rows
    held = {
        (row.tensor_parallel_size, row.pipeline_parallel_size): row.weights_bytes for row in rows if row.weights_bytes
    }
    assert held[1, 1] == int(14.2 * GIB)
    assert held[4, 1] == pytest.approx(2 * 7_615_616_512 / 4, rel=0.01)
