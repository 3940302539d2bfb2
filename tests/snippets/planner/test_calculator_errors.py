"""Figures that public memory calculators get wrong, each against what a log, an engine or hand arithmetic says.

The cause of the wrong figure stands in the test's name. "Printed" values are from start-up logs and issues of public
repositories, named beside each; a printed GiB is rounded to 0.01, so a figure made from it is right within that.
"""

from __future__ import annotations

from typing import Any

import pytest

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.model_config.model_config import ModelConfig
from snippets.model_config.read import read_config
from snippets.planner.engine_args import EngineArgs
from snippets.planner.plan import Plan, make_plan
from snippets.planner.report.other_version import lines_of_version
from snippets.planner.specs import CachePlan
from snippets.units import GIB, MIB

ONE_BATCH: dict[str, Any] = {
    "async_scheduling": False
}  # until 0.24 one batch was in flight, now two: this is how 0.26 has one

GEMMA_4_26B: dict[str, object] = {  # google/gemma-4-26B-A4B-it, sizes as in the start-up log L056's record
    "architectures": ["Gemma4ForConditionalGeneration"],
    "model_type": "gemma4",
    "text_config": {
        "model_type": "gemma4_text",
        "num_hidden_layers": 30,
        "hidden_size": 2816,
        "intermediate_size": 2112,
        "vocab_size": 262144,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 256,
        "num_global_key_value_heads": 2,
        "global_head_dim": 512,
        "attention_k_eq_v": True,
        "sliding_window": 1024,
        "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 5,
        "max_position_embeddings": 262144,
        "num_kv_shared_layers": 0,
        "dtype": "bfloat16",
    },
}
MISTRAL_SMALL_24B: dict[str, object] = {  # mistralai/Mistral-Small-3.2-24B
    "architectures": ["MistralForCausalLM"],
    "model_type": "mistral",
    "num_hidden_layers": 40,
    "hidden_size": 5120,
    "intermediate_size": 32768,
    "vocab_size": 131072,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "sliding_window": None,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}
QWEN3_1_7B: dict[str, object] = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "num_hidden_layers": 28,
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "vocab_size": 151936,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 40960,
    "torch_dtype": "bfloat16",
}
LFM2_1_2B: dict[str, object] = {
    "architectures": ["Lfm2ForCausalLM"],
    "model_type": "lfm2",
    "num_hidden_layers": 16,
    "hidden_size": 2048,
    "block_ff_dim": 12288,
    "intermediate_size": 12288,
    "vocab_size": 65536,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "conv_L_cache": 3,
    "conv_dim": 2048,
    "layer_types": ["full_attention" if i in {2, 5, 8, 10, 12, 14} else "conv" for i in range(16)],
    "max_position_embeddings": 128000,
    "torch_dtype": "bfloat16",
}
NEMOTRON_3_NANO: dict[str, object] = {  # nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B: 52 layers, 6 with attention
    "architectures": ["NemotronHForCausalLM"],
    "model_type": "nemotron_h",
    "num_hidden_layers": 52,
    "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
    "hidden_size": 2688,
    "intermediate_size": 1856,
    "vocab_size": 131072,
    "num_attention_heads": 32,
    "num_key_value_heads": 2,
    "head_dim": 128,
    "mamba_num_heads": 64,
    "mamba_head_dim": 64,
    "ssm_state_size": 128,
    "n_groups": 8,
    "conv_kernel": 4,
    "max_position_embeddings": 262144,
    "torch_dtype": "bfloat16",
}


def config_of(model: str | dict[str, object]) -> ModelConfig:
    return catalog_config(model) if isinstance(model, str) else read_config(model)


def plan(model: str | dict[str, object], available_gib: float = 40, card: str = "h100-80gb", **args: Any) -> Plan:
    config = config_of(model)
    return make_plan(config, gpu(card), EngineArgs(**args), available_bytes=int(available_gib * GIB))


def cache(model: str | dict[str, object], available_gib: float = 40, card: str = "h100-80gb", **args: Any) -> CachePlan:
    made = plan(model, available_gib, card, **args)
    assert made.cache is not None, made.errors
    return made.cache


def reserved_bytes(made: CachePlan) -> int:
    return made.blocks_per_request * made.bytes_per_block


def within_print(cache_plan: CachePlan, printed_tokens: int, available_gib: float) -> bool:
    """The printed GiB may be off by 0.005, which moves the tokens in proportion; and a block is whole."""
    slack = printed_tokens * 0.005 / available_gib + cache_plan.kv_cache_size_tokens / cache_plan.num_gpu_blocks
    return abs(cache_plan.kv_cache_size_tokens - printed_tokens) <= slack


# Logs whose layout is known (R1 to R10).


def test_gemma_4_31b_groups_windows_and_full_layers_in_one_pool() -> None:
    made = cache("gemma-4-31b-nvfp4", 64.68, kv_cache_dtype="bfloat16", max_num_batched_tokens=8192, **ONE_BATCH)
    assert made.kv_cache_size_tokens == 626_949  # printed by vLLM 0.24, ConfigIQ issue 112


def test_gemma_4_31b_nvfp4_weights_do_not_make_the_cache_one_byte() -> None:
    settings: dict[str, Any] = {
        "kv_cache_dtype": "bfloat16",
        "max_num_batched_tokens": 8192,
        "num_gpu_blocks_override": 42_564,
    }
    made = cache("gemma-4-31b-nvfp4", 103.92, **settings, **ONE_BATCH)
    assert made.kv_cache_size_tokens == 1_007_303  # printed, the same issue
    assert f"{made.num_gpu_blocks * made.bytes_per_block / GIB:.2f}" == "103.92"


def test_gemma_4_31b_tokens_of_the_older_line_are_shared_by_its_groups() -> None:
    made = plan("gemma-4-31b-nvfp4", 24.54, kv_cache_dtype="bfloat16", max_model_len=8192)
    assert lines_of_version(made, "0.19.0")[0] == "GPU KV cache size: 26,800 tokens"  # printed, hf-mem issue 61


def test_gpt_oss_120b_tokens_of_the_older_line_are_shared_by_two_groups() -> None:
    made = plan("gpt-oss-120b", 5.38, max_model_len=8192)
    printed, slack = 78_384, 78_384 * 0.005 / 5.38  # printed, hf-mem issue 60
    tokens = int(lines_of_version(made, "0.11.0")[0].split()[4].replace(",", ""))
    assert abs(tokens - printed) <= slack + 16


def test_gemma_4_26b_needs_windows_and_what_is_in_flight_beside_the_full_layers() -> None:
    made = plan(GEMMA_4_26B, 1.82, "rtx-3090", max_model_len=262144, max_num_batched_tokens=4096, **ONE_BATCH)
    assert "(5.98 GiB KV cache is needed" in made.errors[0].message  # printed on a 3090, club-3090 pull request 334
    # The engine's own estimate there is 44,224 from 1.82 GiB rounded; 75,776 is what the tool said.
    assert "--max-model-len 44032." in made.errors[0].way_out


def test_gpt_oss_120b_reserves_half_its_layers_for_full_context_and_half_for_the_window() -> None:
    made = plan("gpt-oss-120b", 1.71, max_model_len=131072, max_num_batched_tokens=1024, max_num_seqs=256, **ONE_BATCH)
    assert "(4.54 GiB KV cache is needed" in made.errors[0].message  # printed, vllm issue 27508


@pytest.mark.parametrize(
    ("model", "gib", "kv_cache_dtype", "printed"),
    [  # printed, llm-d-planner's report on v0.19.0
        ("llama-3.1-8b", 58.11, "auto", 476_016),
        ("llama-3.1-8b", 58.11, "fp8", 952_032),
        ("qwen2.5-7b", 58.53, "auto", 1_096_000),
        ("qwen2.5-7b", 58.53, "fp8", 2_192_000),
    ],
)
def test_fp8_keys_and_values_double_the_tokens_of_plain_attention(
    model: str, gib: float, kv_cache_dtype: str, printed: int
) -> None:
    made = cache(model, gib, kv_cache_dtype=kv_cache_dtype, max_model_len=16384)
    assert within_print(made, printed, gib)


def test_a_block_of_128_tokens_holds_as_much_as_eight_of_16() -> None:
    made = cache(MISTRAL_SMALL_24B, 28.20, block_size=128, max_model_len=32768)
    assert within_print(made, 184_832, 28.20)  # printed, llm-d-planner docs/empirical-vllm-memory-results.md


def test_qwen3_1_7b_on_a_24_gb_card_takes_head_dim_from_the_config() -> None:
    made = cache(QWEN3_1_7B, 18.78, "rtx-3090", max_model_len=40960)
    assert within_print(made, 175_856, 18.78)  # printed, vllm issue 33263


@pytest.mark.parametrize(("gib", "printed"), [(3.81, 1952), (2.89, 1478)])
def test_a_longer_context_does_not_enlarge_the_pool(gib: float, printed: int) -> None:
    made = cache("llama-3.1-8b", gib, "rtx-3090", max_model_len=4096)
    per_block = 16 * 131_072
    assert abs(made.num_gpu_blocks - printed) <= 0.005 * GIB / per_block  # printed, vllm issue 10517


def test_a_3090_reports_23_58_gib_not_24() -> None:
    assert gpu("rtx-3090").visible_gib == 23.58  # printed, vllm issue 10517


def test_an_80_gb_h100_reports_less_than_80_gib() -> None:
    assert 79 < (gpu("h100-80gb").visible_gib or 0) < 79.7  # 79.19 in llm-d-planner's report


# Bytes that one more token adds at full context.


@pytest.mark.parametrize(
    ("model", "right", "wrong", "cause"),
    [
        ("llama-3.1-8b", 131_072, 1_048_576, "no GQA, and twice"),  # 2×32×8×128×2
        ("llama-3.1-8b", 131_072, 524_288, "2 × layers × hidden"),
        ("qwen3-4b", 2 * 36 * 8 * 128 * 2, 2 * 36 * 8 * 80 * 2, "head_dim from hidden over heads"),
        ("qwen3-0.6b", 2 * 28 * 8 * 128 * 2, 2 * 28 * 8 * 64 * 2, "head_dim from hidden over heads"),
        ("glm-4.5", 376_832, 157_013, "head_dim from hidden over heads"),  # 2×92×8×128×2
        ("gpt-oss-20b", 2 * 12 * 8 * 64 * 2, 2 * 24 * 8 * 45 * 2, "head_dim, and every layer full"),
        ("deepseek-v3", 70_272, 1_748_992, "no MLA path"),  # 61×(512+64)×2
        ("kimi-k2", 70_272, 1_748_992, "MLA known by two class names only"),
        ("gemma-3-27b", 2 * 10 * 16 * 128 * 2, 2 * 62 * 16 * 128 * 2, "windows charged as full layers"),
        ("qwen3.5-27b", 2 * 16 * 4 * 256 * 2, 2 * 64 * 4 * 256 * 2, "48 linear layers charged"),  # 16 GiB at 262,144
        ("qwen3-next-80b-a3b", 2 * 12 * 2 * 256 * 2, 2 * 48 * 2 * 256 * 2, "full_attention_interval unread"),
        ("nemotron-3-super-fp8", 2 * 8 * 2 * 128 * 2, 2 * 88 * 2 * 128 * 2, "hybrid_override_pattern unread"),
        (NEMOTRON_3_NANO, 2 * 6 * 2 * 128 * 2, 2 * 52 * 2 * 128 * 2, "hybrid_override_pattern unread"),
        (LFM2_1_2B, 2 * 6 * 8 * 64 * 2, 0, "head_count_kv[0] is 0"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bytes_per_further_token(model: str | dict[str, object], right: int, wrong: int, cause: str) -> None:
    made = plan(model, 60, max_model_len=32768, kv_cache_dtype="bfloat16")
    assert made.kv_bytes_per_token == right != wrong


def test_gemma_4_31b_grows_by_ten_global_layers_with_their_own_heads_and_both_k_and_v() -> None:
    made = plan("gemma-4-31b-nvfp4", kv_cache_dtype="bfloat16", max_model_len=32768)
    assert made.kv_bytes_per_token == 10 * 2 * 4 * 512 * 2 == 81_920  # 163,840 with the window layers' head shape


def test_gemma_4_31b_reserves_for_the_window_layers_what_is_in_flight() -> None:
    made = cache("gemma-4-31b-nvfp4", 30, kv_cache_dtype="bfloat16", max_model_len=32768,
                 max_num_batched_tokens=8192, **ONE_BATCH)  # fmt: skip
    assert f"{reserved_bytes(made) / GIB:.2f}" == "9.54"  # 5.78 with one head shape for all layers


def test_gpt_oss_120b_with_fp8_keeps_18_of_36_layers_growing() -> None:
    made = plan("gpt-oss-120b", kv_cache_dtype="fp8", max_model_len=65536)
    assert made.kv_bytes_per_token == 18 * 2 * 8 * 64  # twice that with all layers full


def test_lfm2_keeps_384_mib_at_32k() -> None:
    made = plan(LFM2_1_2B, max_model_len=32768)
    assert (made.kv_bytes_per_token or 0) * 32768 == 384 * MIB  # 0 in gguf-parser-go issues 31 and 35


def test_nemotron_3_nano_keeps_three_sixteenths_of_a_gib_at_32k_in_its_attention_layers() -> None:
    made = plan(NEMOTRON_3_NANO, max_model_len=32768, kv_cache_dtype="bfloat16")
    assert (made.kv_bytes_per_token or 0) * 32768 == 0.1875 * GIB  # 1.625 with all 52 layers


def test_the_mla_latent_is_whole_on_every_tensor_parallel_rank() -> None:
    made = plan("deepseek-v3", tensor_parallel_size=8, max_model_len=32768)
    assert (made.kv_bytes_per_token or 0) * 32768 == 2_302_672_896  # 287,834,112 when divided by TP


def test_an_encoder_keeps_no_cache() -> None:
    made = plan(
        {
            "architectures": ["XLMRobertaForSequenceClassification"],
            "model_type": "xlm-roberta",
            "num_hidden_layers": 24,
            "hidden_size": 1024,
            "intermediate_size": 4096,
            "vocab_size": 250002,
            "num_attention_heads": 16,
            "max_position_embeddings": 8194,
            "torch_dtype": "float16",
        }
    )
    assert made.cache is not None and made.cache.groups == ()  # 13.8 GiB in gpustack issue 2412


def test_fp8_does_not_halve_a_hybrid_whose_state_stays() -> None:
    plain = cache("qwen3.5-27b", 40, max_model_len=32768, kv_cache_dtype="bfloat16")
    fp8 = cache("qwen3.5-27b", 40, max_model_len=32768, kv_cache_dtype="fp8")
    assert 1 < fp8.kv_cache_size_tokens / plain.kv_cache_size_tokens < 2  # "2×" in every tool; vllm issue 55196


def test_utilization_is_092_unless_given() -> None:
    assert EngineArgs().gpu_memory_utilization == 0.92  # tools hard-code 0.9 or call 0.95 the default
