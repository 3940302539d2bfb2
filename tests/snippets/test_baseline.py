"""The site's baseline, against the planner's answer to the same question and the same sums done by hand."""

from dataclasses import replace
from itertools import product

import pytest
from planned import BASELINE, concurrency, other_memory, planned

from snippets import baseline
from snippets.planner import blocks
from snippets.planner.cache import plan_cache
from snippets.planner.memory import from_config
from snippets.planner.memory.profile_run import ProfileRun

GIB = 2**30
MODELS = {"qwen2.5-7b": baseline.WEIGHTS_BYTES, "qwen2.5-7b-awq": baseline.AWQ_WEIGHTS_BYTES}
KV_DTYPES = {"auto": baseline.BF16_BYTES, "fp8": baseline.FP8_BYTES}
OTHER = (baseline.OTHER_LOW_BYTES, baseline.OTHER_BYTES, baseline.OTHER_HIGH_BYTES)


def test_the_baseline_is_qwen2_5_7b_on_an_rtx_4090_at_0_92() -> None:
    assert (baseline.MODEL.key, baseline.CARD.key, baseline.UTILIZATION) == ("qwen2.5-7b", "rtx-4090", 0.92)
    assert baseline.WEIGHTS_BYTES == 15_231_233_024
    assert round(23.64 * GIB) == baseline.VISIBLE_BYTES


@pytest.mark.parametrize(("model", "kv_cache_dtype"), [*product(MODELS, KV_DTYPES)])
def test_weights_and_other_memory_are_the_planners_whatever_the_dtypes(model: str, kv_cache_dtype: str) -> None:
    plan = planned(model, replace(BASELINE, kv_cache_dtype=kv_cache_dtype))
    assert plan.weights_bytes == MODELS[model]
    assert other_memory(plan) == OTHER


@pytest.mark.parametrize("tokens", [2048, 8192])
def test_other_memory_follows_the_size_of_the_trial_run_as_the_planners(tokens: int) -> None:
    found = baseline.estimated_other(tokens)
    args = replace(BASELINE, max_num_batched_tokens=tokens)
    assert (found.low, found.expected, found.high) == other_memory(planned(args=args))


def test_llm_profiles_four_times_as_many_tokens_as_a_server() -> None:
    found = baseline.estimated_other(8192)
    assert (found.low, found.expected, found.high) == other_memory(planned(args=replace(BASELINE, usage="llm")))


def test_the_trial_run_of_the_baseline_is_the_one_the_planner_reads_from_the_config(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[ProfileRun] = []
    monkeypatch.setattr(baseline, "other_memory", lambda run, kind: seen.append(run))
    baseline.estimated_other()
    plan = planned()
    assert plan.resolved is not None
    assert seen == [from_config.profile_run(plan.config, plan.args, plan.resolved)]


@pytest.mark.parametrize("length", [512, 1000, 4096, 8192, 32_768])
@pytest.mark.parametrize(("model", "kv_cache_dtype"), [*product(MODELS, KV_DTYPES)])
def test_blocks_tokens_and_sequences_are_the_planners_at_any_length(
    model: str, kv_cache_dtype: str, length: int
) -> None:
    plan = planned(model, replace(BASELINE, kv_cache_dtype=kv_cache_dtype, max_model_len=length))
    weights, dtype_bytes = MODELS[model], KV_DTYPES[kv_cache_dtype]
    ends = zip((plan.cache_high, plan.cache, plan.cache_low), OTHER, strict=True)
    for cache, other in ends:
        assert cache is not None
        assert baseline.num_blocks(other, weights, kv_dtype_bytes=dtype_bytes) == cache.num_gpu_blocks
        assert baseline.tokens(other, weights, 0.92, dtype_bytes, length) == cache.kv_cache_size_tokens
        assert baseline.sequences(other, weights, 0.92, dtype_bytes, length) == cache.max_concurrency


@pytest.mark.parametrize("available", [0.05 * GIB, GIB, 6.1636 * GIB, 15.2 * GIB])
def test_the_lessons_simple_blocks_are_those_of_the_whole_plan(available: float) -> None:
    plan = planned()
    assert plan.resolved is not None
    stages, limits = plan.resolved.stages, replace(plan.resolved.limits, max_model_len=512)
    whole = plan_cache(stages, [int(available)], limits)
    simple = blocks.num_gpu_blocks(int(available), blocks.page_size_bytes(baseline.SHAPE, 16, 2), 28)
    assert simple == whole.num_gpu_blocks
    assert blocks.max_concurrency(simple, 16, 512) == whole.max_concurrency
    assert blocks.kv_cache_size_tokens(simple, 16, 512) == whole.kv_cache_size_tokens
    assert blocks.log_lines(simple, 16, 512) == whole.log_lines


def test_by_hand_6_16_gib_are_7213_blocks_and_14_09_sequences() -> None:
    # 1.4 GiB of other memory: 23.64 × 0.92 − 14.1852 − 1.4 = 6.1636 GiB, by 16 × 57,344 B = 7,213.3 blocks, by 512
    other = round(1.4 * GIB)
    assert baseline.available_bytes(other) / GIB == pytest.approx(6.1636, abs=1e-4)
    assert baseline.num_blocks(other) == 7213
    assert baseline.tokens(other) == 7213 * 16 == 115_408
    assert round(baseline.sequences(other), 2) == 14.09


@pytest.mark.parametrize(
    ("weights_bytes", "kv_dtype_bytes", "utilization", "expected"),
    [  # (23.64 GiB × utilization − weights − 1.4 GiB) / (16 × κ), in whole blocks, by 512 blocks
        (baseline.WEIGHTS_BYTES, 1, 0.92, "28.18"),
        (baseline.AWQ_LOADED_BYTES, 2, 0.92, "34.62"),
        (baseline.AWQ_LOADED_BYTES, 1, 0.92, "69.25"),
        (baseline.WEIGHTS_BYTES, 2, 0.90, "13.01"),
    ],
)
def test_by_hand_sequences_of_8192_tokens_that_fit_with_1_4_gib_of_other_memory(
    weights_bytes: int, kv_dtype_bytes: int, utilization: float, expected: str
) -> None:
    found = baseline.sequences(round(1.4 * GIB), weights_bytes, utilization, kv_dtype_bytes)
    assert f"{found:.2f}" == expected


def test_the_activation_peak_is_that_of_the_mlp_counted_by_hand() -> None:
    # 2,048 tokens × 2 B × (3 × 3,584 hidden + 3 × 18,944 MLP) = 276,824,064 B, times the fitted factor of the logs
    plan = planned()
    assert plan.budget is not None
    assert plan.budget.activation.expected == pytest.approx(276_824_064, rel=0.1)


def test_a_shorter_max_model_len_changes_the_concurrency_and_not_the_blocks() -> None:
    assert baseline.sequences(max_model_len=4096) == 2 * baseline.sequences(max_model_len=8192)
    assert baseline.tokens(max_model_len=4096) == baseline.tokens(max_model_len=8192)


def test_the_log_would_say_so() -> None:
    plan = planned()
    assert plan.cache is not None
    lines = blocks.log_lines(baseline.num_blocks(), baseline.BLOCK_SIZE, baseline.MAX_MODEL_LEN)
    assert lines == plan.cache.log_lines
    assert f"{concurrency(plan):.2f}x" in lines[1]


def test_awq_as_loaded_is_a_little_more_than_counted() -> None:
    # vLLM printed 5.20 GiB; 5.188 GiB by counting
    assert 0 < baseline.AWQ_LOADED_BYTES - baseline.AWQ_WEIGHTS_BYTES < 0.02 * GIB
