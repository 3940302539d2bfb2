"""Weights against figures from elsewhere: published parameter counts, file sizes and vLLM's start-up logs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from snippets.catalog.configs import catalog_config
from snippets.catalog.models import models
from snippets.model_config.read import read_config
from snippets.planner.engine_args import EngineArgs, SpeculativeConfig
from snippets.planner.weights import WeightsError, checkpoint_parameters, drafter_weight_bytes, rank_weight_bytes
from snippets.units import GIB

# parameter counts of Hugging Face's own classes or of the published weight files
PARAMETERS = {
    "qwen2.5-0.5b": 494_032_768,
    "qwen2.5-72b": 72_706_203_648,
    "llama-2-7b": 6_738_415_616,
    "llama-3-8b": 8_030_261_248,
    "llama-3.1-405b": 405_853_388_800,
    "llama-3.2-1b": 1_235_814_400,
    "mistral-7b-v0.1": 7_241_732_096,
    "mistral-nemo": 12_247_782_400,
    "mixtral-8x22b": 140_620_634_112,
    "gemma-2-2b": 2_614_341_888,
    "gemma-3-1b": 999_885_952,
    "qwen3-235b-a22b": 235_093_634_560,
    "phi-4": 14_659_507_200,
    "exaone-4.0-32b": 32_003_216_384,
    "olmo-3.1-32b": 32_233_522_176,
    "granite-3.3-8b": 8_170_864_640,
    "gpt2": 124_439_808,
    "opt-13b": 12_853_473_280,
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
    "deepseek-v2-lite": 15_706_484_224,
}


@pytest.mark.parametrize(("key", "published"), PARAMETERS.items(), ids=PARAMETERS)
def test_parameters_are_those_published(key: str, published: int) -> None:
    assert checkpoint_parameters(catalog_config(key)) == published


# the decoder's count alone, without routing corrections (DeepSeek) and towers (Gemma)
@pytest.mark.parametrize("key", sorted(models().keys() - {"deepseek-v3", "gemma-3-27b"}))
def test_the_lessons_models_have_the_parameters_of_the_lessons(key: str) -> None:
    assert checkpoint_parameters(catalog_config(key)) == models()[key].num_parameters


def test_an_awq_checkpoint_is_its_two_files_but_for_their_headers() -> None:
    # Qwen2.5-7B-Instruct-AWQ: model files of 3,996,422,976 and 1,574,406,784 bytes, each with a JSON header
    headers = 3_996_422_976 + 1_574_406_784 - rank_weight_bytes(catalog_config("qwen2.5-7b-awq"), EngineArgs())
    assert 0 < headers < 100_000


# (log of the collection in snippets/planner/evidence, tensor parallel size, GiB in “Model loading took”)
LOGS = {
    "L001": ("qwen2.5-7b", 1, 14.2488),
    "L003": ("qwen2.5-7b", 2, 7.1217),
    "L006": ("llama-3-8b", 4, 3.7418),
    "L008": ("llama-3-8b", 1, 14.9596),
    "L011": ("qwen2.5-3b", 1, 5.79),
    "L019": ("qwen2.5-32b", 4, 15.39),
    "L027": ("qwen3-8b", 2, 7.7),
    "L031": ("llama-2-13b", 1, 24.2841),
    "L045": ("qwen3-30b-a3b", 1, 56.9342),
    "L048": ("qwen2.5-14b-awq", 1, 9.3795),
    "L089": ("qwen3-4b", 1, 7.63),
    "L095": ("llama-3.1-8b", 1, 14.9888),
    "L103": ("deepseek-v2-lite", 1, 29.301),
    "L141": ("qwen2.5-7b", 1, 14.25),
    "L153": ("qwen3-30b-a3b", 4, 14.25),
}


@pytest.mark.parametrize(("key", "ranks", "printed"), LOGS.values(), ids=LOGS)
def test_a_log_prints_the_weights_and_at_most_two_percent_more(key: str, ranks: int, printed: float) -> None:
    # What is more: rotary tables, and copies that kernels want in another order.
    counted = rank_weight_bytes(catalog_config(key), EngineArgs(tensor_parallel_size=ranks)) / GIB
    assert 1 <= printed / counted < 1.02


# A100 and H100 of vLLM 0.10.1: Marlin kernels, which pad to 256 and 128
MXFP4_LOGS = {
    "L054": ("gpt-oss-120b", 4, 17.2217),
    "L160": ("gpt-oss-20b", 1, 13.72),
    "L163": ("gpt-oss-120b", 1, 65.9651),
}


@pytest.mark.parametrize(("key", "ranks", "printed"), MXFP4_LOGS.values(), ids=MXFP4_LOGS)
def test_a_log_prints_padded_experts(key: str, ranks: int, printed: float) -> None:
    args = EngineArgs(tensor_parallel_size=ranks)
    assert 1 <= printed * GIB / rank_weight_bytes(catalog_config(key), args, None, (8, 0)) < 1.005


def test_each_of_32_ranks_holds_a_copy_of_one_of_8_kv_heads() -> None:
    # by hand: q 1, k 1 and v 1 head of 128 in 4096; o 128; MLP 14336 / 32 = 448; two norms; 4008 rows twice
    layer = (3 * 128 * 4096 + 128 * 4096 + 3 * 448 * 4096 + 2 * 4096) * 2
    expected = 32 * layer + 2 * (128_256 // 32) * 4096 * 2 + 4096 * 2
    assert rank_weight_bytes(catalog_config("llama-3-8b"), EngineArgs(tensor_parallel_size=32)) == expected


def test_eight_bits_made_on_loading_halve_the_matrices_and_leave_embeddings() -> None:
    # by hand: Llama-3-8B has 2 × 128256 × 4096 numbers in embeddings, 65 × 4096 in norms; a scale per logical matrix
    plain = 2 * 128_256 * 4096 + 65 * 4096
    matrices = 8_030_261_248 - plain
    expected = matrices + 2 * plain + 32 * 7 * 4
    assert rank_weight_bytes(catalog_config("llama-3-8b"), EngineArgs(quantization="fp8")) == expected


def test_a_whole_drafter_stands_on_every_rank_s_part_of_the_last_stage() -> None:
    draft = catalog_config("llama-3.2-1b")
    args = EngineArgs(tensor_parallel_size=2, speculative=SpeculativeConfig("draft_model", 3, draft))
    alone = rank_weight_bytes(draft, EngineArgs(tensor_parallel_size=2))
    assert drafter_weight_bytes(catalog_config("llama-3-70b"), args) == alone


def test_ngram_drafts_without_weights() -> None:
    args = EngineArgs(speculative=SpeculativeConfig("ngram", 3))
    assert drafter_weight_bytes(catalog_config("llama-3-8b"), args) == 0


def test_an_unknown_class_is_refused_with_the_way_out() -> None:
    fields = {**catalog_config("llama-3-8b").fields, "architectures": ["NeverSeenForCausalLM"]}
    unknown = replace(
        read_config(catalog_config("llama-3-8b").fields), architecture="NeverSeenForCausalLM", fields=fields
    )
    with pytest.raises(WeightsError, match=r"NeverSeenForCausalLM are not counted here\..*--weights-gib.*total_size"):
        rank_weight_bytes(unknown, EngineArgs())


def test_an_eagle_drafter_is_refused_by_name() -> None:
    args = EngineArgs(speculative=SpeculativeConfig("eagle3", 3))
    with pytest.raises(WeightsError, match="drafter of kind “eagle3”"):
        drafter_weight_bytes(catalog_config("llama-3-8b"), args)


def test_bitsandbytes_is_refused_by_name() -> None:
    fields = {**catalog_config("llama-3-8b").fields, "quantization_config": {"quant_method": "bitsandbytes"}}
    with pytest.raises(WeightsError, match="stored as “bitsandbytes”"):
        rank_weight_bytes(read_config(fields), EngineArgs())


def test_a_modelopt_list_without_exceptions_is_refused() -> None:
    with pytest.raises(WeightsError, match="list of modules left in 16 bits is missing"):
        rank_weight_bytes(catalog_config("nemotron-3-super-fp8"), EngineArgs())


def test_a_pattern_that_is_no_regular_expression_is_refused() -> None:
    weights = {"num_bits": 8, "type": "float", "strategy": "channel", "dynamic": False, "symmetric": True}
    quantization = {
        "quant_method": "compressed-tensors",
        "format": "float-quantized",
        "ignore": ["re:(lm_head"],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": None}},
    }
    fields = {**catalog_config("llama-3-8b").fields, "quantization_config": quantization}
    with pytest.raises(WeightsError, match="is no regular expression"):
        rank_weight_bytes(read_config(fields), EngineArgs())


# MiMo-7B's published config; vLLM's classes on the meta device, with a Qwen2Config of model_type "mimo"
MIMO = {
    **{"architectures": ["MiMoForCausalLM"], "model_type": "mimo", "torch_dtype": "bfloat16", "vocab_size": 151_680},
    **{"hidden_size": 4096, "intermediate_size": 11_008, "num_hidden_layers": 36, "num_attention_heads": 32},
    **{"num_key_value_heads": 8, "max_position_embeddings": 32_768, "num_nextn_predict_layers": 1},
}


@pytest.mark.parametrize(
    ("ranks", "weights", "drafter"), [(1, 15_245_238_272, 2_906_705_920), (2, 7_622_918_144, 1_486_927_872)]
)
def test_mimo_7b_drafts_with_one_qwen2_layer(ranks: int, weights: int, drafter: int) -> None:
    config = read_config(MIMO)
    args = EngineArgs(tensor_parallel_size=ranks, speculative=SpeculativeConfig("mtp", 1))
    assert rank_weight_bytes(config, args) == weights
    shared = 2 * (151_680 // ranks) * 4096 * 2  # the class's own embedding and lm_head give way to the target's
    assert drafter_weight_bytes(config, args) == drafter - shared
