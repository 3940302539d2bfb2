"""Any JSON, and any damage to a config, gives a ModelConfig or a ConfigError: nothing else, and soon."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snippets.model_config.model_config import AttentionCache, ConfigError, ModelConfig
from snippets.model_config.read import read_config, read_text

HERE = Path(__file__).parent
PUBLISHED = [row["fields"] for row in json.loads((HERE / "published.json").read_text(encoding="utf-8"))["configs"]]
INVENTED = json.loads((HERE / "vllm_layers.json").read_text(encoding="utf-8"))
CONFIGS = PUBLISHED + [{**INVENTED["base"], **case["fields"]} for case in INVENTED["cases"]]
MANY = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 7, 2**31, 2**63, 10**30, -(10**30)]),
    st.integers(),
    st.floats(),
    st.sampled_from(["", "auto", "full_attention", "sliding_attention", "float16", "fp8", "LLLG", "M*-E", "yarn"]),
    st.text(max_size=8),
)
junk = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


def sound(config: ModelConfig) -> None:
    """What every answer must satisfy, whatever was asked."""
    assert 1 <= len(config.layers) <= 4096
    assert config.max_model_len >= 1
    assert config.dtype in ("bfloat16", "float16", "float32")
    caches = [cache for layer in config.layers for cache in layer if isinstance(cache, AttentionCache)]
    assert all(cache.num_kv_heads >= 1 and cache.head_size >= 1 and cache.head_size_v >= 1 for cache in caches)


def read_or_refuse(fields: Any) -> None:
    try:
        config = read_config(fields)
    except ConfigError as error:
        assert str(error)
        return
    sound(config)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a config where something stands."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    return found + [place for key, item in items for place in places(item, (*path, key))]


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    """A real config with one to three fields dropped, replaced or renamed."""
    fields = copy.deepcopy(draw(st.sampled_from(CONFIGS)))
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(places(fields)))
        target = fields
        for step in way:
            target = target[step]
        action = draw(st.sampled_from(["drop", "replace", "rename"]))
        if action == "replace" or isinstance(target, list):
            target[last] = draw(junk)
        elif action == "drop":
            del target[last]
        else:
            target[draw(st.sampled_from([*fields, "n_layers", "llm_config", "text_config"]))] = target.pop(last)
        if not fields:
            break
    return fields


@MANY
@given(damaged())
def test_a_damaged_config_is_read_or_refused(fields: Any) -> None:
    read_or_refuse(fields)


@MANY
@given(st.dictionaries(st.text(max_size=12), junk, max_size=6))
def test_any_object_is_read_or_refused(fields: Any) -> None:
    read_or_refuse(fields)


@MANY
@given(st.dictionaries(st.sampled_from(sorted({key for fields in CONFIGS for key in fields})), junk, max_size=12))
def test_any_values_under_known_names_are_read_or_refused(fields: Any) -> None:
    read_or_refuse(fields)


@MANY
@given(st.text() | st.text(alphabet="{}[]\",:\\ \n0123456789eE+-.truefalsn'#/") | junk.map(json.dumps))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        sound(read_text(text))
    except ConfigError as error:
        assert str(error)
        assert error.line >= 0 and error.column >= 0


@MANY
@given(st.sampled_from(CONFIGS).map(json.dumps), st.integers(0, 10**6), st.text(max_size=3))
def test_a_cut_or_scratched_text_is_read_or_refused(text: str, place: int, scratch: str) -> None:
    cut = place % len(text)
    for broken in (text[:cut], text[:cut] + scratch + text[cut + 1 :]):
        try:
            sound(read_text(broken))
        except ConfigError as error:
            assert str(error)
