"""What is dropped is a result, a log or refused in a sentence; models and cards are known by the names they go by."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from made_results import result, setting

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.run_check.compare import compare
from snippets.run_check.dropped import UnreadableError, read
from snippets.run_check.known import card_key, model_key
from snippets.run_check.pairs import cells, shown
from snippets.run_check.predict import predict_run
from snippets.run_check.run import Pair, Run
from snippets.units import GIB


# --- what is neither ---
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 1}, "This result has schema 1; this page reads schema 2"),
        ({"settings": []}, "no finished setting yet"),
        ({"date": "yesterday"}, "This result is not whole: result.date is 'yesterday'"),
        ({"extra": 1}, "result has extra, which this schema does not know"),
    ],
)
def test_a_result_that_is_not_whole_is_refused_with_what_is_wrong(change: dict[str, Any], said: str) -> None:
    with pytest.raises(UnreadableError, match=said.replace("(", r"\(")):
        read(json.dumps(result() | change))


def test_text_that_is_neither_is_refused_in_a_sentence_with_its_place() -> None:
    with pytest.raises(UnreadableError, match="is no result of a lab"):
        read('{"hidden_size": 4096}')
    with pytest.raises(UnreadableError, match=r"is no whole JSON\. Line 2, column 12") as refused:
        read('{\n "schema": }')
    assert (refused.value.line, refused.value.column) == (2, 12)
    with pytest.raises(UnreadableError, match="No line of vLLM's start"):
        read("a poem")


def test_a_log_that_begins_with_a_brace_is_a_log() -> None:
    assert read('{"pid": 1} starting\nGPU KV cache size: 100 tokens').title == "start-up log"


def test_every_field_of_a_result_may_be_anything() -> None:
    """Each value in turn is replaced by another kind; the answer is a reading or a sentence."""
    whole = result(setting())

    def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [path, *(place for key, item in inside for place in places(item, (*path, key)))]

    for path in places(whole)[1:]:
        bad: Any
        for bad in (None, -1, 10**30, 1e308, "\x00<b>", [], {}, [[1]], True, "9" * 5000):
            broken = copy.deepcopy(whole)
            at = broken
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = bad
            try:
                found = read(json.dumps(broken)).runs[0]
            except UnreadableError as error:
                assert 0 < len(str(error)) < 900
                continue
            compare(found, predict_run(found, catalog_config("qwen2.5-7b-awq"), gpu("rtx-4090")))


# --- names ---
@pytest.mark.parametrize(
    ("name", "total_gib", "key"),
    [
        ("NVIDIA GeForce RTX 4090", 23.64, "rtx-4090"),
        ("NVIDIA GeForce RTX 3090", 23.56, "rtx-3090"),
        ("NVIDIA GeForce RTX 5070", 11.5, None),
        ("NVIDIA A100-SXM4-80GB", 79.25, "a100-80gb"),
        ("NVIDIA A100-SXM4-40GB", 39.5, "a100-40gb"),
        ("NVIDIA H100 80GB HBM3", 79.19, "h100-80gb"),
        ("NVIDIA H100 PCIe", 79.19, "h100-pcie"),
        ("NVIDIA A10G", 22.06, "a10g"),
        ("NVIDIA RTX 6000 Ada Generation", 47.5, "rtx-6000-ada"),
        ("Tesla T4", 14.74, "t4"),
        ("NVIDIA GB10", 121.69, "gb10"),
        ("cpu", None, None),
    ],
)
def test_a_card_is_known_by_the_drivers_name(name: str, total_gib: float | None, key: str | None) -> None:
    run = Run("", "", "", {}, card=name, total=None if total_gib is None else round(total_gib * GIB))
    assert card_key(run) == key


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b-awq"),
        ("qwen/qwen2.5-7b-instruct", "qwen2.5-7b"),
        ("/data/llm-labs/models/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b-awq"),
        ("someone/else", None),
        ("", None),
    ],
)
def test_a_model_is_known_by_its_repository_or_its_folder(name: str, key: str | None) -> None:
    assert model_key(Run("", name, "", {})) == key


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        (0.123456, "0.12"),
        (0.00123, "0.00123"),
        (float("nan"), "–"),
        ((1, 2.5), "1 to 2.50"),
        (None, "–"),
        (10**400, "–"),
        ("x" * 100, "x" * 60),
        (True, "True"),
    ],
)
def test_a_value_of_a_lab_is_shown_with_the_digits_it_needs(value: Any, text: str) -> None:
    assert shown(value) == text


def test_bytes_of_a_lab_are_shown_as_gib() -> None:
    assert cells(Pair("left", 2**30, 3 * 2**29, "bytes", False)) == ("left", "1.00 GiB", "1.50 GiB", "differs")
    assert cells(Pair("left", float("nan"), None, "bytes")) == ("left", "– bytes", "– bytes", "")
    assert cells(Pair("left", (2**30, 2**31), (5, 5), "bytes"))[1:3] == ("1.00 to 2.00 GiB", "5 bytes")
