"""The budget of one rank: what is exact is exact, and the ranges follow the settings."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import pytest

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import Gpu, MissingFactError, gpu
from snippets.planner.engine_args import EngineArgs
from snippets.planner.estimate import Budget
from snippets.planner.memory.budget import estimate_budget
from snippets.planner.memory.coefficients import coefficients
from snippets.planner.memory.ranges import stated_spread
from snippets.planner.settings import resolve
from snippets.units import GIB

H100 = gpu("h100-80gb")
LLAMA_WEIGHTS = 16_060_522_496  # bytes, as vLLM loads Llama-3.1-8B


def budget(
    key: str, args: EngineArgs, weights: int = LLAMA_WEIGHTS, card: Gpu = H100, total: int | None = None
) -> Budget:
    config = catalog_config(key)
    return estimate_budget(config, card, args, resolve(config, args, card), weights, total_bytes=total)


def test_requested_memory_is_a_share_of_what_the_driver_reports_rounded_up() -> None:
    found = budget("llama-3.1-8b", EngineArgs(gpu_memory_utilization=0.9), total=85_029_158_912)
    assert found.total_bytes == 85_029_158_912
    assert found.requested_bytes == ceil(85_029_158_912 * 0.9) == 76_526_243_021


def test_available_is_what_the_parts_leave_low_with_high() -> None:
    found = budget("qwen3-30b-a3b", EngineArgs(), weights=57 * GIB)
    rest = found.requested_bytes - found.weights_bytes
    parts = (found.activation, found.non_torch, found.cuda_graphs)
    assert found.available.expected == rest - sum(part.expected for part in parts)
    assert found.available.low == rest - sum(part.high for part in parts)
    assert found.available.high == rest - sum(part.low for part in parts)
    assert found.available.low < found.available.expected < found.available.high


def test_kv_cache_memory_bytes_is_taken_as_it_is() -> None:
    found = budget("llama-3.1-8b", EngineArgs(kv_cache_memory_bytes=10 * GIB)).available
    assert (found.low, found.expected, found.high) == (10 * GIB,) * 3


def test_dense_models_run_on_the_v2_runner_which_subtracts_no_graphs() -> None:
    assert budget("llama-3.1-8b", EngineArgs()).cuda_graphs.high == 0


def test_mixtures_of_experts_pay_for_graphs_unless_eager() -> None:
    assert budget("qwen3-30b-a3b", EngineArgs()).cuda_graphs.low > 0
    assert budget("qwen3-30b-a3b", EngineArgs(enforce_eager=True)).cuda_graphs.high == 0


def test_more_batched_tokens_take_more_activation_memory() -> None:
    few, many = (budget("llama-3.1-8b", EngineArgs(max_num_batched_tokens=n)).activation for n in (2048, 16384))
    assert many.expected > 4 * few.expected


def test_sequences_cost_logits_on_the_v1_runner() -> None:
    few, many = (budget("qwen3-30b-a3b", EngineArgs(max_num_seqs=n)).activation for n in (256, 1024))
    more = 768 * 151936 * coefficients().bytes_per_logit_v1
    assert many.expected - few.expected == pytest.approx(more, rel=0.1)


def test_two_hoppers_keep_larger_buffers_outside_pytorch_than_two_3090s() -> None:
    args = EngineArgs(tensor_parallel_size=2, max_model_len=4096)
    assert budget("llama-3.1-8b", args).non_torch.expected > 1.5 * GIB
    assert budget("llama-3.1-8b", args, card=gpu("rtx-3090")).non_torch.expected < 0.5 * GIB


def test_stages_of_a_pipeline_keep_no_such_buffers() -> None:
    # Llama-3.1-8B on H100s: 0.25 GiB on one card, 2.07 GiB at two tensor-parallel ranks, 0.07 GiB at two stages.
    assert budget("llama-3.1-8b", EngineArgs(pipeline_parallel_size=2)).non_torch.expected < 0.5 * GIB


def test_only_the_last_stage_pays_for_the_sampler() -> None:
    config, args = catalog_config("qwen3-30b-a3b"), EngineArgs(pipeline_parallel_size=2)
    resolved = resolve(config, args, H100)
    first, last = (estimate_budget(config, H100, args, resolved, 29 * GIB, pp_rank=rank) for rank in (0, 1))
    assert first.activation.expected < last.activation.expected - GIB
    assert estimate_budget(config, H100, args, resolved, 29 * GIB) == last


def test_memory_may_come_out_negative_as_vllm_prints_it() -> None:
    found = budget("llama-3.1-8b", EngineArgs(max_model_len=2048), card=gpu("rtx-3060"))
    assert found.available.high < 0


def test_the_range_is_wider_than_the_logs_alone_make_it() -> None:
    fitted, stated = coefficients().spread["v1"], stated_spread()
    assert stated.low < fitted.low < 1 < fitted.high < stated.high


def test_qwen2_5_0_5b_of_a_0_26_log_takes_1_06_gib() -> None:
    # vLLM 0.26.0, LLM(), 32768 batched tokens: "1.06 GiB for peak activation, 0.07 GiB for non-torch memory".
    args = EngineArgs(max_num_batched_tokens=32768, usage="llm")
    found = budget("qwen2.5-0.5b", args, card=gpu("rtx-4060-ti-16gb"))
    assert found.activation.expected / GIB == pytest.approx(1.06, rel=0.06)
    assert found.non_torch.low / GIB < 0.07 < found.non_torch.high / GIB


def test_a_card_without_known_memory_is_refused_unless_the_bytes_are_given() -> None:
    config, args = catalog_config("llama-3.1-8b"), EngineArgs(max_model_len=4096)
    resolved = resolve(config, args, H100)
    unknown = replace(H100, visible_gib=None)
    with pytest.raises(MissingFactError, match="visible_gib"):
        estimate_budget(config, unknown, args, resolved, LLAMA_WEIGHTS)
    assert estimate_budget(config, unknown, args, resolved, LLAMA_WEIGHTS, total_bytes=80 * GIB).total_bytes == 80 * GIB
