"""What is set becomes vLLM's arguments, under their names; a pasted config is read once and refused with its place."""

from __future__ import annotations

import json
from dataclasses import fields

import pytest

from snippets.catalog.configs import catalog_config, config_entries
from snippets.planner.engine_args import EngineArgs
from snippets.units import GIB
from snippets.widgets.declare import TextError
from snippets.widgets.planner import DEFAULTS, WIDGET
from snippets.widgets.planning import options
from snippets.widgets.planning.own_config import MOST_IN_LINK, NOT_IN_LINK, check_config, in_link, own_config
from snippets.widgets.planning.question import ASKED, SAME_NAME, SWITCHES, THREE_STATES, Question, question
from snippets.widgets.run import read_state

KIMI = json.dumps(dict(config_entries()["kimi-k2"].config), indent=2)


def asked(**state: str) -> Question:
    values, errors, _ = read_state(WIDGET, DEFAULTS | state, {})
    assert errors == {}
    found = question(values)
    assert found is not None
    return found


def test_the_tool_opens_with_the_sites_baseline_and_vllms_defaults() -> None:
    found = asked()
    assert (found.name, found.gpu and found.gpu.key) == ("Qwen2.5-7B-Instruct", "rtx-4090")
    assert found.args == EngineArgs(max_model_len=8192)


def test_controls_are_named_like_vllms_arguments() -> None:
    arguments = {field.name for field in fields(EngineArgs)}
    assert {*SAME_NAME, *SWITCHES, *THREE_STATES, "max_model_len", "kv_cache_memory_bytes"} <= arguments
    assert set(ASKED) <= set(WIDGET.controls)


@pytest.mark.parametrize(
    ("state", "argument", "value"),
    [
        ({"max_model_len": "8k"}, "max_model_len", 8000),  # vLLM's suffixes: k is 1,000, K is 1,024
        ({"max_model_len": "8K"}, "max_model_len", 8192),
        ({"max_model_len": " auto "}, "max_model_len", "auto"),
        ({"max_model_len": "-1"}, "max_model_len", "auto"),
        ({"max_model_len": ""}, "max_model_len", None),
        ({"kv_cache_memory_bytes": "8G"}, "kv_cache_memory_bytes", 8 * GIB),
        ({"kv_cache_dtype": "fp8_e5m2"}, "kv_cache_dtype", "fp8_e5m2"),
        ({"enforce_eager": "yes"}, "enforce_eager", True),
        ({"enable_prefix_caching": "auto"}, "enable_prefix_caching", None),
        ({"enable_prefix_caching": "off"}, "enable_prefix_caching", False),
        ({"num_gpu_blocks_override": "1000"}, "num_gpu_blocks_override", 1000),
        ({"block_size": ""}, "block_size", None),
        ({"tensor_parallel_size": "8"}, "tensor_parallel_size", 8),
    ],
)
def test_a_control_is_the_argument(state: dict[str, str], argument: str, value: object) -> None:
    assert getattr(asked(**state).args, argument) == value


@pytest.mark.parametrize(
    ("control", "typed", "said"),
    [
        ("max_model_len", "long", "max_model_len must be a whole number such as 8192, 8k or 8K; got 'long'"),
        ("max_model_len", "1.5K", "Decimals are not allowed with binary suffixes like K"),
        ("max_model_len", "0", "max_model_len must be a positive integer, got 0"),
        ("kv_cache_memory_bytes", "much", "must be a whole number such as"),
        ("kv_cache_memory_bytes", "0", "must be 1 or more"),
        ("gpu_memory_utilization", "1.5", "takes a number from 0.01 to 1"),
    ],
)
def test_a_wrong_setting_is_refused_in_words_and_the_others_stand(control: str, typed: str, said: str) -> None:
    values, errors, _ = read_state(WIDGET, {control: typed, "max_num_seqs": "64"}, {})
    assert said in errors[control]
    assert values["max_num_seqs"] == 64


def test_a_drafter_is_read_only_for_a_method_that_has_one() -> None:
    assert asked(method="ngram", num_speculative_tokens="3").args.speculative is not None
    plain = asked(method="ngram").args.speculative
    drafted = asked(method="draft_model", drafter="qwen2.5-0.5b").args.speculative
    assert plain is not None and plain.draft is None
    assert drafted is not None and drafted.draft == catalog_config("qwen2.5-0.5b")


def test_another_card_is_known_by_its_memory_alone() -> None:
    found = asked(gpu=options.OTHER_CARD, gpu_gib="47.5")
    assert found.gpu is None
    assert found.total_bytes == round(47.5 * GIB)


def test_what_a_log_says_is_taken_as_it_is() -> None:
    found = asked(weights_gib="14.25", available_gib="6.16")
    assert (found.weights_bytes, found.available_bytes) == (round(14.25 * GIB), round(6.16 * GIB))


def test_every_model_and_card_of_the_catalog_is_offered_once_under_a_heading() -> None:
    for offered, least in ((options.models(), 40), (options.cards(), 20)):
        values = [option.value for option in offered]
        assert len(values) == len(set(values)) > least
        headings = [option.group for option in offered]
        assert all(headings)
        runs = [name for at, name in enumerate(headings) if at == 0 or headings[at - 1] != name]
        assert len([name for name in runs if name != "Yours"]) == len({name for name in runs if name != "Yours"})
    assert options.models()[0].value == options.PASTE


def test_a_pasted_config_gives_the_catalogs_answer() -> None:
    found = asked(model=options.PASTE, config=KIMI)
    assert found.config == catalog_config("kimi-k2")
    assert found.repository == "MODEL"
    assert own_config(KIMI) is own_config(KIMI)  # read once


def test_nothing_is_asked_before_anything_is_pasted() -> None:
    values, errors, _ = read_state(WIDGET, {"model": options.PASTE, "config": " "}, {})
    assert errors == {}
    assert question(values) is None


@pytest.mark.parametrize(
    ("typed", "line", "column"),
    [
        ('{\n  "hidden_size": 8,\n  "num_hidden_layers": 2,,\n}', 3, 26),
        ("{'hidden_size': 8}", 1, 2),
        ('{"a": 1', 1, 8),
        ("# A model card", 1, 1),
    ],
)
def test_text_that_is_no_json_is_refused_at_its_place(typed: str, line: int, column: int) -> None:
    with pytest.raises(TextError, match=f"ine {line}, column {column}") as refused:
        check_config(typed)
    assert (refused.value.line, refused.value.column) == (line, column)


def test_a_config_without_a_size_is_refused_by_the_fields_name() -> None:
    with pytest.raises(TextError, match="num_hidden_layers"):
        check_config('{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096}')


def test_a_link_holds_the_fields_that_were_used_or_asks_for_the_config_again() -> None:
    labels = {str(n): f"LABEL_{n}" for n in range(300)}  # as classifiers' configs have them
    long = json.dumps({**json.loads(KIMI), "id2label": labels})
    short = in_link(long)
    assert short is not None and len(short) < MOST_IN_LINK < len(long)
    assert own_config(short).layers == catalog_config("kimi-k2").layers
    assert in_link(json.dumps(dict(config_entries()["qwen3.5-122b-a10b-fp8"].config))) is None
    with pytest.raises(TextError, match="paste it again"):
        check_config(NOT_IN_LINK)


@pytest.mark.parametrize("key", ["gemma-3-27b", "deepseek-v3", "gpt-oss-20b", "jamba-1.5-mini", "qwen3-next-80b-a3b"])
def test_a_link_plans_what_the_whole_config_plans(key: str) -> None:
    whole = json.dumps(dict(config_entries()[key].config))
    short = in_link(whole)
    assert short is not None
    plans = [
        asked(model=options.PASTE, config=text, gpu="h200", tensor_parallel_size="8").plan() for text in (whole, short)
    ]
    assert plans[0].cache == plans[1].cache
    assert plans[0].weights_bytes == plans[1].weights_bytes
