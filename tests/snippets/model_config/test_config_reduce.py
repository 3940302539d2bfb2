"""A reduced config reads as the whole one does."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from snippets.model_config.model_config import ConfigError, ModelConfig
from snippets.model_config.read import read_config
from snippets.model_config.reduce import reduce
from snippets.planner.engine_args import EngineArgs
from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.rank import rank_weight_bytes

HERE = Path(__file__).parent
PUBLISHED = {row["repo"]: row["fields"] for row in json.loads((HERE / "published.json").read_text("utf-8"))["configs"]}
INVENTED = json.loads((HERE / "vllm_layers.json").read_text("utf-8"))
CONFIGS: dict[str, dict[str, Any]] = {
    **PUBLISHED,
    **{
        case["name"]: {
            **{key: value for key, value in INVENTED["base"].items() if key not in case.get("without", ())},
            **case["fields"],
        }
        for case in INVENTED["cases"]
    },
}
ASIDE = {
    "transformers_version": "5.0.0",
    "initializer_range": 0.02,
    "auto_map": {"AutoConfig": "x.Y"},
    "id2label": {str(label): f"LABEL_{label}" for label in range(100)},
}


def bare(config: ModelConfig) -> ModelConfig:
    return dataclasses.replace(config, fields={}, text_fields={}, used=())


@pytest.mark.parametrize("name", CONFIGS)
def test_reading_the_reduced_config_gives_the_same_model(name: str) -> None:
    whole = read_config({**ASIDE, **CONFIGS[name]})
    reduced = reduce(whole)
    assert not set(ASIDE) & set(reduced)
    assert bare(read_config(reduced)) == bare(whole)
    assert bare(read_config(reduce(whole, keep=()))) == bare(whole)


def weights(config: ModelConfig) -> int | str:
    try:
        return rank_weight_bytes(config, EngineArgs())
    except (ConfigError, WeightsError) as error:
        return str(error)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_weights_count_the_same_from_the_reduced_config(name: str) -> None:
    whole = read_config(CONFIGS[name])
    assert weights(read_config(reduce(whole))) == weights(whole)


def test_a_reduced_config_keeps_what_counts_weights() -> None:
    config = read_config({**CONFIGS["llama"], "tie_word_embeddings": True, "rms_norm_eps": 1e-5})
    assert reduce(config)["tie_word_embeddings"] is True
    assert "rms_norm_eps" not in reduce(config)
    assert "tie_word_embeddings" not in reduce(config, keep=())
