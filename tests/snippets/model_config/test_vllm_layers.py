"""Layers against vLLM's own model classes, by stored answers: invented configs of every family, and published ones."""

from __future__ import annotations

import json
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from snippets.model_config.model_config import AttentionCache, Cache, Layer, StateCache
from snippets.model_config.read import read_config

HERE = Path(__file__).parent
INVENTED = json.loads((HERE / "vllm_layers.json").read_text(encoding="utf-8"))
PUBLISHED = [
    row for row in json.loads((HERE / "published.json").read_text(encoding="utf-8"))["configs"] if "vllm" in row
]
KINDS = {
    "full": "FullAttentionSpec",
    "sliding": "SlidingWindowSpec",
    "chunked": "ChunkedLocalAttentionSpec",
    "mla": "MLAAttentionSpec",
    "indexer": "MLAAttentionSpec",
    "cross": "CrossAttentionSpec",
    "sliding_mla": "SlidingWindowMLASpec",
    "compressor": "SlidingWindowMLASpec",
}


def _shapes(state: StateCache) -> list[list[int]]:
    """vLLM's mamba_utils.py MambaStateShapeCalculator at tensor parallel size 1, in its default layout."""
    d = dict(state.dims)
    if state.kind == "mamba1":
        return [[d["conv_kernel"] - 1, d["intermediate_size"]], [d["intermediate_size"], d["state_size"]]]
    if state.kind == "mamba2":
        conv = d["intermediate_size"] + 2 * d["n_groups"] * d["state_size"]
        return [[d["conv_kernel"] - 1, conv], [d["num_heads"], d["head_dim"], d["state_size"]]]
    if state.kind in ("gdn", "kda"):
        conv = 2 * d["head_k_dim"] * d["num_k_heads"] + d["head_v_dim"] * d["num_v_heads"]
        return [[d["conv_kernel"] - 1, conv], [d["num_v_heads"], d["head_v_dim"], d["head_k_dim"]]]
    if state.kind == "short_conv":
        return [[d["conv_kernel"] - 1, d["intermediate_size"]]]
    return [[d["num_heads"], d["head_dim"], d["head_dim"]]]


def _spec(cache: Cache) -> dict[str, object]:
    if isinstance(cache, StateCache):
        return {"type": "MambaSpec", "shapes": _shapes(cache)}
    spec: dict[str, object] = {
        "type": KINDS[cache.kind],
        "num_kv_heads": cache.num_kv_heads,
        "head_size": cache.head_size,
    }
    if cache.head_size_v != cache.head_size:
        spec["head_size_v"] = cache.head_size_v
    if cache.sliding_window:
        spec["sliding_window"] = cache.sliding_window
    if cache.attention_chunk_size:
        spec["attention_chunk_size"] = cache.attention_chunk_size
    if cache.compress_ratio > 1 and spec["type"] == "MLAAttentionSpec":
        spec["compress_ratio"] = cache.compress_ratio
    return spec


def specs(layer: Layer) -> list[dict[str, object]]:
    """The specs of one layer, sorted; none for attention of an encoder, which vLLM gives no cache."""
    kept = [cache for cache in layer if not (isinstance(cache, AttentionCache) and cache.kind == "encoder_only")]
    return sorted((_spec(cache) for cache in kept), key=json.dumps)


def fields_of(case: dict[str, Any]) -> dict[str, Any]:
    """An invented config: the base with the case's differences."""
    base = {key: value for key, value in INVENTED["base"].items() if key not in case.get("without", ())}
    return {**base, **case["fields"]}


@pytest.mark.parametrize("case", INVENTED["cases"], ids=lambda case: str(case["name"]))
def test_an_invented_config_has_vllms_layers_in_vllms_order(case: dict[str, Any]) -> None:
    config = read_config(fields_of(case))
    assert [[len(list(group)), layer] for layer, group in groupby(map(specs, config.layers))] == case["layers"]
    assert config.default_max_model_len == case["max_model_len"]
    assert config.dtype == case["dtype"]
    assert config.num_experts == case["num_experts"]


@pytest.mark.parametrize("row", PUBLISHED, ids=lambda row: str(row["repo"]))
def test_a_published_config_has_vllms_layers(row: dict[str, Any]) -> None:
    config, answer = read_config(row["fields"]), row["vllm"]
    counted = Counter(json.dumps(specs(layer)) for layer in config.layers)
    assert [[count, json.loads(layer)] for layer, count in sorted(counted.items())] == answer["layers"]
    assert config.default_max_model_len == answer["max_model_len"]
    assert config.num_experts == answer.get("num_experts", config.num_experts)
    assert config.dtype == answer.get("dtype", config.dtype)
