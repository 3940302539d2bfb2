"""What a config cannot say: each refusal names the field, the value and what is possible."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from snippets.model_config.model_config import AttentionCache, ConfigError
from snippets.model_config.read import read_config

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 4,
    "hidden_size": 256,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "max_position_embeddings": 4096,
    "torch_dtype": "bfloat16",
}


def fault(**changes: Any) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        read_config({key: value for key, value in {**LLAMA, **changes}.items() if value is not ...})
    return caught.value


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"num_hidden_layers": ...}, "num_hidden_layers", "is missing"),
        ({"hidden_size": None}, "hidden_size", "is null"),
        ({"num_hidden_layers": True}, "num_hidden_layers", "is true: a whole number"),
        ({"num_hidden_layers": "4"}, "num_hidden_layers", 'is "4": a whole number'),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers", "at most 4,096"),
        ({"num_attention_heads": 0}, "num_attention_heads", "at least 1"),
        ({"num_key_value_heads": 3}, "num_key_value_heads", "does not divide 8"),
        ({"hidden_size": 4096.5}, "hidden_size", "is 4096.5"),
        ({"max_position_embeddings": -1}, "max_position_embeddings", "at least 1"),
        ({"torch_dtype": "int3"}, "torch_dtype", 'is "int3"'),
        ({"layer_types": ["full_attention"] * 3}, "layer_types", "has 3 entries, but there are 4 layers"),
        ({"layer_types": ["full_attention", "lightning"] * 2}, "layer_types[1]", 'is "lightning"'),
        ({"rope_scaling": {"rope_type": "linear", "factor": "2"}}, "rope_scaling.factor", "a positive number"),
        ({"quantization_config": {"bits": 4}}, "quantization_config.quant_method", "is missing"),
        ({"text_config": "x"}, "text_config", "an object is needed"),
        ({"model_type": "qwen2", "head_dim": 64}, "head_dim", "hidden_size / num_attention_heads = 32"),
        ({"model_type": "gpt_neox"}, "num_key_value_heads", "keeps all 8 heads"),
        ({"model_type": "nemotron_h"}, "hybrid_override_pattern", "is missing"),
        ({"model_type": "nemotron_h", "hybrid_override_pattern": "M*MX"}, "hybrid_override_pattern", 'has "X" at 3'),
        ({"model_type": "longcat_flash", "num_layers": 4}, "model_type", "28 or 56 layers"),
        ({"model_type": "gemma3"}, "text_config", "is missing"),
        ({"model_type": "bart", "is_encoder_decoder": True}, "is_encoder_decoder", "Whisper is known"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name(changes: dict[str, Any], field: str, says: str) -> None:
    error = fault(**changes)
    assert error.field == field
    assert says in str(error)
    assert error.field.split("[")[0] in str(error)


def test_qwen2_with_a_window_in_some_layers_is_refused_as_vllm_refuses_it() -> None:
    error = fault(model_type="qwen2", sliding_window=64, use_sliding_window=True, max_window_layers=2)
    assert error.field == "max_window_layers"


def test_an_unknown_plain_decoder_is_read_and_a_note_says_so() -> None:
    config = read_config({**LLAMA, "model_type": "never_seen", "architectures": ["NeverSeenForCausalLM"]})
    assert set(config.layers) == {(AttentionCache("full", 2, 32, 32),)}
    assert any('"never_seen" is not known here: read as a plain decoder' in note for note in config.notes)
    assert any("no class for NeverSeenForCausalLM" in note for note in config.notes)


@pytest.mark.parametrize(
    "hint",
    [
        {"sliding_window": 512},
        {"kv_lora_rank": 512},
        {"ssm_state_size": 64},
        {"layer_types": ["full_attention", "mystery"] * 2},
        {"mamba_expand": 2},
        {"conv_kernel": 4},
        {"compress_ratio": 4},
        {"attention_chunk_size": 8192},
        {"num_kv_shared_layers": 2},
        {"global_head_dim": 512},
    ],
    ids=lambda hint: next(iter(hint)),
)
def test_an_unknown_model_with_a_hint_of_another_cache_is_refused(hint: dict[str, Any]) -> None:
    error = fault(model_type="never_seen", architectures=["NeverSeenForCausalLM"], **hint)
    assert error.field == next(iter(hint))
    assert "its layers may cache something else" in str(error)


@pytest.mark.parametrize(
    "off", [{"sliding_window": None}, {"use_sliding_window": False}, {"layer_types": ["full_attention"] * 4}]
)
def test_a_hint_that_is_switched_off_is_none(off: dict[str, Any]) -> None:
    config = read_config({**LLAMA, "model_type": "never_seen", "architectures": ["NeverSeenForCausalLM"], **off})
    assert len(config.layers) == 4


def test_an_unknown_model_that_does_not_generate_is_refused() -> None:
    assert fault(model_type="never_seen", architectures=["NeverSeenForMaskedLM"]).field == "model_type"


def test_a_nested_text_config_may_lack_the_sizes_of_its_class_and_a_whole_config_may_not() -> None:
    nested = {"model_type": "llava", "architectures": ["LlavaForConditionalGeneration"]}
    config = read_config({**nested, "text_config": {"model_type": "llama", "vocab_size": 32064}})
    assert (len(config.layers), config.hidden_size) == (32, 4096)
    assert fault(num_hidden_layers=...).field == "num_hidden_layers"


def test_qwen_omni_nests_its_decoder_twice() -> None:
    text = {**LLAMA, "model_type": "qwen2_5_omni_text", "architectures": None}
    thinker = {"model_type": "qwen2_5_omni_thinker", "text_config": text}
    config = read_config(
        {"model_type": "qwen2_5_omni", "architectures": ["Qwen2_5OmniModel"], "thinker_config": thinker}
    )
    assert config.text_fields is text
    assert config.is_multimodal
    assert "thinker_config.text_config.hidden_size" in config.used


def test_a_searched_architecture_has_heads_of_its_own_in_every_block_and_may_skip_one() -> None:
    # nvidia/Llama-3_3-Nemotron-Super-49B-v1: 64 heads, 8 to a group, and blocks without attention
    blocks = [
        {"attention": {"n_heads_in_group": 4, "no_op": False}},
        {"attention": {"n_heads_in_group": None, "no_op": True}},
    ]
    config = read_config(
        {**LLAMA, "model_type": "nemotron-nas", "num_key_value_heads": None, "block_configs": blocks * 2}
    )
    assert config.layers == ((AttentionCache("full", 2, 32, 32),), ()) * 2
    assert config.num_kv_heads == 2


def test_equal_configs_give_equal_answers() -> None:
    first, second = read_config(dict(LLAMA)), read_config(dict(LLAMA))
    assert first == second
    assert dataclasses.replace(first, dtype="float16") != second
