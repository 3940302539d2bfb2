"""Published config.json files, by the fields that count: what they say, and what vLLM's classes make of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from snippets.model_config.model_config import AttentionCache, ModelConfig
from snippets.model_config.read import read_config

DATA = json.loads((Path(__file__).parent / "published.json").read_text(encoding="utf-8"))
CONFIGS = {str(row["repo"]): row for row in DATA["configs"]}


def read(repo: str) -> ModelConfig:
    return read_config(CONFIGS[repo]["fields"])


def kinds(config: ModelConfig) -> Counter[str]:
    return Counter("+".join(cache.kind for cache in layer) or "nothing" for layer in config.layers)


@pytest.mark.parametrize("repo", CONFIGS)
def test_sizes_are_what_the_file_says(repo: str) -> None:
    config = read(repo)
    said = CONFIGS[repo]["published"]
    ours = {
        "layers": len(config.layers),
        "num_attention_heads": config.num_attention_heads,
        "num_kv_heads": config.num_kv_heads,
        "head_size": config.head_size,
    }
    # vLLM takes the larger of Gemma 4's two head sizes where it wants one (Gemma4ModelArchConfigConvertor).
    said = {key: value for key, value in said.items() if not ("gemma-4" in repo.lower() and key == "head_size")}
    assert {key: ours[key] for key in said} == said


def test_qwen2_5_names_a_window_that_is_switched_off() -> None:
    assert kinds(read("Qwen/Qwen2.5-7B-Instruct")) == {"full": 28}


def test_mistral_7b_v0_1_slides_in_every_layer_and_v0_3_in_none() -> None:
    assert kinds(read("mistralai/Mistral-7B-v0.1")) == {"sliding": 32}
    assert kinds(read("mistralai/Mistral-7B-Instruct-v0.3")) == {"full": 32}


def test_gemma_4_31b_keeps_both_k_and_v_of_its_4_global_heads() -> None:
    layer = next(layer for layer in read("nvidia/Gemma-4-31B-IT-NVFP4").layers if layer[0].kind == "full")
    assert layer == (AttentionCache("full", 4, 512, 512),)


def test_gemma_4_e2b_and_e4b_share_the_caches_of_their_last_layers() -> None:
    assert kinds(read("google/gemma-4-E2B")) == {"sliding": 12, "full": 3, "nothing": 20}
    assert kinds(read("google/gemma-4-E4B")) == {"sliding": 20, "full": 4, "nothing": 18}


def test_gemma_3_27b_leaves_its_map_length_and_vocabulary_to_the_class() -> None:
    config = read("google/gemma-3-27b-it")
    assert kinds(config) == {"sliding": 52, "full": 10}
    assert (config.max_model_len, config.vocab_size) == (131072, 262208)
    assert any("max_position_embeddings is absent" in note for note in config.notes)


def test_minicpm3_has_mla_weights_but_vllm_caches_all_its_heads() -> None:
    config = read("openbmb/MiniCPM3-4B")
    assert not config.use_mla
    assert set(config.layers) == {(AttentionCache("full", 40, 96, 96),)}  # 64 without and 32 with rotary position


def test_deepseek_vl2_tiny_is_not_mla() -> None:
    config = read("deepseek-ai/deepseek-vl2-tiny")
    assert not config.use_mla
    assert set(config.layers) == {(AttentionCache("full", 10, 128, 128),)}


def test_glm_5_2_has_an_indexer_in_21_of_its_78_layers() -> None:
    assert kinds(read("zai-org/GLM-5.2")) == {"mla+indexer": 21, "mla": 57}


def test_nemotron_3_super_attends_in_8_of_88_layers() -> None:
    counted = kinds(read("nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8"))
    assert counted == {"mamba2": 40, "nothing": 40, "full": 8}


def test_nemotron_3_ultra_counts_its_layers_by_its_map() -> None:
    counted = kinds(read("nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4"))
    assert counted == {"mamba2": 48, "nothing": 48, "full": 12}


def test_falcon_mamba_takes_intermediate_size_and_not_expand() -> None:
    assert read("tiiuae/falcon-mamba-7b").layers[0][0] == read("tiiuae/falcon-mamba-7b").layers[-1][0]
    assert dict(read("tiiuae/falcon-mamba-7b").layers[0][0].dims)["intermediate_size"] == 8192  # type: ignore[union-attr]


def test_whisper_caches_1500_encoder_tokens_in_its_decoder_layers() -> None:
    config = read("openai/whisper-large-v3")
    assert kinds(config) == {"full+cross": 32}
    assert config.max_encoder_tokens == 1500


def test_bge_m3_caches_nothing_and_runs_as_an_embedder() -> None:
    config = read("BAAI/bge-m3")
    assert kinds(config) == {"encoder_only": 24}
    assert config.is_pooling


def test_an_embedding_model_under_a_generators_class_says_what_its_runner_depends_on() -> None:
    config = read("intfloat/e5-mistral-7b-instruct")
    assert (config.architecture, config.is_pooling) == ("MistralModel", False)
    assert any("modules.json" in note for note in config.notes)


def test_qwen_7b_takes_the_smaller_of_its_two_lengths() -> None:
    config = read("Qwen/Qwen-7B")
    assert (config.max_model_len, config.max_model_len_key) == (8192, "seq_length")
    assert "0.23.0 was the last version" in config.unsupported


def test_llava_1_5_takes_llamas_default_sizes() -> None:
    config = read("llava-hf/llava-1.5-7b-hf")
    assert (len(config.layers), config.hidden_size, config.num_attention_heads) == (32, 4096, 32)
    assert any("num_hidden_layers is absent" in note for note in config.notes)
