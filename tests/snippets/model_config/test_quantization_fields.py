"""How the weights are stored, from every place and form in which checkpoints say it."""

from __future__ import annotations

from typing import Any

import pytest

from snippets.model_config.model_config import ConfigError, Quantization
from snippets.model_config.read import read_config

PLAIN: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "torch_dtype": "bfloat16",
}


def quantization(config: dict[str, Any] | None, side: dict[str, Any] | None = None, **fields: Any) -> Quantization:
    found = read_config({**PLAIN, **({"quantization_config": config} if config else {}), **fields}, side).quantization
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        # Qwen/Qwen2.5-7B-Instruct-AWQ
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm"}, ("awq", 4, 128, None)),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1, "desc_act": True}, ("gptq", 8, None, None)),
        # deepseek-ai/DeepSeek-V3
        (
            {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
            ("fp8", 8, None, None),
        ),
        # openai/gpt-oss-20b
        ({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}, ("mxfp4", 4, 32, None)),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, ("bitsandbytes", 4, None, None)),
        # moonshotai/Kimi-K2.5
        (
            {
                "quant_method": "compressed-tensors",
                "format": "pack-quantized",
                "kv_cache_scheme": None,
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 32, "type": "int"}}},
            },
            ("compressed-tensors", 4, 32, None),
        ),
        # llm-compressor's FP8 cache: vLLM attention.py then stores FP8
        (
            {
                "quant_method": "compressed_tensors",
                "config_groups": {"group_0": {"weights": {"num_bits": 8}}},
                "kv_cache_scheme": {"num_bits": 8, "type": "float", "dynamic": False},
            },
            ("compressed-tensors", 8, None, "fp8"),
        ),
        # nvidia/Gemma-4-31B-IT-NVFP4
        (
            {
                "quant_method": "modelopt",
                "quant_algo": "NVFP4",
                "producer": {"name": "modelopt", "version": "0.37.0"},
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 16, "type": "float"}}},
                "kv_cache_scheme": {"dynamic": False, "num_bits": 8, "type": "float"},
            },
            ("modelopt_fp4", 4, 16, "fp8_e4m3"),
        ),
    ],
    ids=lambda value: str(value.get("quant_method")) if isinstance(value, dict) else "",
)
def test_method_bits_group_and_cache_are_read(config: dict[str, Any], expected: tuple[object, ...]) -> None:
    found = quantization(config)
    assert (found.method, found.bits, found.group_size, found.kv_cache_dtype) == expected
    assert found.fields == config


def test_a_side_file_counts_where_the_config_says_nothing() -> None:
    # nvidia/Qwen3-235B-A22B-NVFP4 hf_quant_config.json
    side = {
        "producer": {"name": "modelopt", "version": "0.33.0"},
        "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "group_size": 16},
    }
    found = quantization(None, side)
    assert (found.method, found.bits, found.group_size, found.kv_cache_dtype) == ("modelopt_fp4", 4, 16, "fp8_e4m3")


def test_the_config_wins_over_the_side_file() -> None:
    assert quantization({"quant_method": "awq", "bits": 4}, {"quantization": {"quant_algo": "FP8"}}).method == "awq"


def test_quantization_may_stand_inside_text_config() -> None:
    text = {**PLAIN, "quantization_config": {"quant_method": "fp8"}}
    config = read_config({"model_type": "llava", "text_config": text})
    assert config.quantization is not None
    assert config.quantization.method == "fp8"
    assert "text_config.quantization_config" in config.used


def test_fp8_without_quant_method_is_told_by_its_blocks() -> None:
    assert quantization({"weight_block_size": [128, 128], "fmt": "e4m3"}).method == "fp8"


def test_an_unknown_modelopt_algorithm_is_refused() -> None:
    with pytest.raises(ConfigError, match="FP8 and NVFP4 are what vLLM") as caught:
        quantization(None, {"quantization": {"quant_algo": "W4A8_AWQ"}})
    assert caught.value.field == "hf_quant_config.quantization.quant_algo"


def test_no_quantization_is_none() -> None:
    assert read_config(PLAIN).quantization is None
