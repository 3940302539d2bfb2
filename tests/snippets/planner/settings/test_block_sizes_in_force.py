"""Block sizes in force, by hand or as vLLM 0.26.0 printed them for the same configs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snippets.catalog.configs import catalog_config, config_entries
from snippets.catalog.gpus import gpu
from snippets.model_config.read import read_config
from snippets.planner.cache.plan import plan_cache
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.resolved import Resolved
from snippets.planner.settings import resolve
from snippets.planner.specs import LayerSpec
from snippets.units import GIB


def on(card: str, model: str, **args: object) -> Resolved:
    return resolve(catalog_config(model), EngineArgs(**args), gpu(card))  # type: ignore[arg-type]


def spec(resolved: Resolved, kind: str) -> LayerSpec:
    return next(run.spec for stage in resolved.stages for run in stage if run.spec.kind == kind)


@pytest.mark.parametrize(
    ("model", "tokens"), [("qwen3-next-80b-a3b", 544), ("jamba-1.5-mini", 80)]
)  # printed by vLLM 0.26.0 for these configs
def test_a_hybrids_block_covers_its_state(model: str, tokens: int) -> None:
    assert on("h100-80gb", model).block_size == tokens


def test_qwen3_nexts_544_tokens_by_hand() -> None:
    conv, state = 3 * 8_192, 32 * 128 * 128  # elements of the convolution and of the recurrent state
    page, per_token = 2 * (conv + state), 2 * 2 * 256 * 2  # bytes; 2 KV heads, keys and values, head 256, BF16
    blocks = -(-page // (16 * per_token))
    resolved = on("h100-80gb", "qwen3-next-80b-a3b")
    assert resolved.block_size == 16 * blocks == 544
    assert spec(resolved, "mamba").page_size_padded == 544 * per_token


def test_fp8_keys_double_a_hybrids_block() -> None:
    assert on("h100-80gb", "qwen3-next-80b-a3b", kv_cache_dtype="fp8").block_size == 1_072  # 16 × 67


@pytest.mark.parametrize(
    ("card", "kv_cache_dtype", "backend", "tokens"),
    [
        ("a100-80gb", "auto", "TRITON_MLA", 16),
        ("h100-80gb", "auto", "FLASH_ATTN_MLA", 16),
        ("h100-80gb", "fp8", "FLASHMLA", 64),
        ("b200", "auto", "FLASHINFER_MLA", 32),
        ("rtx-5090", "auto", "TRITON_MLA", 16),
        ("mi300x", "auto", "TRITON_MLA", 16),
    ],
)  # platforms/cuda.py:80, platforms/rocm.py:407 and the kernel block sizes of each backend
def test_latent_attention_takes_its_backends_block(card: str, kv_cache_dtype: str, backend: str, tokens: int) -> None:
    resolved = on(card, "deepseek-v3", kv_cache_dtype=kv_cache_dtype)
    assert (resolved.attention_backend, resolved.block_size) == (backend, tokens)


def test_an_indexer_sets_blocks_of_64() -> None:
    resolved = on("h100-80gb", "deepseek-v3.2")
    assert resolved.block_size == 64
    assert [run.spec.head_size for run in resolved.stages[0][:2]] == [132, 576]  # the indexer stands first


def test_sparse_fp8_is_stored_in_deepseeks_packed_layout_on_hopper() -> None:
    assert on("h100-80gb", "deepseek-v3.2", kv_cache_dtype="fp8").kv_cache_dtype == "fp8_ds_mla"


def test_a_window_keeps_its_own_block_of_16_whatever_is_given() -> None:
    resolved = on("h100-80gb", "gemma-3-27b", block_size=64)
    assert (spec(resolved, "full").block_size, spec(resolved, "sliding").block_size) == (64, 16)


def test_turboquant_leaves_four_layers_alone_and_takes_blocks_of_32() -> None:
    resolved = on("h100-80gb", "llama-3.1-8b", kv_cache_dtype="turboquant_4bit_nc")
    assert [(run.count, run.spec.kind, run.spec.block_size) for run in resolved.stages[0]] == [
        (2, "full", 32), (28, "turboquant", 32), (2, "full", 32),
    ]  # fmt: skip
    slot = -(-128 * 4 // 8) + 2 + -(-128 * 4 // 8) + 4  # key with its norm, value with scale and zero
    assert resolved.stages[0][1].spec.tq_slot_size == slot == 134


def test_a_block_no_kernel_knows_is_refused_with_every_backends_reason() -> None:
    with pytest.raises(EngineArgsError) as refused:
        on("h100-80gb", "llama-3.1-8b", block_size=24)
    assert refused.value.field == "block_size"
    assert "FLASH_ATTN: [block_size not supported]" in str(refused.value)


def test_modes_of_states_with_prefix_caching() -> None:
    assert on("h100-80gb", "jamba-1.5-mini", enable_prefix_caching=True).mamba_cache_mode == "all"
    aligned = on("h100-80gb", "qwen3-next-80b-a3b", enable_prefix_caching=True)
    assert aligned.mamba_cache_mode == "align"
    assert spec(aligned, "mamba").block_size == aligned.block_size


@pytest.mark.parametrize(
    ("dtype", "tokens"),
    [("fp8", 1_489_053), ("fp8_e4m3", 1_489_053), ("half", 1_118_435), ("float", 855_722)],
)  # answers of vLLM's own classes (tests/oracle/model_oracle.py), TP 2 and 60 GiB
def test_a_config_may_name_the_dtype_of_its_states_in_any_of_vllms_names(dtype: str, tokens: int) -> None:
    fields = json.loads(json.dumps(dict(config_entries()["qwen3.5-27b"].config)))
    fields["text_config"]["mamba_ssm_dtype"] = dtype
    args = EngineArgs(tensor_parallel_size=2, max_model_len=2048)
    resolved = resolve(read_config(fields), args, gpu("h200"))
    assert plan_cache(resolved.stages, [60 * GIB], resolved.limits).kv_cache_size_tokens == tokens


@pytest.mark.parametrize("dtype", ["float8", {"a": 1}])
@pytest.mark.parametrize("key", ["qwen3.5-27b", "nemotron-3-super-fp8"])
def test_a_dtype_of_states_that_vllm_does_not_know_is_refused_by_name(key: str, dtype: object) -> None:
    fields = json.loads(json.dumps(dict(config_entries()[key].config)))
    fields.get("text_config", fields)["mamba_ssm_dtype" if key == "qwen3.5-27b" else "mamba_ssm_cache_dtype"] = dtype
    with pytest.raises(EngineArgsError, match="vLLM knows auto, float32"):
        resolve(read_config(fields), EngineArgs(tensor_parallel_size=2, max_model_len=2048), gpu("h200"))


GRANITE_4_8B = {
    "architectures": ["GraniteMoeHybridForCausalLM"], "model_type": "granitemoehybrid", "hidden_size": 4096,
    "intermediate_size": 12800, "shared_intermediate_size": 12800, "num_attention_heads": 32, "num_key_value_heads": 8,
    "num_hidden_layers": 40, "layer_types": ["attention"] * 40, "mamba_d_conv": 4, "mamba_d_head": 64,
    "mamba_d_state": 256, "mamba_expand": 2, "mamba_n_groups": 1, "mamba_n_heads": 128, "mamba_chunk_size": 256,
    "num_experts_per_tok": 0, "num_local_experts": 0, "max_position_embeddings": 131_072, "vocab_size": 100_352,
    "torch_dtype": "bfloat16", "tie_word_embeddings": True,
}  # fmt: skip  # the published granite-4-8b-dense-hybrid


@pytest.mark.parametrize(
    ("args", "gib", "block_size", "in_flight", "tokens"),
    [
        ({"tensor_parallel_size": 2}, 60, 1040, 16_384, 780_239),
        ({"pipeline_parallel_size": 2, "kv_cache_dtype": "fp8"}, 7, 2080, 16_384, 180_224),
    ],
)  # answers of vLLM's own classes (tests/oracle/model_oracle.py)
def test_granite_4_without_mamba_is_a_hybrid_to_vllm(
    args: dict[str, Any], gib: int, block_size: int, in_flight: int, tokens: int
) -> None:
    resolved = resolve(read_config(GRANITE_4_8B), EngineArgs(**args), gpu("h100-80gb"))
    assert (resolved.block_size, resolved.enable_prefix_caching) == (block_size, False)
    assert resolved.limits.max_in_flight_tokens == in_flight
    assert (
        plan_cache(resolved.stages, [gib * GIB] * len(resolved.stages), resolved.limits).kv_cache_size_tokens == tokens
    )
