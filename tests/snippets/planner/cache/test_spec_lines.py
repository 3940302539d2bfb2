"""Lines of layer specs: what is taken, and that a malformed one names its field and raises nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snippets.planner.cache.spec_lines import LAYER, LINE, answer

LAYERS = {"n": 32, "kind": "full", "block_size": 16, "kv_heads": 8, "head_size": 128, "dtype": "bfloat16"}
QUESTION: dict[str, Any] = {"max_model_len": 8192, "available_bytes": 21474836480, "layers": [LAYERS]}


def changed(**fields: object) -> dict[str, Any]:
    return {**QUESTION, **fields}


def layer(**fields: object) -> dict[str, Any]:
    return changed(layers=[{**LAYERS, **fields}])


def test_the_answer_has_the_oracles_keys() -> None:
    # 20 GiB / (32 * 65,536) = 10,240 blocks; 10,240 / 512 = 20
    assert answer(QUESTION) == {
        "num_blocks": 10240,
        "tokens": 163840,
        "concurrency": 20.0,
        "max_model_len": 8192,
        "groups": [[32, "FullAttentionSpec", 16, 65536]],
    }


def test_stages_are_answered_stage_by_stage() -> None:
    half = {**LAYERS, "n": 16}
    found = answer({"max_model_len": 8192, "available_bytes": [10**10, 2 * 10**10], "stages": [[half], [half]]})
    assert found["groups"] == [[[16, "FullAttentionSpec", 16, 65536]]] * 2
    assert found["num_blocks"] == 10**10 // (16 * 65536)


def test_layers_are_named_as_the_oracle_names_them() -> None:
    odd = {**LAYERS, "kind": "sliding", "window": 128, "kv_heads": 3}
    assert str(answer(changed(layers=[LAYERS, odd]))["error"]).startswith(
        "Layer layers.1.0: page size is not divisible"
    )


def test_notes_are_carried_and_ignored() -> None:
    assert answer({**layer(note="first"), "id": 7}) == answer(QUESTION)


def test_a_line_read_before_does_not_make_true_a_number() -> None:
    one = layer(n=1)
    assert "error" not in answer(one)
    assert str(answer(layer(n=True))["error"]).startswith("layers[0].n is True")


@pytest.mark.parametrize(
    ("line", "start"),
    [
        ([], "the line is []"),
        ({}, "max_model_len is missing"),
        (changed(max_model_len="8k"), "max_model_len is '8k'"),
        (changed(max_model_len=0), "max_model_len is 0"),
        (changed(max_model_len=2**70), "max_model_len is a number beyond 2^63"),
        (changed(available_bytes=None), "available_bytes is None"),
        (changed(available_bytes=1.5), "available_bytes is 1.5"),
        (changed(layers={}), "layers is {}"),
        (changed(layers=[7]), "layers[0] is 7"),
        (changed(layer=1), "layer is not a field"),
        (changed(stages=[[LAYERS]]), "layers and stages are both given"),
        (changed(dcp=0), "dcp is 0"),
        (changed(disable_hybrid=1), "disable_hybrid is 1"),
        (changed(mamba_cache_mode="some"), "mamba_cache_mode is 'some'"),
        (layer(kind="rotary"), "layers[0].kind is 'rotary'"),
        (layer(kind="sliding"), "layers[0].window is missing"),
        (layer(kind="chunked"), "layers[0].chunk is missing"),
        (layer(kind="mamba"), "layers[0].shapes is missing"),
        (layer(kind="mamba", shapes=[[2, 3]], dtypes=["bfloat16", "float32"]), "layers[0].dtypes has 2 entries"),
        (layer(kind="mamba", shapes=[3], dtypes=["bfloat16"]), "layers[0].shapes[0] must be a list"),
        (layer(kind="mamba", shapes=[[0]], dtypes=["bfloat16"]), "layers[0].shapes[0][0] is 0"),
        (layer(cache_dtype="fp6"), "layers[0].cache_dtype is 'fp6'"),
        (layer(head_size=-1), "layers[0].head_size is -1"),
        (layer(windw=5), "layers[0].windw is not a field"),
        (layer(n=10**9), "n adds up to more than"),
        ({"max_model_len": 1, "available_bytes": [1], "stages": [LAYERS]}, "stages[0] is not a list"),
        ({"max_model_len": 1, "available_bytes": [1], "stages": [[], []]}, "2 stages and 1 values"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_malformed_line_names_its_field(line: object, start: str) -> None:
    found = answer(line)
    assert list(found) == ["error"]
    assert str(found["error"]).startswith(start)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["mamba", "mla"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from((*LINE, *LAYER)), inner, max_size=6),
    max_leaves=12,
)
ODD_LAYER = st.dictionaries(st.sampled_from(LAYER), JSON, max_size=3)
ODD_LINE = st.dictionaries(st.sampled_from(LINE), JSON, max_size=3)


@given(JSON | st.builds(lambda top, inner: {**QUESTION, **top, "layers": [{**LAYERS, **inner}]}, ODD_LINE, ODD_LAYER))
def test_any_json_gets_an_answer_that_is_json(line: object) -> None:
    found = answer(line)
    assert ("error" in found) != ("num_blocks" in found)
    json.dumps(found)
