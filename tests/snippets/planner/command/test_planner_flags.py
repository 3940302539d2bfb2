"""The command's flags against the names and arities read from vLLM 0.26.0's own parser (vllm_flags.json)."""

from __future__ import annotations

from dataclasses import fields

import pytest

from snippets.planner.command.errors import UsageError
from snippets.planner.command.numbers import human_readable_int
from snippets.planner.command.other_flags import (
    CHANGES_THE_BUDGET,
    CHANGES_THE_CACHE,
    HARMLESS,
    MOVES_THE_ESTIMATE,
    sort_others,
    vllm_flags,
)
from snippets.planner.command.own_flags import ENGINE_FLAGS, SPECULATIVE_FLAGS, engine_args
from snippets.planner.command.parse import parse
from snippets.planner.engine_args import EngineArgs

TAKES = {spelling: takes for spellings, takes in vllm_flags() for spelling in spellings}


def args(line: str) -> EngineArgs:
    return engine_args(parse(line.split()))


def test_vllm_serve_has_274_options_beside_help_and_the_model() -> None:
    assert len(vllm_flags()) == 274  # 276 actions of make_arg_parser, less -h and the positional model_tag


@pytest.mark.parametrize("flag", [*ENGINE_FLAGS, *SPECULATIVE_FLAGS], ids=lambda flag: flag.options[0])
def test_each_flag_is_spelled_and_takes_values_as_vllms(flag) -> None:  # type: ignore[no-untyped-def]
    assert {TAKES.get(option) for option in flag.options} == {"none" if flag.read is None else "one"}


def test_every_engine_argument_has_its_flag() -> None:
    own = {flag.field for flag in ENGINE_FLAGS} | {"speculative", "usage"}
    assert {field.name for field in fields(EngineArgs)} - own == set()


@pytest.mark.parametrize("name", [*CHANGES_THE_CACHE, *CHANGES_THE_BUDGET, *MOVES_THE_ESTIMATE, *HARMLESS])
def test_each_flag_with_a_reason_is_one_of_vllms(name: str) -> None:
    assert name in TAKES


@pytest.mark.parametrize(
    ("text", "number"),
    # Examples in vllm/utils/argparse_utils.py human_readable_int: 1k 1,000, 1K 1,024, 25.6k 25,600
    [("8192", 8192), ("8k", 8000), ("8K", 8192), ("1k", 1000), ("1K", 1024), ("25.6k", 25_600), ("1g", 10**9)],
)
def test_suffixes_mean_what_they_mean_to_vllm(text: str, number: int) -> None:
    assert human_readable_int(text) == number


def test_a_decimal_with_a_binary_suffix_is_refused_as_by_vllm() -> None:
    with pytest.raises(
        UsageError, match=r"Decimals are not allowed with binary suffixes like K. Did you mean to use 25.6k"
    ):
        parse(["config.json", "--max-model-len", "25.6K"])


def test_a_pasted_serve_line_is_understood() -> None:
    line = "vllm serve org/model -tp 2 --max_num_seqs=64 --no-enable-prefix-caching --enforce-eager --port 8000"
    values = parse(line.split())
    assert (values.model, engine_args(values)) == (
        "org/model",
        EngineArgs(tensor_parallel_size=2, max_num_seqs=64, enable_prefix_caching=False, enforce_eager=True),
    )
    assert sort_others(values.others, False) == (
        ["Not in the command, since memory does not depend on them: --port."],
        [],
    )


def test_minus_one_and_auto_are_the_same_length() -> None:
    assert args("c --max-model-len -1").max_model_len == args("c --max-model-len auto").max_model_len == "auto"


def test_an_abbreviation_works_as_in_vllms_log() -> None:
    # gpu_worker.py proposes `--kv-cache-memory=N`, which its parser takes for --kv-cache-memory-bytes
    assert args("c --kv-cache-memory=8G").kv_cache_memory_bytes == 8 * 2**30


def test_dotted_keys_are_gathered_as_json() -> None:
    values = parse(["c", "--speculative-config.method", "mtp", "--speculative-config.num-speculative-tokens=2"])
    assert values.speculative_config == {"method": "mtp", "num_speculative_tokens": 2}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("c --max-modellen 3", "no flag of vLLM 0.26.0 nor of this planner. Did you mean --max-model-len?"),
        ("c --swap-space 4", "--swap-space is no flag of vLLM 0.26.0"),
        ("c --max-model-len abc", "--max-model-len: it must be a whole number such as 8192, 8k or 8K; got 'abc'."),
        ("c --kv-cache-dtype fp7", "--kv-cache-dtype: 'fp7' is not one of auto, bfloat16, "),
        ("c --gpu-memory-utilization nan", "--gpu-memory-utilization: 'nan' is not a number."),
        ("c --weights-gib -1", "--weights-gib: -1 GiB is less than nothing."),
        ("c --speculative-config {", "--speculative-config/-sc: '{' is not JSON"),
        ("c --json --csv", "not allowed with"),
        ("c d", "'d' is one word too many"),
        ("c --max-model-len", "expected one argument"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_refused_in_a_sentence(line: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(line.split())
    assert said in str(refused.value)


def test_a_flag_that_changes_the_cache_is_refused_whatever_is_given() -> None:
    others = parse(["c", "--disable-sliding-window"]).others
    expected = "--disable-sliding-window is not planned for: it shortens the context to the window. Leave it out."
    assert sort_others(others, memory_given=True) == ([], [expected])


def test_a_flag_that_changes_weights_is_refused_unless_the_cache_memory_is_given() -> None:
    others = parse(["c", "--cpu-offload-gb", "10"]).others
    assert sort_others(others, memory_given=False)[1] != []
    assert sort_others(others, memory_given=True)[1] == []


@pytest.mark.parametrize("line", ["c --cpu-offload-gb 0", "c --runner auto", "c --no-enable-lora"])
def test_a_flag_at_its_default_is_no_reason_to_refuse(line: str) -> None:
    assert sort_others(parse(line.split()).others, memory_given=False)[1] == []


def test_every_switch_of_vllm_parses_with_its_negation() -> None:
    for spellings, takes in vllm_flags():
        if takes == "none":
            for spelling in spellings:
                parse(["c", spelling])
