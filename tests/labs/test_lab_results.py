"""Recorded runs: in the schema's form, exact where the formula says so, and silent about whose machine it was."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from snippets.lab_results.schema import faults
from tools import lab_box, lab_results

ROOT = Path(__file__).resolve().parents[2]
RECORDS = sorted((ROOT / "labs/results").glob("*.json"))
SETTINGS = {  # vLLM 0.26.0 (CPU build) in an earlier run of its own, 2026-11-29: blocks, tokens, concurrency
    ("auto", 128): (146, 18_688, "2.28"),
    ("auto", 16): (1170, 18_720, "2.29"),
    ("fp8", 128): (292, 37_376, "4.56"),
}
each = pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@each
def test_a_record_has_the_form_of_a_result_and_says_where_it_comes_from(path: Path) -> None:
    record = read(path)
    assert faults(record) == []
    assert set(record["provenance"]) == {"what", "model"}
    assert path.name.startswith(f"{record['lab']}.")
    assert record["lab"] in lab_box.names()
    assert record["versions"]["vllm"] == "0.26.0"


@each
def test_a_record_names_no_machine(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"(?:/[a-z]+){2,}|\b\d{1,3}(?:\.\d{1,3}){3}\b|hostname", text) == []


@each
def test_in_a_record_everything_that_had_to_hold_holds(path: Path) -> None:
    checks = [check for one in read(path)["settings"] for check in one["checks"]]
    assert checks
    assert [check for check in checks if not check["equal"]] == []


@each
def test_a_run_on_a_cpu_is_labelled_so(path: Path) -> None:
    record = read(path)
    assert (record["card"]["device"] == "cpu") == ("CPU build" in record["provenance"]["what"])
    assert (record["card"]["device"] == "cpu") == path.name.endswith(".cpu.json")


def test_the_cpu_runs_repeat_an_earlier_one() -> None:
    found = {
        (one["engine_args"]["kv_cache_dtype"], one["measured"]["block_size"]["value"]): (
            one["measured"]["num_gpu_blocks"]["value"],
            one["measured"]["kv_cache_size_tokens"]["value"],
            f"{one['measured']['max_concurrency']['value']:.2f}",
        )
        for one in lab_results.load("serve_kv.cpu")["settings"]
    }
    assert found.items() <= SETTINGS.items()
    assert {dtype for dtype, _ in found} == {"auto", "fp8"}


def test_what_vllm_printed_is_what_was_read() -> None:
    for one in lab_results.load("serve_kv.cpu")["settings"]:
        lines = "\n".join(one["startup_lines"])
        assert f"GPU KV cache size: {one['measured']['kv_cache_size_tokens']['value']:,} tokens" in lines
        assert f"per request: {one['measured']['max_concurrency']['value']:.2f}x" in lines


def test_the_page_labels_the_cpu_runs() -> None:
    text = lab_results.provenance("serve_kv.cpu")
    assert "CPU build" in text
    assert "random weights" in text


def test_what_was_left_out_is_named_with_the_reason() -> None:
    assert "skipped: no answer, the CPU build sizes an FP8 KV cache" in lab_results.left_out("serve_kv.cpu")


# --- another's record ---
@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(lab_results, "RESULTS", tmp_path)
    return tmp_path


def test_a_lab_without_a_card_says_so_until_one_is_recorded(folder: Path) -> None:
    result = read(ROOT / "labs/results/serve_kv.cpu.json")
    del result["provenance"]
    (folder / "mine.json").write_text(json.dumps(result))
    assert lab_results.main(["record", str(folder / "mine.json"), "cpu", "On a CPU.", "Tiny."]) == 0
    assert lab_results.card_note("serve_kv").startswith("No result from a GPU has been recorded yet")
    result["card"]["device"] = "cuda"
    (folder / "serve_kv.4090.json").write_text(json.dumps(result))
    assert lab_results.card_note("serve_kv") == ""


def test_a_file_of_another_form_is_refused_with_the_reason(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.json").write_text('{"schema": 1}')
    (folder / "b.json").write_text("not json")
    assert lab_results.main(["check", str(folder / "a.json"), str(folder / "b.json")]) == 1
    out = capsys.readouterr().out
    assert "result.schema is 1; it must be 2" in out
    assert "b.json: \n  it cannot be read as JSON" in out


def test_tables_show_predicted_beside_measured(folder: Path) -> None:
    (folder / "x.cpu.json").write_text((ROOT / "labs/results/serve_kv.cpu.json").read_text())
    assert "| blocks | 146 | 146 | yes |" in lab_results.checks_table("x.cpu")
    table = lab_results.numbers_table("x.cpu", {"blocks": ("num_gpu_blocks", "{:,}".format), "no": ("none", str)})
    assert "| 146 | - |" in table
