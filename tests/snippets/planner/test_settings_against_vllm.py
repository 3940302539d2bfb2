"""Settings and layer specs against kept answers of vLLM 0.26.0's own model classes (tests/oracle/model_record.py)."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from model_compare import stored
from model_facts import differences, kind_of, ours, own_words
from model_questions import questions, with_configs

KEPT = stored()
CARDS = sorted({json.loads(question)["gpu"] for question in KEPT})


# Both refuse, and both are right: vLLM meets the other fault first, or says less than we do of the same one.
OTHER_FAULT_FIRST = {
    ("gemma-3-27b", "decode_context_parallel_size"),
    ("gemma-4-31b-nvfp4", "decode_context_parallel_size"),
    ("nemotron-3-super-fp8", "quantization"),
    *((key, "fp8_e5m2") for key in ("deepseek-v3", "deepseek-v3.2", "kimi-k2")),
    *((key, '"tensor_parallel_size": 32') for key in ("deepseek-v3", "deepseek-v3.2", "kimi-k2")),
    ("llama-4-scout", '"tensor_parallel_size": 5'),
    *((key, "turboquant") for key in ("llama-4-scout", "deepseek-v2-lite", "deepseek-v3", "kimi-k2")),
}


def test_the_kept_answers_are_those_to_todays_questions() -> None:
    assert set(KEPT) == {json.dumps(question) for question in questions()}


def test_there_are_plans_refusals_and_full_caches_among_them() -> None:
    kinds = Counter(kind_of(answer) for answer in KEPT.values())
    assert kinds["plans"] > 600
    assert kinds["refused settings"] > 200
    assert kinds["refused plans"] > 15


@pytest.mark.parametrize("card", CARDS)
def test_every_setting_layer_block_and_group_is_vllms_on(card: str) -> None:
    found = []
    for text, theirs in KEPT.items():
        question = json.loads(text)
        if question["gpu"] == card:
            different = differences(ours(with_configs(question)), theirs)
            found += [f"{question['model']} {question['args']}: {'; '.join(different)}"] if different else []
    assert found == []


def test_refusals_are_in_vllms_words_where_it_has_words() -> None:
    found = []
    for text, theirs in KEPT.items():
        if "error" in theirs and not own_words(theirs["error"]):
            question = json.loads(text)
            mine = ours(with_configs(question)).get("error", "")
            if any(key == question["model"] and part in text for key, part in OTHER_FAULT_FIRST):
                assert mine
                continue
            found += [] if theirs["error"] in mine else [f"{text}\n  vLLM: {theirs['error']}\n  ours: {mine}"]
    assert found == []
