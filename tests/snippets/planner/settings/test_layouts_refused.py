"""Layouts that vLLM 0.26.0 refuses; each sentence in quotes is its own (run on its model classes, tests/oracle)."""

from __future__ import annotations

import pytest

from snippets.catalog.configs import catalog_config, config_entries
from snippets.catalog.gpus import gpu
from snippets.model_config.read import read_config
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings import layout_errors, resolve


def refusals(model: str, **args: object) -> list[str]:
    return [str(error) for error in layout_errors(catalog_config(model), EngineArgs(**args))]  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32])
def test_a_model_of_32_heads_and_8_kv_heads_splits_over_powers_of_two(size: int) -> None:
    assert refusals("llama-3.1-8b", tensor_parallel_size=size) == []


def test_heads_must_divide() -> None:
    assert refusals("llama-3.1-8b", tensor_parallel_size=3)[0] == (
        "Total number of attention heads (32) must be divisible by tensor parallel size (3)."
    )


def test_kv_heads_must_divide_or_be_copied_evenly() -> None:
    errors = refusals("phi-4", tensor_parallel_size=4)  # 40 heads, 10 KV heads
    assert "10 KV heads cannot be split over 4 ranks" in errors[0]


def test_the_padded_vocabulary_must_divide() -> None:
    errors = refusals("phi-4", tensor_parallel_size=5)  # 100,352 = 64 × 1,568
    assert len(errors) == 1
    assert errors[0].startswith("100352 is not divisible by 5")


def test_fp8_blocks_must_stay_whole() -> None:
    assert refusals("qwen3-30b-a3b", tensor_parallel_size=4) == []
    assert refusals("qwen3-30b-a3b-fp8", tensor_parallel_size=4) == [
        "The output_size of gate's and up's weight = 192 is not divisible by weight quantization block_n = 128."
    ]


def test_expert_parallelism_leaves_experts_whole_and_needs_experts() -> None:
    assert refusals("qwen3-30b-a3b-fp8", tensor_parallel_size=4, enable_expert_parallel=True) == []
    assert refusals("llama-3.1-8b", enable_expert_parallel=True) == [
        "Number of experts in the model must be greater than 0 when expert parallelism is enabled."
    ]


def test_experts_are_split_over_data_parallel_ranks_too() -> None:
    assert refusals("qwen3-30b-a3b-fp8", tensor_parallel_size=2) == []  # 768 / 2 = 384 = 3 × 128
    assert "= 192 is not divisible" in refusals("qwen3-30b-a3b-fp8", tensor_parallel_size=2, data_parallel_size=2)[0]


def test_decode_context_parallel_needs_copied_kv_heads_and_divides_the_ranks() -> None:
    assert refusals("llama-3.1-8b", tensor_parallel_size=16, decode_context_parallel_size=2) == []
    assert refusals("llama-3.1-8b", tensor_parallel_size=16, decode_context_parallel_size=3)[0] == (
        "tp_size=16 must be divisible by dcp_size=3."
    )
    assert refusals("llama-3.1-8b", tensor_parallel_size=8, decode_context_parallel_size=2) == [
        "tensor parallel size 8 must be greater than total num kv heads 8 when enable decode context parallel for "
        "GQA/MQA"
    ]
    assert refusals("deepseek-v3", tensor_parallel_size=8, decode_context_parallel_size=8) == []
    assert "DCP not support sliding window." in refusals(
        "mistral-7b-v0.1", tensor_parallel_size=16, decode_context_parallel_size=2
    )


def test_gpt_oss_does_not_copy_kv_heads() -> None:
    assert refusals("gpt-oss-20b", tensor_parallel_size=8) == []
    assert "gpt-oss does not copy its 8 KV heads to 16 ranks" in refusals("gpt-oss-20b", tensor_parallel_size=16)[0]


def test_groups_of_mamba_2_must_divide() -> None:
    errors = refusals("nemotron-3-super-fp8", tensor_parallel_size=16)
    assert any(error.startswith("If tensor parallel world size does not divide num_groups") for error in errors)


def test_a_stage_without_a_layer_is_refused() -> None:
    assert "leaves a stage without a layer" in refusals("qwen2.5-0.5b", pipeline_parallel_size=25)[0]


@pytest.mark.parametrize("name", ["tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"])
def test_sizes_start_at_one(name: str) -> None:
    assert refusals("llama-3.1-8b", **{name: 0}) == [f"{name} must be at least 1, got 0"]


def test_a_dropped_class_that_transformers_has_is_not_planned_and_not_said_to_be_refused() -> None:
    """vLLM tries its Transformers backend first: the oracle plans Llama-3.2-11B-Vision-Instruct so."""
    mllama, phi = (
        {**config_entries()["llama-3.1-8b"].config, "architectures": [name]}
        for name in ("MllamaForConditionalGeneration", "Phi3SmallForCausalLM")
    )
    with pytest.raises(EngineArgsError, match="not planned here") as fallen_back:
        resolve(read_config(mllama), EngineArgs(), gpu("h200"))
    with pytest.raises(EngineArgsError, match=r"supported in vLLM until v0\.9\.2") as dropped:
        resolve(read_config(phi), EngineArgs(), gpu("h200"))
    assert (fallen_back.value.from_vllm, dropped.value.from_vllm) == (False, True)
