"""Parameter counts, against Hugging Face's model classes; bytes, against published checkpoints.

The counts were taken with transformers 5.24.0 and torch 2.13.0: `AutoModelForCausalLM.from_config` on the meta device
from the published config.json without its quantisation, summing `parameters()` after `tie_weights()`.
"""

from dataclasses import replace

import pytest

from snippets.catalog.models import WeightFormat, model, models
from snippets.kv_shapes import KVShape
from snippets.parameters import Parameters, count_parameters, embedding_parameters, published_weight_bytes, weight_bytes

COUNTED = {  # class, number of parameters
    "qwen2.5-7b": ("Qwen2ForCausalLM", 7_615_616_512),
    "qwen2.5-7b-awq": ("Qwen2ForCausalLM", 7_615_616_512),  # the model before quantisation
    "llama-3-8b": ("LlamaForCausalLM", 8_030_261_248),
    "llama-3-70b": ("LlamaForCausalLM", 70_553_706_496),
    "llama-2-7b": ("LlamaForCausalLM", 6_738_415_616),
    "llama-2-70b": ("LlamaForCausalLM", 68_976_648_192),
    "mistral-7b-v0.1": ("MistralForCausalLM", 7_241_732_096),
    "mistral-7b-v0.3": ("MistralForCausalLM", 7_248_023_552),
    "opt-13b": ("OPTForCausalLM", 12_853_473_280),
    "deepseek-v3": ("DeepseekV3ForCausalLM", 671_026_404_352),  # without the MTP layer
    "santacoder": ("GPTBigCodeForCausalLM", 1_124_886_528),
    "qwen3-4b": ("Qwen3ForCausalLM", 4_022_468_096),
    "qwen3-8b": ("Qwen3ForCausalLM", 8_190_735_360),
    "gemma-3-27b": ("Gemma3ForCausalLM", 27_009_346_304),  # the language model, without the vision tower
    "gpt-oss-20b": ("GptOssForCausalLM", 20_914_757_184),
    "mixtral-8x7b": ("MixtralForCausalLM", 46_702_792_704),
    "qwen3-30b-a3b": ("Qwen3MoeForCausalLM", 30_532_122_624),
}

# The same meta models: parameters of two or more dimensions that are neither embedding, lm_head nor router.
LINEAR = {
    "qwen2.5-7b": 6_525_288_448,
    "llama-3-8b": 6_979_321_856,
    "llama-3-70b": 68_451_041_280,
    "llama-2-7b": 6_476_005_376,
    "opt-13b": 12_582_912_000,
    "santacoder": 1_019_215_872,
    "deepseek-v3": 669_065_609_216,
    "qwen3-8b": 6_945_767_424,
    "gemma-3-27b": 25_598_361_600,
    "gpt-oss-20b": 19_747_307_520,
    "mixtral-8x7b": 46_439_333_888,
    "qwen3-30b-a3b": 29_896_998_912,
}


def test_every_catalog_model_was_counted_independently() -> None:
    assert COUNTED.keys() == models().keys()


@pytest.mark.parametrize(("key", "expected"), [(key, count) for key, (_, count) in COUNTED.items()])
def test_the_total_is_what_hugging_face_s_class_has(key: str, expected: int) -> None:
    assert count_parameters(model(key)).total == expected == model(key).num_parameters


@pytest.mark.parametrize(("key", "expected"), LINEAR.items())
def test_linear_weights_are_the_class_s_matrices(key: str, expected: int) -> None:
    assert count_parameters(model(key)).linear == expected


LLAMA = KVShape.of(model("llama-3-70b"))


@pytest.mark.parametrize(
    ("shape", "expected"),
    [  # LlamaForCausalLM with that one thing changed in Llama-3-70B's config
        (replace(LLAMA, attention="mha", num_kv_heads=64), 79_948_947_456),
        (replace(LLAMA, attention="mqa", num_kv_heads=1), 69_379_301_376),
        (replace(LLAMA, num_layers=40), 36_327_530_496),
        (replace(LLAMA, num_attention_heads=32), 65_184_997_376),
    ],
)
def test_another_shape_is_counted_as_the_class_would(shape: KVShape, expected: int) -> None:
    assert count_parameters(model("llama-3-70b"), shape).total == expected


def test_llama_3_70b_as_mha_has_13_3_percent_more_weights() -> None:
    mha = count_parameters(model("llama-3-70b"), replace(LLAMA, attention="mha", num_kv_heads=64))
    assert round(mha.total / 70_553_706_496 - 1, 3) == 0.133


def test_qwen_as_mha_keeps_its_biases() -> None:
    qwen = model("qwen2.5-7b")
    mha = replace(KVShape.of(qwen), attention="mha", num_kv_heads=28)
    assert count_parameters(qwen, mha).total == 8_232_351_232  # Qwen2ForCausalLM with 28 KV heads


def test_llama_3_8b_as_mla_has_what_deepseek_s_class_has() -> None:
    # DeepseekV3ForCausalLM, all layers dense, Llama-3-8B's sizes, q_lora_rank None, kv_lora_rank 512, rope 64,
    # 128 for the part without position and for the value
    mla = KVShape("mla", 32, 32, 1, 128, kv_lora_rank=512, qk_rope_head_dim=64)
    assert count_parameters(model("llama-3-8b"), mla).total == 8_239_992_832


def test_deepseek_v3_as_mha_has_plain_projections() -> None:
    # by hand: four matrices of 7168 × 128 × 128 instead of the low-rank ones, and no norm on the compressions
    deepseek = model("deepseek-v3")
    mha = count_parameters(deepseek, KVShape("mha", 61, 128, 128, 128))
    low_rank = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    assert mha.linear == count_parameters(deepseek).linear + 61 * (4 * 7168 * 16_384 - low_rank)


def test_half_of_gpt_oss_s_layers_have_half_its_experts() -> None:
    gpt_oss = model("gpt-oss-20b")
    half = count_parameters(gpt_oss, replace(KVShape.of(gpt_oss), num_layers=12))
    assert half.total == 11_036_513_472  # GptOssForCausalLM with 12 layers
    assert 2 * half.routed_experts == count_parameters(gpt_oss).routed_experts


def test_qwen2_5_7b_takes_15_23_gb_in_bf16() -> None:
    assert published_weight_bytes(model("qwen2.5-7b")) == 2 * 7_615_616_512 == 15_231_233_024


def test_llama_3_70b_takes_141_1_gb_which_is_131_4_gib() -> None:
    found = published_weight_bytes(model("llama-3-70b"))
    assert (round(found / 10**9, 1), round(found / 2**30, 1)) == (141.1, 131.4)


def test_qwen2_5_7b_awq_takes_5_571_gb_which_is_5_188_gib() -> None:
    # by hand: 4 + 16/128 + 4/128 bits for 6,525,288,448 weights, 2 bytes for the other 1,090,328,064
    found = published_weight_bytes(model("qwen2.5-7b-awq"))
    assert found == 6_525_288_448 * 4.15625 / 8 + 2 * 1_090_328_064
    assert (round(found / 10**9, 3), round(found / 2**30, 3)) == (5.571, 5.188)


def test_gpt_oss_20b_s_checkpoint_has_13_76_gb() -> None:
    # by hand: 24 layers × 32 experts × 24,883,200 weights of 4 + 8/32 bits, 2 bytes for the other 1,804,459,584
    assert (
        published_weight_bytes(model("gpt-oss-20b")) == 19_110_297_600 * 4.25 / 8 + 2 * 1_804_459_584 == 13_761_264_768
    )


def test_deepseek_v3_in_fp8_takes_about_a_byte_per_parameter() -> None:
    # by hand: 669,065,609,216 × 1 + 1,960,795,136 × 2
    assert published_weight_bytes(model("deepseek-v3")) == 672_987_199_488


@pytest.mark.parametrize(("weight_format", "expected"), [("bf16", 4_000), ("fp8", 3_000), ("int4", 2_532)])
def test_only_linear_weights_shrink(weight_format: WeightFormat, expected: int) -> None:
    # by hand, 1,024 linear weights in eight groups of 532 bits would be 532 bytes
    linear = 1024 if weight_format == "int4" else 1000
    assert weight_bytes(Parameters(linear=linear, other=1000), weight_format) == expected


def test_a_format_nobody_planned_is_refused() -> None:
    with pytest.raises(ValueError, match="weight_format is 'int3'; it must be bf16, fp8, int4 or mxfp4"):
        weight_bytes(Parameters(1, 1), "int3")  # type: ignore[arg-type]


def test_looked_up_tables_are_the_input_embedding_and_learned_positions() -> None:
    assert embedding_parameters(model("qwen2.5-7b")) == 152_064 * 3584
    assert embedding_parameters(model("opt-13b")) == (50_272 + 2050) * 5120
