"""Upper bounds of speed and lower bounds of cost, by hand from published sizes and data sheets."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import pytest

from snippets.catalog.gpus import Gpu, gpu
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.bounds import Server, cost_per_million_tokens, decode_bound, in_words, prefill_bound
from snippets.planner.answers.step_work import RankWeights, attention_flops, cache_bytes_read, pairs, rank_weights
from snippets.planner.engine_args import EngineArgs, SpeculativeConfig
from snippets.planner.evidence.logs import config_of
from snippets.planner.settings import resolve

# 7,615,616,512 parameters of 2 bytes, less the input embedding, of which a step reads single rows.
HEAD = 152_064 * 3_584
QWEN = RankWeights(read_bytes=2 * (7_615_616_512 - HEAD), parameters=7_615_616_512 - HEAD, head_parameters=HEAD)
KV_PER_TOKEN = 57_344


def server(model: str, card: Gpu, weights: tuple[RankWeights, ...], **args: object) -> Server:
    given = EngineArgs(max_model_len=8_192, **args)  # type: ignore[arg-type]
    config = config_of(model)
    return Server(config, card, given, resolve(config, given, card), weights)


def qwen(card: Gpu | None = None, **args: object) -> Server:
    return server("qwen2.5-7b", card or gpu("rtx-4090"), (QWEN,), **args)


def test_one_sequence_of_8192_tokens_gets_at_most_69_tokens_a_second_on_an_rtx_4090() -> None:
    bound = decode_bound(qwen(), 1, 8_192)
    assert bound.tokens_per_second == pytest.approx(1_008e9 / (QWEN.read_bytes + KV_PER_TOKEN * 8_192))
    assert bound.tokens_per_second == pytest.approx(68.99, abs=0.005)
    assert bound.limited_by == "reading"


def test_weights_are_read_once_for_all_sequences_and_the_cache_for_each() -> None:
    bound = decode_bound(qwen(), 100, 1_000)
    assert bound.weight_bytes == QWEN.read_bytes
    assert bound.cache_bytes == 100 * 1_000 * KV_PER_TOKEN
    assert bound.tokens_per_second_per_request == pytest.approx(
        1_008e9 / (QWEN.read_bytes + 100 * 1_000 * KV_PER_TOKEN)
    )


def test_a_drafter_can_give_all_its_tokens_and_one_more_in_a_step() -> None:
    plain, drafted = (
        decode_bound(qwen(), 4, 1_000),
        decode_bound(qwen(speculative=SpeculativeConfig("ngram", 3)), 4, 1_000),
    )
    assert plain.tokens_per_second is not None and drafted.tokens_per_second is not None
    assert drafted.tokens_per_step == 4
    assert drafted.tokens_per_second == pytest.approx(4 * plain.tokens_per_second)


def test_a_large_batch_of_short_sequences_is_limited_by_arithmetic() -> None:
    # 2 operations per parameter and token; attention over 16 tokens adds 2 * 2 * 28 * 28 * 128 * 16.
    bound = decode_bound(qwen(), 2_000, 16)
    operations = 2 * QWEN.parameters + 2 * 2 * 28 * 28 * 128 * 16
    assert bound.limited_by == "arithmetic"
    assert bound.tokens_per_second == pytest.approx(165.2e12 / operations)


def test_a_card_without_a_sourced_bandwidth_gives_no_number_and_names_the_fact() -> None:
    bound = decode_bound(qwen(replace(gpu("rtx-4090"), bandwidth_gb_per_s=None)), 1, 100)
    assert (bound.tokens_per_second, bound.step_seconds, bound.limited_by) == (None, None, "")
    assert bound.not_known == ("bandwidth_gb_per_s",)


def test_without_its_arithmetic_a_card_still_has_the_bound_of_its_memory_but_none_for_prompts() -> None:
    card = replace(gpu("rtx-4090"), bf16_dense_tflops=None)
    assert decode_bound(qwen(card), 1, 8_192).tokens_per_second == pytest.approx(68.99, abs=0.005)
    prompt = prefill_bound(qwen(card), 4_096)
    assert (prompt.seconds, prompt.tokens_per_second, prompt.not_known) == (None, None, ("bf16_dense_tflops",))


def test_fp8_weights_compute_at_the_cards_fp8_rate() -> None:
    prompt = prefill_bound(server("qwen3-32b-fp8", gpu("h100-80gb"), (QWEN,)), 1_000)
    assert prompt.not_known == () and prompt.seconds is not None
    half = prefill_bound(server("qwen3-32b-fp8", replace(gpu("h100-80gb"), fp8_dense_tflops=989.5), (QWEN,)), 1_000)
    assert half.seconds == pytest.approx(2 * prompt.seconds)  # 1,979 TFLOP/s: NVIDIA's data sheet
    ampere = prefill_bound(server("qwen3-32b-fp8", gpu("a100-80gb"), (QWEN,)), 1_000)  # Marlin widens the weights
    assert ampere.seconds == pytest.approx(prompt.seconds * 1_979 / 312)


def test_an_fp8_rate_that_is_not_known_is_named() -> None:
    bound = decode_bound(server("qwen3-32b-fp8", gpu("rtx-5090"), (QWEN,)), 8, 1_000)
    assert bound.not_known == ("fp8_dense_tflops",)
    assert in_words(bound.not_known) == "the card's rate of arithmetic in FP8"


def test_deepseek_v3_on_eight_h200_has_a_bound_of_prompts() -> None:
    """37 thousand million parameters a token, 2 operations each, on 8 × 1,979 TFLOP/s: some 210,000 tokens a second.

    Attention comes on top, and what every rank computes whole.
    """
    args = EngineArgs(max_model_len=8_192, tensor_parallel_size=8)
    config = config_of("deepseek-v3")
    made = prefill_bound(Server.of(config, gpu("h200"), args, resolve(config, args, gpu("h200"))), 1_000)
    assert made.tokens_per_second is not None
    assert 0.8 < made.tokens_per_second / (8 * 1_979e12 / (2 * 37e9)) < 1


def test_a_prompt_of_4096_tokens_takes_at_least_its_operations() -> None:
    # lm_head counts once; attention: 4 operations per pair, head and element, over half the square.
    operations = 2 * (QWEN.parameters - HEAD) * 4_096 + 2 * HEAD + 4 * (4_096 * 4_097 // 2) * 28 * 28 * 128
    bound = prefill_bound(qwen(), 4_096)
    assert bound.seconds == pytest.approx(operations / 165.2e12)
    assert bound.seconds is not None
    assert bound.tokens_per_second == pytest.approx(4_096 / bound.seconds)


def test_at_two_an_hour_a_million_tokens_cost_at_least_the_hours_they_take() -> None:
    asked = qwen()
    bound = decode_bound(asked, 1, 8_192)
    assert cost_per_million_tokens(asked, bound, 2.0) == pytest.approx(2.0 * 1e6 / 68.99 / 3_600, rel=1e-4)


def test_replicas_multiply_the_rate_and_leave_the_cost_of_a_token_as_it_is() -> None:
    one, four = qwen(), qwen(data_parallel_size=4)
    assert decode_bound(four, 8, 512).tokens_per_second == pytest.approx(
        4 * (decode_bound(one, 8, 512).tokens_per_second or 0)
    )
    assert cost_per_million_tokens(four, decode_bound(four, 8, 512), 1.0) == pytest.approx(
        cost_per_million_tokens(one, decode_bound(one, 8, 512), 1.0)
    )


def test_two_stages_give_one_sequence_no_more_speed_and_two_sequences_nearly_twice() -> None:
    half = replace(QWEN, read_bytes=QWEN.read_bytes // 2, parameters=QWEN.parameters // 2, head_parameters=0)
    two = server("qwen2.5-7b", gpu("rtx-4090"), (half, half), pipeline_parallel_size=2)
    assert decode_bound(two, 1, 1_000).tokens_per_second == pytest.approx(
        decode_bound(qwen(), 1, 1_000).tokens_per_second
    )
    assert decode_bound(two, 2, 1_000).tokens_per_second == pytest.approx(
        2 * (decode_bound(qwen(), 1, 1_000).tokens_per_second or 0)
    )


def test_32_tokens_of_qwen3_30b_touch_87_percent_of_its_128_experts() -> None:
    # Each token picks 8 of 128: an expert is left out by one token with probability 120/128, by 32 with its 32nd power.
    experts = RankWeights(0, 0, expert_bytes=1_000, num_experts=128, experts_per_token=8)
    assert comb(127, 8) / comb(128, 8) == 120 / 128
    assert experts.bytes_for(32, even_routing=True) == pytest.approx(1_000 * (1 - (120 / 128) ** 32))
    assert experts.bytes_for(1, even_routing=True) == pytest.approx(1_000 * 8 / 128)


def test_tokens_that_all_choose_the_same_8_of_128_experts_read_no_others() -> None:
    experts = RankWeights(500, 0, expert_bytes=1_600, num_experts=128, experts_per_token=8)
    assert experts.bytes_for(32) == experts.bytes_for(1) == 500 + 100


def test_a_bound_of_experts_holds_for_tokens_that_choose_alike_and_even_routing_is_named_apart() -> None:
    # 8 tokens: 500 bytes and 8/128 of the experts at least; 1 - (120/128)^8 = 40 % of them when they choose evenly.
    experts = RankWeights(500 * 10**6, 0, expert_bytes=16 * 10**9, num_experts=128, experts_per_token=8)
    bound = decode_bound(server("qwen3-30b-a3b", gpu("h100-80gb"), (experts,)), 8, 1_000)
    assert bound.weight_bytes == 1.5 * 10**9
    assert bound.even_routing is not None
    assert bound.even_routing.weight_bytes == pytest.approx((0.5 + 16 * (1 - (120 / 128) ** 8)) * 10**9)
    assert bound.even_routing.cache_bytes == bound.cache_bytes
    assert decode_bound(qwen(), 8, 1_000).even_routing is None


def test_a_shared_prefix_is_read_once_and_what_follows_it_for_each() -> None:
    bound = decode_bound(qwen(), 100, 8_000, shared_tokens=7_000)
    assert bound.cache_bytes == KV_PER_TOKEN * (7_000 + 100 * 1_000)
    assert decode_bound(qwen(), 1, 8_000, shared_tokens=7_000).cache_bytes == KV_PER_TOKEN * 8_000


def test_a_window_beyond_the_shared_prefix_is_read_for_each() -> None:
    # gpt-oss-20b, 8,000 tokens of which 7,900 are shared: of a window of 128 tokens 28 lie in the prefix.
    asked = server("gpt-oss-20b", gpu("h100-80gb"), (QWEN,))
    own = cache_bytes_read(asked.resolved.stages[0], asked.resolved.limits, 8_000, shared_tokens=7_900)
    assert own == 2_048 * 12 * (100 + 100)


def test_attention_over_an_fp8_cache_may_run_on_faster_units_and_is_not_counted() -> None:
    # 2 operations per parameter and token, and nothing for attention.
    bound = decode_bound(qwen(kv_cache_dtype="fp8"), 2_000, 16)
    assert bound.computing_seconds == pytest.approx(2_000 * 2 * QWEN.parameters / 165.2e12)


def test_qwen3_30b_uses_3_3_billion_parameters_of_a_token_and_deepseek_v3_37_billion() -> None:
    # As their model cards say; the input embedding, of which a token takes a row, is counted there.
    for model, embedding, active in (("qwen3-30b-a3b", 151_936 * 2_048, 3.3e9), ("deepseek-v3", 129_280 * 7_168, 37e9)):
        counted = rank_weights(config_of(model), EngineArgs(), gpu("h200"))[0]
        assert counted.flops_for(1) / 2 + embedding == pytest.approx(active, rel=0.02)


def test_counted_weights_are_those_of_the_published_files() -> None:
    counted = rank_weights(config_of("qwen2.5-7b"), EngineArgs(), gpu("rtx-4090"))[0]
    assert counted == QWEN


def test_experts_shared_among_replicas_are_computed_for_the_tokens_of_all() -> None:
    # Two replicas share 128 experts: each rank holds half and computes the tokens of both, as much as one alone would.
    args = EngineArgs(data_parallel_size=2, enable_expert_parallel=True)
    alone = rank_weights(config_of("qwen3-30b-a3b"), EngineArgs(), gpu("h100-80gb"))[0]
    shared = rank_weights(config_of("qwen3-30b-a3b"), args, gpu("h100-80gb"))[0]
    assert shared.expert_bytes == pytest.approx(alone.expert_bytes / 2, rel=1e-3)
    assert shared.flops_for(10, replicas=2) == pytest.approx(alone.flops_for(10), rel=1e-3)


def test_a_window_reads_no_more_than_itself() -> None:
    # gpt-oss-20b: 12 layers read 128 tokens, 12 all 8,000; 8 KV heads of 64, keys and values of 2 bytes.
    asked = server("gpt-oss-20b", gpu("h100-80gb"), (QWEN,))
    read = cache_bytes_read(asked.resolved.stages[0], asked.resolved.limits, 8_000)
    assert read == 2_048 * 12 * (128 + 8_000)


def test_states_are_read_and_written_whatever_the_length() -> None:
    # Qwen3.5-27B: 48 states of 48 heads * 128 * 128 * 4 bytes + (2 * 16 + 48) * 128 * 3 * 2 bytes.
    asked = server("qwen3.5-27b", gpu("h100-80gb"), (QWEN,))
    short, longer = (cache_bytes_read(asked.resolved.stages[0], asked.resolved.limits, n) for n in (1, 1_001))
    assert short == 2 * 48 * (48 * 128 * 128 * 4 + 80 * 128 * 3 * 2) + 16 * 4 * 512 * 2
    assert longer - short == 1_000 * 16 * 4 * 512 * 2


def test_mla_scores_and_values_are_over_the_latent() -> None:
    # DeepSeek-V3: 61 layers, 128 heads; a score costs 576 multiply-adds, a value 512.
    assert attention_flops(config_of("deepseek-v3"), 1_000, 1) == 61 * 128 * 2 * (576 + 512) * 1_000


@pytest.mark.parametrize(("tokens", "window", "expected"), [(5, 0, 15), (5, 2, 1 + 2 * 4), (5, 8, 15), (1, 1, 1)])
def test_pairs_of_causal_attention(tokens: int, window: int, expected: int) -> None:
    assert pairs(tokens, window) == expected == sum(min(i, window or i) for i in range(1, tokens + 1))


def test_chunks_attend_within_themselves() -> None:
    assert pairs(10, 4, chunked=True) == 10 + 10 + 3


@pytest.mark.parametrize(
    ("batch", "context", "field"), [(0, 10, "batch"), (1, 0, "context_tokens"), (1, 9_000, "context_tokens")]
)
def test_an_impossible_question_is_refused_by_field(batch: int, context: int, field: str) -> None:
    with pytest.raises(AnswerError) as refused:
        decode_bound(qwen(), batch, context)
    assert refused.value.field == field


def test_a_config_that_names_experts_but_has_no_layer_of_them_is_dense() -> None:
    # Nemotron-H-56B carries a count of routed experts; its layers are Mamba, attention and plain MLPs.
    (weights,) = rank_weights(config_of("nemotron-h-56b"), EngineArgs(), gpu("h200"))
    assert (weights.num_experts, weights.expert_bytes) == (0, 0)
