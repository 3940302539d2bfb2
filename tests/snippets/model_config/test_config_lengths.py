"""The longest request and the dtype, by vLLM's _get_and_verify_max_len and _resolve_auto_dtype."""

from __future__ import annotations

from typing import Any

import pytest

from snippets.model_config.model_config import ModelConfig
from snippets.model_config.read import read_config


def read(**fields: Any) -> ModelConfig:
    plain: dict[str, Any] = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "num_hidden_layers": 2,
        "hidden_size": 64,
        "num_attention_heads": 4,
        "max_position_embeddings": 4096,
        "torch_dtype": "bfloat16",
    }
    return read_config({key: value for key, value in {**plain, **fields}.items() if value is not ...})


@pytest.mark.parametrize(
    ("fields", "longest", "key"),
    [
        ({}, 4096, "max_position_embeddings"),
        ({"rope_scaling": {"type": "linear", "factor": 4.0}}, 16384, "max_position_embeddings"),
        ({"rope_scaling": {"type": "dynamic", "factor": 2.5}}, 10240, "max_position_embeddings"),
        ({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, 4096, "max_position_embeddings"),
        # YaRN counts from the length before it: 1024 x 4
        (
            {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}},
            4096,
            "rope_scaling.original_max_position_embeddings",
        ),
        ({"rope_scaling": {"type": "yarn", "factor": 4.0}}, 16384, "rope_scaling.original_max_position_embeddings"),
        ({"rope_parameters": {"rope_type": "linear", "factor": 2.0}}, 8192, "max_position_embeddings"),
        ({"rope_scaling": None}, 4096, "max_position_embeddings"),
        ({"seq_length": 1000}, 1000, "seq_length"),
        ({"seq_length": 1000, "model_max_length": 3000}, 3000, "model_max_length"),
        ({"max_position_embeddings": ..., "model_type": "gpt2", "n_positions": 512}, 512, "n_positions"),
    ],
)
def test_the_longest_length_and_where_it_came_from(fields: dict[str, Any], longest: int, key: str) -> None:
    config = read(**fields)
    assert (config.max_model_len, config.max_model_len_key) == (longest, key)
    assert config.default_max_model_len == longest


def test_longrope_allows_the_long_length_and_defaults_to_the_short_one() -> None:
    # microsoft/Phi-3-mini-128k-instruct: 131072 and 4096
    config = read(
        model_type="phi3",
        max_position_embeddings=131072,
        original_max_position_embeddings=4096,
        rope_scaling={"type": "longrope", "short_factor": [1.0], "long_factor": [1.0]},
    )
    assert (config.max_model_len, config.default_max_model_len) == (131072, 4096)


def test_gemma_3_is_published_with_its_scaled_length() -> None:
    config = read(model_type="gemma3_text", rope_scaling={"rope_type": "linear", "factor": 8.0})
    assert config.max_model_len == 4096


def test_without_any_length_vllm_takes_2048() -> None:
    fields = {"model_type": "falcon_mamba", "intermediate_size": 128, "state_size": 16, "conv_kernel": 4}
    config = read(max_position_embeddings=..., **fields)
    assert config.max_model_len == 2048
    assert any("vLLM takes 2048" in note for note in config.notes)


@pytest.mark.parametrize(
    ("fields", "dtype"),
    [
        ({}, "bfloat16"),
        ({"torch_dtype": "float16"}, "float16"),
        ({"torch_dtype": "float32"}, "bfloat16"),  # float32 checkpoints run in 16 bits
        ({"torch_dtype": ..., "dtype": "float16"}, "float16"),  # transformers 5 writes dtype
        ({"torch_dtype": "float32", "architectures": ["LlamaForTokenClassification"]}, "float16"),  # poolers prefer it
        ({"torch_dtype": "float32", "architectures": ["LlamaModel"]}, "bfloat16"),  # a generator by its class
        ({"torch_dtype": "float16", "model_type": "gemma2"}, "bfloat16"),  # Gemma 2 is unstable in float16
        ({"torch_dtype": "float8_e4m3fn"}, "bfloat16"),
        ({"torch_dtype": ...}, "bfloat16"),
    ],
)
def test_auto_dtype(fields: dict[str, Any], dtype: str) -> None:
    assert read(**fields).dtype == dtype


def test_an_absent_dtype_is_noted() -> None:
    assert any("names no dtype" in note for note in read(torch_dtype=...).notes)
