"""Recorded runs: exact where the formula says so, and silent about whose machine it was."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools import lab_results

ROOT = Path(__file__).resolve().parents[2]
RECORDS = sorted((ROOT / "labs/results").glob("*.json"))
SETTINGS = {  # vLLM 0.26.0 (CPU build) in an earlier run of its own, 2026-11-29: blocks, tokens, concurrency
    ("auto", 128): (146, 18_688, "2.28"),
    ("auto", 16): (1170, 18_720, "2.29"),
    ("fp8", 128): (292, 37_376, "4.56"),
}


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
def test_a_record_says_where_it_comes_from(path: Path) -> None:
    found = json.loads(path.read_text())["provenance"]
    assert set(found) == {"what", "model", "date", "vllm", "torch"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", found["date"])
    assert found["vllm"] == "0.26.0"


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
def test_a_record_names_no_machine(path: Path) -> None:
    assert re.findall(r"(?:/[a-z]+){2,}|\b\d{1,3}(?:\.\d{1,3}){3}\b|hostname", path.read_text()) == []


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
def test_in_a_record_the_formula_gives_what_vllm_reported(path: Path) -> None:
    for run in json.loads(path.read_text())["runs"]:
        made = run["predicted_from_available"]
        assert {key: run["measured"][key] for key in made} == made


def test_the_cpu_runs_repeat_an_earlier_one() -> None:
    runs = lab_results.load("serve_kv.cpu")["runs"]
    found = {
        (run["engine_args"]["kv_cache_dtype"], run["measured"]["block_size"]): (
            run["measured"]["num_gpu_blocks"],
            run["measured"]["kv_cache_size_tokens"],
            f"{run['measured']['max_concurrency']:.2f}",
        )
        for run in runs
    }
    assert found == SETTINGS


def test_what_vllm_printed_is_what_was_read() -> None:
    for run in lab_results.load("serve_kv.cpu")["runs"]:
        lines = "\n".join(run["startup_lines"])
        assert f"GPU KV cache size: {run['measured']['kv_cache_size_tokens']:,} tokens" in lines
        assert f"per request: {run['measured']['max_concurrency']:.2f}x" in lines


def test_the_page_labels_the_cpu_runs() -> None:
    text = lab_results.provenance("serve_kv.cpu")
    assert "CPU build" in text
    assert "random weights" in text
