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
from snippets.planner.weights.parts.rotary import rotary_bytes
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
    assert rotary_bytes(c, layer_kinds(c)) == OF_VLLM[key]["rotary_tables"]
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
    """By hand, as get_rope makes them: Phi-3's two tables, dynamic and plain ones; 128 columns of 2 bytes."""
    fields = {**catalog_config("llama-3-8b").fields, "max_position_embeddings": 131_072}
    for rope, rows in (
        ({"type": "longrope", "original_max_position_embeddings": 4096}, 4096 + 131_072),
        ({"rope_type": "dynamic", "factor": 2.0}, 2 * 131_072),
        ({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32_768}, 4 * 32_768),
        (None, 131_072),
    ):
        config = read_config({**fields, "rope_scaling": rope})
        assert beside_weights(config, EngineArgs(), BATCH)[0].rotary_tables == rows * 128 * 2
