"""max_model_len as typed: the examples are those of vLLM 0.26.0's own docstring (utils/argparse_utils.py)."""

from __future__ import annotations

import dataclasses

import pytest

from snippets.catalog.configs import catalog_config, config_entries
from snippets.catalog.gpus import gpu
from snippets.model_config.read import read_config
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings import parse_human_int, parse_max_model_len, resolve


@pytest.mark.parametrize(
    ("text", "number"),
    [("1k", 1_000), ("1K", 1_024), ("25.6k", 25_600), ("8k", 8_000), ("8K", 8_192), ("1g", 10**9), ("2M", 2 * 2**20),
     ("1.5k", 1_500), (" 4096 ", 4_096), ("1t", 10**12), ("1T", 2**40)],
)  # fmt: skip
def test_small_letters_count_in_thousands_and_capitals_in_1024(text: str, number: int) -> None:
    assert parse_human_int(text) == number


def test_a_decimal_before_a_binary_suffix_is_refused_with_the_decimal_one_named() -> None:
    with pytest.raises(EngineArgsError, match=r"Did you mean to use 1\.5k instead"):
        parse_human_int("1.5K")


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_typed_leaves_the_length_to_the_model(text: str) -> None:
    assert parse_max_model_len(text) is None


@pytest.mark.parametrize("text", ["auto", "AUTO", "-1"])
def test_auto_and_minus_one_mean_what_fits(text: str) -> None:
    assert parse_max_model_len(text) == "auto"


@pytest.mark.parametrize("text", ["0", "-5", "long", "8kk", "1,000"])
def test_what_is_no_length_is_refused_under_its_name(text: str) -> None:
    with pytest.raises(EngineArgsError) as refused:
        parse_max_model_len(text)
    assert refused.value.field == "max_model_len"


def test_a_length_above_the_models_is_refused_in_vllms_words() -> None:
    with pytest.raises(EngineArgsError) as refused:
        resolve(catalog_config("llama-3.1-8b"), EngineArgs(max_model_len=200_000), gpu("h100-80gb"))
    assert str(refused.value).startswith(
        "User-specified max_model_len (200000) is greater than the derived max_model_len "
        "(max_position_embeddings=131072.0 or model_max_length=None in model's config.json). "
        "To allow overriding this maximum, set the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1."
    )


def test_auto_starts_from_the_models_own_length_and_says_so_to_the_planning() -> None:
    resolved = resolve(catalog_config("llama-3.1-8b"), EngineArgs(max_model_len="auto"), gpu("h100-80gb"))
    assert (resolved.max_model_len, resolved.limits.auto_fit) == (131_072, True)


@pytest.mark.parametrize("kind", ["dynamic", "linear", "yarn"])
def test_scaled_positions_without_a_factor_are_refused_in_vllms_words(kind: str) -> None:
    """tests/oracle/model_oracle.py with llama-2-7b; an alpha beside it changes nothing."""
    fields = dict(config_entries()["llama-2-7b"].config) | {"rope_scaling": {"type": kind, "alpha": 1000.0}}
    with pytest.raises(EngineArgsError) as refused:
        resolve(read_config(fields), EngineArgs(max_model_len=2048), gpu("h200"))
    said = f"Missing required keys in `rope_parameters` for 'rope_type'='{kind}': {{'factor'}}"
    assert (refused.value.field, str(refused.value)) == ("rope_scaling", said)


def test_a_config_that_names_no_length_takes_any() -> None:
    config = catalog_config("falcon-mamba-7b")
    assert config.max_model_len_key == "default"
    longer = resolve(config, EngineArgs(max_model_len=4 * config.max_model_len), gpu("h100-80gb"))
    assert longer.max_model_len == 4 * config.max_model_len


def test_a_long_rope_model_runs_with_the_shorter_length_until_more_is_asked() -> None:
    config = dataclasses.replace(catalog_config("phi-3-mini-4k"), max_model_len=131_072, default_max_model_len=4_096)
    assert resolve(config, EngineArgs(), gpu("h100-80gb")).max_model_len == 4_096
    assert resolve(config, EngineArgs(max_model_len=65_536), gpu("h100-80gb")).max_model_len == 65_536
