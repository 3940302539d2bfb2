"""What loading leaves beside the parameters: vLLM's own classes' tables and buffers, and copies made after loading."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from snippets.catalog.configs import catalog_config
from snippets.model_config.read import read_config
from snippets.planner.engine_args import EngineArgs, SpeculativeConfig
from snippets.planner.weights.beside import beside_weights
from snippets.planner.weights.layers import layer_kinds
from snippets.planner.weights.parts.rotary import rotary_tables
from snippets.planner.weights.rank import HOPPER, counting_of, rank_weight_bytes
from snippets.units import GIB

# tests/oracle/beside_oracle.py: every model of the catalog on the meta device
OF_VLLM = json.loads((Path(__file__).parents[3] / "data" / "beside_of_vllm.json").read_text(encoding="utf-8"))
BATCH = 8192
UNCOUNTED = {"nemotron-3-super-fp8"}  # its abridged side file does not say how the weights are stored
COPY = 512 * 16 * (128 + 128) * 2  # DeepSeek-V3's kv_b_proj on one of 8 ranks: latent × heads × (key + value) × BF16


@pytest.mark.parametrize("key", sorted(OF_VLLM.keys() - UNCOUNTED))
def test_rotary_tables_and_buffers_are_those_of_vllm_s_classes(key: str) -> None:
    config = catalog_config(key)
    c = counting_of(config, EngineArgs(), HOPPER)
    tables = rotary_tables(c, layer_kinds(c))
    assert sum(table.num_bytes for table in tables) == OF_VLLM[key]["rotary_tables"]
    assert beside_weights(config, EngineArgs(), BATCH)[0].buffers == OF_VLLM[key]["buffers"]


# (log of the collection in snippets/planner/evidence, catalog key, GiB in “Model loading took”)
@pytest.mark.parametrize(("key", "printed"), [("llama-3.1-8b", 14.9888)], ids=["L095"])
def test_parameters_and_table_are_what_a_log_prints_to_its_last_digit(key: str, printed: float) -> None:
    config = catalog_config(key)
    loaded = rank_weight_bytes(config, EngineArgs()) + beside_weights(config, EngineArgs(), BATCH)[0].rotary_tables
    assert round(loaded / GIB, 4) == printed


def test_a_table_below_a_hundredth_of_a_gib_is_left_out() -> None:
    assert OF_VLLM["qwen2.5-7b"]["rotary_tables"] == 8 * 2**20
    assert beside_weights(catalog_config("qwen2.5-7b"), EngineArgs(), BATCH)[0].rotary_tables == 0


def test_quantised_kv_b_proj_is_copied_in_16_bits_and_a_plain_one_is_not() -> None:
    """mla_attention.py:948: dequantised numbers are new memory, of 16-bit ones W_UV and W_UK_T are views."""
    eight = EngineArgs(tensor_parallel_size=8)
    assert beside_weights(catalog_config("deepseek-v3"), eight, BATCH)[0].mla_copies == 61 * COPY
    assert beside_weights(catalog_config("deepseek-v2-lite"), EngineArgs(), BATCH)[0].mla_copies == 0
    assert beside_weights(catalog_config("glm-5.1"), eight, BATCH)[0].mla_copies == 0


def test_each_stage_copies_its_own_layers_and_the_last_the_drafter_s() -> None:
    stages = beside_weights(
        catalog_config("deepseek-v3"), EngineArgs(tensor_parallel_size=8, pipeline_parallel_size=2), BATCH
    )
    assert [stage.mla_copies for stage in stages] == [31 * COPY, 30 * COPY]
    drafting = EngineArgs(tensor_parallel_size=8, speculative=SpeculativeConfig("mtp", 1))
    assert beside_weights(catalog_config("deepseek-v3"), drafting, BATCH)[0].mla_copies == 62 * COPY


def test_scaled_positions_are_counted_after_scaling() -> None:
    """As get_rope makes them: Phi-3's two tables, linear and YaRN's longer ones; 128 columns of 2 bytes.

    Dynamic and ntk scaling change the base alone: vLLM's classes hold 8,192 rows for Llama 3 with a factor of 16.
    """
    fields = {**catalog_config("llama-3-8b").fields, "max_position_embeddings": 131_072}
    for rope, rows in (
        ({"type": "longrope", "original_max_position_embeddings": 4096}, 4096 + 131_072),
        ({"rope_type": "dynamic", "factor": 2.0}, 131_072),
        ({"rope_type": "ntk", "factor": 2.0}, 131_072),
        ({"rope_type": "linear", "factor": 2.0}, 2 * 131_072),
        ({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}, 4 * 32_768),
        (None, 131_072),
    ):
        config = read_config({**fields, "rope_scaling": rope})
        assert beside_weights(config, EngineArgs(), BATCH)[0].rotary_tables == rows * 128 * 2


def test_a_table_in_32_bits_under_dynamic_scaling_is_that_of_vllm_s_class() -> None:
    """model_oracle.py with tables counted: 4,194,304 bytes for 8,192 positions, so 16 times as much for 131,072."""
    scaled = {"rope_scaling": {"rope_type": "dynamic", "factor": 16.0}, "max_position_embeddings": 131_072}
    config = read_config({**catalog_config("llama-3-8b").fields, **scaled})
    assert beside_weights(config, EngineArgs(dtype="float32"), BATCH)[0].rotary_tables == 16 * 4_194_304


def test_a_stage_without_plain_layers_has_no_table_for_them() -> None:
    """DeepSeek-V4-Flash's classes on three stages: layers without a compressor are among the first only."""
    args = EngineArgs(pipeline_parallel_size=3, kv_cache_dtype="fp8")
    stages = beside_weights(catalog_config("deepseek-v4-flash"), args, BATCH)
    assert [stage.rotary_tables for stage in stages] == [536_870_912, 268_435_456, 268_435_456]


@pytest.mark.parametrize(
    ("target", "draft", "tables"),
    [
        ("llama-3.1-70b", "llama-3.1-405b", 33_554_432),  # equal settings: get_rope finds the target's table
        ("llama-3.1-70b", "llama-3.2-1b", 33_554_432 + 16_777_216),  # heads of another size
        ("gemma-3-27b", "gemma-3-1b", 301_989_888 + 33_554_432),  # another length
    ],
)
def test_a_drafter_that_turns_like_its_target_takes_its_table(target: str, draft: str, tables: int) -> None:
    """Tables of each of vLLM's classes alone are given; those of equal settings are one (_ROPE_DICT)."""
    speculative = SpeculativeConfig("draft_model", 3, catalog_config(draft))
    args = EngineArgs(tensor_parallel_size=8, speculative=speculative)
    assert beside_weights(catalog_config(target), args, BATCH)[-1].rotary_tables == tables
