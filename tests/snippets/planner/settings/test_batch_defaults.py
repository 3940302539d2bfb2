"""Defaults of the scheduler: the table of vLLM 0.26.0's get_batch_defaults (engine/arg_utils.py:2431-2512), by hand."""

from __future__ import annotations

import pytest

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.planner.engine_args import EngineArgs, EngineArgsError, SpeculativeConfig, Usage
from snippets.planner.resolved import Resolved
from snippets.planner.settings import resolve


def on(card: str, model: str = "llama-3.1-8b", **args: object) -> Resolved:
    return resolve(catalog_config(model), EngineArgs(**args), gpu(card))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("card", "usage", "tokens", "seqs"),
    [
        ("h100-80gb", "server", 8_192, 1_024),
        ("h100-80gb", "llm", 16_384, 1_024),
        ("mi300x", "server", 8_192, 1_024),
        ("a100-80gb", "server", 2_048, 256),  # 80 GB, but an A100
        ("a100-80gb", "llm", 8_192, 256),
        ("rtx-4090", "server", 2_048, 256),
        ("rtx-4090", "llm", 8_192, 256),
    ],
)
def test_defaults_follow_the_card_and_the_usage(card: str, usage: Usage, tokens: int, seqs: int) -> None:
    resolved = on(card, usage=usage)
    assert (resolved.max_num_batched_tokens, resolved.max_num_seqs) == (tokens, seqs)


def test_a_batch_is_never_longer_than_all_requests_together() -> None:
    resolved = on("h100-80gb", max_num_seqs=2, max_model_len=1_000)
    assert resolved.max_num_batched_tokens == 2_000


def test_no_more_requests_than_tokens_where_the_number_is_not_given() -> None:
    assert on("h100-80gb", max_num_batched_tokens=100).max_num_seqs == 100


def test_without_chunked_prefill_a_whole_prompt_fits_a_batch() -> None:
    assert on("rtx-4090", enable_chunked_prefill=False, max_model_len=30_000).max_num_batched_tokens == 30_000


def test_a_batch_below_the_number_of_requests_is_refused_in_vllms_words() -> None:
    with pytest.raises(EngineArgsError) as refused:
        on("h100-80gb", max_num_batched_tokens=8, max_num_seqs=9)
    assert str(refused.value) == "max_num_batched_tokens (8) must be greater than or equal to max_num_seqs (9)."


@pytest.mark.parametrize(
    ("pipeline", "asynchronous", "batches"),
    [(1, None, 2), (2, None, 3), (1, False, 1), (2, False, 2)],  # config/vllm.py:511: a dense model runs on V2
)
def test_a_dense_models_batches_in_flight(pipeline: int, asynchronous: bool | None, batches: int) -> None:
    resolved = on("h100-80gb", pipeline_parallel_size=pipeline, async_scheduling=asynchronous)
    assert resolved.limits.max_in_flight_tokens == batches * 8_192


def test_an_experts_model_on_the_v1_runner_has_one_batch_per_stage() -> None:
    assert on("h100-80gb", "mixtral-8x7b", pipeline_parallel_size=2).limits.max_in_flight_tokens == 2 * 8_192
    assert on("h100-80gb", "mixtral-8x7b").limits.max_in_flight_tokens == 2 * 8_192


def test_asynchronous_scheduling_is_off_for_speculation_that_blocks_it() -> None:
    assert not on("h100-80gb", speculative=SpeculativeConfig("ngram", 4)).async_scheduling
    with pytest.raises(EngineArgsError, match="async scheduling is only supported with EAGLE/MTP"):
        on("h100-80gb", speculative=SpeculativeConfig("ngram", 4), async_scheduling=True)


def test_prefix_caching_is_on_for_decoders_and_off_for_hybrids() -> None:
    assert on("h100-80gb").enable_prefix_caching
    assert not on("h100-80gb", "qwen3-next-80b-a3b").enable_prefix_caching
    assert not on("h100-80gb", "falcon-mamba-7b").enable_prefix_caching
