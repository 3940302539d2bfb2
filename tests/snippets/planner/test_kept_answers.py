"""What a step keeps for the next question may depend only on what its key names."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.planner.engine_args import EngineArgs
from snippets.planner.settings import resolve
from snippets.planner.steps.kept import KEPT, Kept, all_but_memory, layout
from snippets.planner.weights import rank_weight_bytes

MODELS = ["llama-3.1-8b", "gemma-3-27b", "qwen3-next-80b-a3b", "deepseek-v3", "gpt-oss-20b"]
OTHER: dict[str, Any] = {  # another value for every argument that the weights' key leaves out
    "max_model_len": 4096,
    "gpu_memory_utilization": 0.5,
    "kv_cache_memory_bytes": 2**30,
    "max_num_seqs": 7,
    "max_num_batched_tokens": 1024,
    "block_size": 64,
    "kv_cache_dtype": "fp8",
    "enable_prefix_caching": False,
    "enable_chunked_prefill": True,
    "disable_hybrid_kv_cache_manager": True,
    "num_gpu_blocks_override": 9,
    "enforce_eager": True,
    "async_scheduling": False,
    "mamba_cache_mode": "align",
    "mamba_block_size": 64,
    "mamba_cache_dtype": "float32",
    "mamba_ssm_cache_dtype": "float32",
    "attention_backend": "FLASHINFER",
    "usage": "llm",
}


@pytest.mark.parametrize("key", MODELS)
def test_settings_do_not_depend_on_the_amount_of_memory(key: str) -> None:
    config, card, args = catalog_config(key), gpu("h200"), EngineArgs()
    other = replace(args, gpu_memory_utilization=0.3, kv_cache_memory_bytes=2**33)
    assert all_but_memory(args) == all_but_memory(other)
    assert resolve(config, args, card) == resolve(config, other, card)


@pytest.mark.parametrize("name", OTHER)
def test_weights_do_not_depend_on_what_their_key_leaves_out(name: str) -> None:
    args = EngineArgs(tensor_parallel_size=2)
    other = replace(args, **{name: OTHER[name]})
    assert layout(args) == layout(other)
    for key in MODELS:
        assert rank_weight_bytes(catalog_config(key), args) == rank_weight_bytes(catalog_config(key), other)


def test_every_argument_is_in_a_key_or_has_another_value_above() -> None:
    in_key = {
        *("dtype", "quantization", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"),
        *("enable_expert_parallel", "decode_context_parallel_size", "speculative"),
    }
    assert {field.name for field in fields(EngineArgs)} == in_key | set(OTHER)


def test_an_answer_is_made_once_and_the_oldest_is_dropped() -> None:
    kept: Kept[int] = Kept(all_but_memory)
    config, card = catalog_config("llama-3.1-8b"), gpu("h200")
    made: list[int] = []

    def ask(blocks: int) -> None:
        def make() -> int:
            made.append(blocks)
            return blocks

        assert kept.get(config, card, EngineArgs(block_size=blocks), make) == blocks

    ask(1)
    ask(1)
    assert made == [1]
    for blocks in range(2, KEPT + 2):
        ask(blocks)
    ask(1)
    assert made == [1, *range(2, KEPT + 2), 1]
