"""Weights per rank against vLLM 0.26.0's own model classes, built on the meta device (tests/oracle/weight_cases.py).

A case is a catalog model (or one with another quantization_config) and a layout; the stored answer is the sum over
the class's parameters, one number per pipeline stage.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from weight_cases import ANSWERS, config_of

from snippets.catalog.configs import catalog_config, config_entries
from snippets.catalog.gpus import gpu
from snippets.model_config.model_config import ModelConfig
from snippets.model_config.read import read_config
from snippets.planner.engine_args import EngineArgs, SpeculativeConfig
from snippets.planner.weights import WeightsError, drafter_weight_bytes, rank_weight_bytes, stage_sizes
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.parts.outside import embedding
from snippets.planner.weights.rank import counting_of

Case = dict[str, Any]
CASES: list[Case] = [json.loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines()]
COUNTED = [case for case in CASES if "weights" in case]
REFUSED = [case for case in CASES if "error" in case]


def name(case: Case) -> str:
    layout = "-".join(
        f"{key.removesuffix('_size')}{value}" for key, value in case["args"].items() if key != "speculative"
    )
    stored = case.get("quantization_config", {}).get("quant_method", "")
    drafts = case.get("draft", "mtp") if "speculative" in case["args"] else ""
    return " ".join(part for part in (case["key"], stored, layout, drafts, case["gpu"]) if part)


def config(case: Case) -> ModelConfig:
    changed = "quantization_config" in case
    return read_config(config_of(case)) if changed else catalog_config(case["key"])


def args(case: Case) -> EngineArgs:
    given = dict(case["args"])
    spec = given.pop("speculative", None)
    draft = catalog_config(case["draft"]) if "draft" in case else None
    speculative = SpeculativeConfig(spec["method"], spec["num_speculative_tokens"], draft) if spec else None
    return EngineArgs(**given, speculative=speculative)


def test_hundreds_of_cases_and_every_model_of_the_catalog_are_stored() -> None:
    assert len(COUNTED) >= 300
    assert {case["key"] for case in COUNTED} == config_entries().keys()


# vLLM counts what the abridged side file of this one implies; the published file names exceptions, so we refuse.
ABRIDGED = {"nemotron-3-super-fp8"}


# Its class allocates 16 bits, and halves them while it loads: no figure for what stays.
MADE_ON_LOADING = [case for case in COUNTED if "quantization" in case["args"]]
STAGES = [case for case in COUNTED if case["key"] not in ABRIDGED and case not in MADE_ON_LOADING]


@pytest.mark.parametrize("case", STAGES, ids=name)
def test_each_stage_holds_what_vllm_s_class_allocates(case: Case) -> None:
    sizes = stage_sizes(config(case), args(case), gpu(case["gpu"]).compute_capability)
    assert [size.num_bytes for size in sizes] == case["weights"]


WITH_MTP = [case for case in COUNTED if "drafter_weights" in case and "draft" not in case]
WITH_DRAFT = [case for case in COUNTED if "draft" in case]


@pytest.mark.parametrize("case", WITH_DRAFT, ids=name)
def test_a_draft_model_takes_its_share_of_the_last_stage_in_the_target_s_dtype_and_its_own_quantization(
    case: Case,
) -> None:
    own = drafter_weight_bytes(config(case), args(case), gpu(case["gpu"]).compute_capability)
    assert own == case["drafter_weights"]


@pytest.mark.parametrize("case", WITH_MTP, ids=name)
def test_mtp_layers_take_what_the_drafter_s_class_has_but_its_embedding_and_lm_head(case: Case) -> None:
    counted: Counting = counting_of(config(case), args(case), gpu(case["gpu"]).compute_capability)
    own = drafter_weight_bytes(config(case), args(case))
    assert own + 2 * embedding(counted).num_bytes == case["drafter_weights"]


@pytest.mark.parametrize("case", REFUSED, ids=name)
def test_a_split_that_vllm_s_class_cannot_make_is_refused(case: Case) -> None:
    if case["args"].get("pipeline_parallel_size", 1) > 1:
        assert "Pipeline parallelism is not supported" in case["error"]  # the planner's layout check says so
        return
    with pytest.raises(WeightsError, match="choose another number of ranks"):
        stage_sizes(config(case), args(case))


def test_without_a_stage_the_largest_one_counts() -> None:
    three = EngineArgs(pipeline_parallel_size=3)
    sizes = [size.num_bytes for size in stage_sizes(catalog_config("deepseek-v3"), three)]
    assert rank_weight_bytes(catalog_config("deepseek-v3"), three) == max(sizes)
    assert [rank_weight_bytes(catalog_config("deepseek-v3"), three, rank) for rank in range(3)] == sizes
