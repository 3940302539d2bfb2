"""The first screen's tool says what the planner says, and what to do where nothing fits."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from planned import concurrency, other_memory, planned

from snippets.planner.engine_args import EngineArgs
from snippets.planner.plan import Plan
from snippets.planner.specs import CachePlan
from snippets.units import GIB
from snippets.widgets.how_many_fit import WIDGET
from snippets.widgets.run import run, to_json


def shown(**state: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(to_json(run(WIDGET, state, {}, "wide")))
    return answer


def readout(answer: dict[str, Any], name: str) -> tuple[str, str]:
    found = next(one for one in answer["readouts"] if one["name"] == name)
    return found["value"], found["detail"]


def plan_of(state: dict[str, str]) -> Plan:
    """The planner's answer to what the tool was asked."""
    args = EngineArgs(
        max_model_len=int(state.get("seq_len", 8192)),
        gpu_memory_utilization=float(state.get("utilization", 0.92)),
        kv_cache_dtype={"16": "auto", "8": "fp8"}[state.get("kv_bits", "16")],
    )
    return planned({"bf16": "qwen2.5-7b", "awq": "qwen2.5-7b-awq"}[state.get("weights", "bf16")], args)


LENGTHS = ("512", "1000", "4096", "8192", "24576", "32768")
UTILIZATIONS = ("0.92", "0.8", "0.97")


@pytest.mark.parametrize(("weights", "kv_bits"), [*product(("bf16", "awq"), ("16", "8"))])
def test_it_says_what_the_planner_says(weights: str, kv_bits: str) -> None:
    for seq_len, utilization in product(LENGTHS, UTILIZATIONS):
        state = {"weights": weights, "kv_bits": kv_bits, "seq_len": seq_len, "utilization": utilization}
        answer, plan = shown(**state), plan_of(state)
        low, expected, high = (cache.max_concurrency if cache else 0 for cache in ends(plan))
        value, detail = readout(answer, "requests")
        assert value == str(min(int(expected), 256)), state
        assert readout(answer, "kv")[0] == f"{(plan.available_bytes or 0) / GIB:.2f}", state
        if expected >= 256:
            assert detail == f"the most that max_num_seqs allows; memory would hold {int(expected):,}"
            continue
        assert f"vLLM would print {expected:.2f}x" in detail
        if int(low) != int(high):
            assert detail.startswith(f"{min(int(low), 256)} to {min(int(high), 256)} over the estimated range;"), state


def ends(plan: Plan) -> tuple[CachePlan | None, ...]:
    return plan.cache_low, plan.cache, plan.cache_high


def test_it_refuses_to_start_where_the_planner_does() -> None:
    state = {"utilization": "0.65", "seq_len": "32768"}
    assert plan_of(state).cache is None
    assert readout(shown(**state), "requests") == ("0", "vLLM refuses to start with max_model_len=32768")


def test_the_note_states_the_planners_range() -> None:
    low, expected, high = (f"{n / GIB:.2f} GiB" for n in other_memory(planned()))
    assert f"at {expected} in a range of {low} to {high}" in shown()["notes"][0]


def test_the_drawing_says_how_many_fit() -> None:
    figure, plan = shown()["figures"][0], planned()
    fit, left = int(concurrency(plan)), f"{(plan.available_bytes or 0) / GIB:.2f} GiB"
    assert figure["finding"] == f"{fit} requests of 8,192 tokens fit into the {left} left for the KV cache"
    assert figure["svg"].count("s-paper") in (fit - 1, fit)  # a cut after each, but none at the very end


def test_max_num_seqs_is_a_second_ceiling() -> None:
    answer = shown(seq_len="512", weights="awq", kv_bits="8")
    value, detail = readout(answer, "requests")
    memory = int(concurrency(plan_of({"seq_len": "512", "weights": "awq", "kv_bits": "8"})))
    assert (value, detail) == ("256", f"the most that max_num_seqs allows; memory would hold {memory:,}")
    assert any("at most 256 requests" in note for note in answer["notes"])


def test_a_request_longer_than_the_cache_stops_the_start() -> None:
    answer = shown(utilization="0.66", seq_len="32768")  # 23.64 × 0.66 − 14.19 = 1.42 GiB at most, 1.75 GiB needed
    assert readout(answer, "requests") == ("0", "vLLM refuses to start with max_model_len=32768")
    assert answer["figures"][0]["finding"].startswith("A request of 32,768 tokens does not fit")


def test_a_utilization_that_leaves_nothing_is_refused_and_the_last_good_one_shown() -> None:
    answer = shown(utilization="0.55")
    assert f"takes {least('qwen2.5-7b')} to 0.97 with BF16 weights" in answer["errors"]["utilization"]
    assert (
        f"takes {least('qwen2.5-7b-awq')} to 0.97 " in shown(weights="awq", utilization="0.2")["errors"]["utilization"]
    )
    assert shown(utilization=least("qwen2.5-7b"))["errors"] == {}
    assert shown(weights="awq", utilization=least("qwen2.5-7b-awq"))["errors"] == {}
    assert readout(answer, "requests")[0] == str(int(concurrency(planned())))


def least(model: str) -> str:
    """The first hundredth at which the planner's low end leaves something."""
    left = ((n, planned(model, EngineArgs(max_model_len=8192, gpu_memory_utilization=n / 100))) for n in range(20, 101))
    return f"{next(n for n, plan in left if plan.budget and plan.budget.available.low > 0) / 100:.2f}"


def test_what_leaves_nothing_stands_where_the_reader_changed_something() -> None:
    before = {"weights": "awq", "utilization": "0.5"}
    errors = run(WIDGET, {"weights": "bf16", "utilization": "0.5"}, before, "wide")["errors"]
    assert list(errors) == ["weights"]
    assert list(shown(utilization="0.5")["errors"]) == ["utilization"]


def test_smaller_weights_are_offered_only_where_they_help() -> None:
    assert shown(utilization="0.5")["errors"]["utilization"].endswith(" Or take 4-bit weights.")
    for state in ({"utilization": "0.2"}, {"utilization": "0.2", "weights": "awq"}):
        assert "4-bit weights." not in shown(**state)["errors"]["utilization"]


def test_a_share_that_the_card_cannot_have_free_is_refused_as_vllm_refuses_it() -> None:
    # Logs of clean cards show up to 0.6 GiB held by the CUDA context: 23.64 × 0.98 = 23.17 GiB leave 0.47.
    assert shown(utilization="0.97")["errors"] == {}
    for share in ("0.98", "1"):
        assert "takes at most 0.97 here" in shown(utilization=share)["errors"]["utilization"]
