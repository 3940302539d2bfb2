"""A result's form is checked by the same code in a test, on the command line and in the browser."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from snippets.lab_results.schema import faults

GOOD: dict[str, Any] = {
    "schema": 2,
    "lab": "serve_kv",
    "lab_version": 3,
    "date": "2026-11-30",
    "quick": False,
    "versions": {"vllm": "0.26.0", "torch": "2.11.0", "python": "3.11.7"},
    "card": {
        "device": "cuda",
        "name": "NVIDIA GeForce RTX 4090",
        "count": 1,
        "driver": "580.95.05",
        "compute_capability": "8.9",
        "total_bytes": 25_383_256_719,
        "free_bytes": 24_910_810_316,
        "cpu_kv_space_gib": None,
    },
    "settings": [
        {
            "name": "FP8 KV",
            "model": "Qwen/Qwen2.5-7B-Instruct",
            "engine_args": {"kv_cache_dtype": "fp8"},
            "asked": {},
            "shape": {"name": "m", "num_layers": 28, "num_kv_heads": 4, "head_dim": 128, "dtype_bytes": 1},
            "start_seconds": 61.5,
            "startup_lines": ["Available KV cache memory: 6.69 GiB"],
            "predicted": {"available": {"value": [1, 2], "unit": "bytes"}},
            "measured": {"backend": {"value": "FLASHINFER", "unit": ""}},
            "series": {"latency": {"columns": [["batch", "requests"], ["p50", "s"]], "rows": [[1, 0.5], [2, 0.6]]}},
            "checks": [{"invariant": "blocks", "predicted": 9, "measured": 9, "unit": "blocks", "equal": True}],
            "notes": [],
            "skipped": None,
        }
    ],
}


def test_a_good_result_has_no_faults() -> None:
    assert faults(GOOD) == []


def test_a_range_is_a_prediction() -> None:
    assert (
        faults(GOOD | {"settings": [GOOD["settings"][0] | {"predicted": {"x": {"value": [1, 2], "unit": "s"}}}]}) == []
    )


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (("schema",), 1, "result.schema is 1; it must be 2"),
        (("quick",), 1, "result.quick is 1; it must be boolean"),
        (("lab_version",), True, "result.lab_version is true; it must be integer"),
        (("date",), "today", "result.date is 'today', which does not match"),
        (("card", "device"), "tpu", "result.card.device is 'tpu'; it must be one of 'cuda', 'cpu'"),
        (("card", "total_bytes"), 0, "result.card.total_bytes is 0; it must be 1 or more"),
        (("hostname",), "box", "result has hostname, which this schema does not know"),
        (
            ("settings", 0, "model"),
            "one/two/three",
            "result.settings[0].model is 'one/two/three', which does not",
        ),
        (
            ("settings", 0, "checks", 0, "equal"),
            "yes",
            'result.settings[0].checks[0].equal is "yes"; it must be boolean',
        ),
        (("settings", 0, "measured", "backend"), 5, "result.settings[0].measured.backend is 5; it must be object"),
        (
            ("settings", 0, "series", "latency", "rows", 1),
            [1],
            "settings[0].series.latency has a row that is not 2 wide",
        ),
        (("settings", 0, "series", "latency", "columns", 1), ["p50"], "columns[1] has 1 items; it must have 2"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(path: tuple[Any, ...], value: Any, fault: str) -> None:
    bad = copy.deepcopy(GOOD)
    inner: Any = bad
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    assert [fault in found for found in faults(bad)] == [True], faults(bad)


def test_what_is_missing_is_named() -> None:
    bad = copy.deepcopy(GOOD)
    del bad["card"]["driver"]
    assert faults(bad) == ["result.card lacks driver"]


@pytest.mark.parametrize("other", [None, [], "text", 3])
def test_another_kind_of_json_is_refused(other: Any) -> None:
    assert faults(other)[0].endswith("it must be object")
