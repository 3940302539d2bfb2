"""The first screen's tool: published sequences of the baseline, and what it says where nothing fits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from snippets.widgets.how_many_fit import WIDGET
from snippets.widgets.run import run, to_json


def shown(**state: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(to_json(run(WIDGET, state, {}, "wide")))
    return answer


def readout(answer: dict[str, Any], name: str) -> tuple[str, str]:
    found = next(one for one in answer["readouts"] if one["name"] == name)
    return found["value"], found["detail"]


# 23.64 GiB × 0.92 − 14.19 − 1.4 = 6.16 GiB; ÷ 57,344 B × 8,192 = 14.09; with FP8 twice, with 5.19 GiB of weights 34.65
@pytest.mark.parametrize(
    ("state", "requests", "printed"),
    [
        ({}, "14", "14.09x"),
        ({"kv_bits": "8"}, "28", "28.18x"),
        ({"weights": "awq"}, "34", "34.65x"),
        ({"weights": "awq", "kv_bits": "8"}, "69", "69.30x"),
    ],
)
def test_requests_of_8192_tokens_on_the_baseline(state: dict[str, str], requests: str, printed: str) -> None:
    value, detail = readout(shown(**state), "requests")
    assert value == requests
    assert printed in detail


def test_the_drawing_says_how_many_fit() -> None:
    figure = shown()["figures"][0]
    assert figure["finding"] == "14 requests of 8,192 tokens fit into the 6.16 GiB left for the KV cache"
    assert figure["svg"].count("s-paper") == 13  # cuts make 14 pieces


def test_max_num_seqs_is_a_second_ceiling() -> None:
    answer = shown(seq_len="512", weights="awq", kv_bits="8")
    value, detail = readout(answer, "requests")
    assert (value, detail) == ("256", "the most that max_num_seqs allows; memory would hold 1,108")  # 69.3 × 16
    assert any("at most 256 requests" in note for note in answer["notes"])


def test_a_request_longer_than_the_cache_stops_the_start() -> None:
    answer = shown(utilization="0.7", seq_len="32768")  # 0.96 GiB left, 1.75 GiB needed
    assert readout(answer, "requests") == ("0", "vLLM refuses to start with max_model_len=32768")
    assert answer["figures"][0]["finding"].startswith("A request of 32,768 tokens does not fit")


def test_a_utilization_that_leaves_nothing_is_refused_and_the_last_good_one_shown() -> None:
    answer = shown(utilization="0.6")
    assert "takes 0.69 to 1 " in answer["errors"]["utilization"]  # (14.19 + 2) / 23.64 = 0.685
    assert "takes 0.31 to 1 " in shown(weights="awq", utilization="0.3")["errors"]["utilization"]  # (5.19 + 2) / 23.64
    assert shown(utilization="0.69")["errors"] == shown(weights="awq", utilization="0.31")["errors"] == {}
    assert readout(answer, "requests")[0] == "14"
