"""make labs-cpu and make labs-gpu, with packages that pretend to be vLLM's: what is good, and what stops them."""

from __future__ import annotations

import json
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from fake_install import install

from tools import lab_runs, labs_cpu, labs_gpu
from tools.lab_runs import Ran

SETTING: dict[str, Any] = {
    "name": "auto",
    "model": "m",
    "engine_args": {},
    "asked": {},
    "shape": None,
    "start_seconds": 1.0,
    "startup_lines": [],
    "predicted": {},
    "measured": {},
    "series": {},
    "checks": [{"invariant": "blocks", "predicted": 146, "measured": 146, "unit": "blocks", "equal": True}],
    "notes": [],
    "skipped": None,
}


@pytest.fixture
def pretending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment in which labs find the packages that pretend; results go into the folder returned."""
    for name, value in (install(tmp_path / "packages") | {"HF_HOME": str(tmp_path)}).items():
        monkeypatch.setenv(name, value)
    for tool in (labs_cpu, labs_gpu):
        monkeypatch.setattr(tool, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def python(pretending: Path, tmp_path: Path) -> str:
    """The Python of an environment with a tiny model beside it."""
    (tmp_path / "env/tiny-model").mkdir(parents=True)
    (tmp_path / "env/bin").mkdir()
    made = tmp_path / "env/bin/python"
    made.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    made.chmod(0o755)
    return str(made)


def test_a_lab_is_run_quick_against_the_tiny_model_and_its_checks_are_listed(
    pretending: Path, python: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert labs_cpu.main([python, "serve_kv"]) == 0
    out = capfd.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    assert ["serve_kv", "tiny-model,", "KV", "auto", "blocks", "146", "146", "yes"] in rows
    assert ["serve_kv", "tiny-model,", "KV", "fp8", "blocks", "292", "292", "yes"] in rows
    assert "Skipped:\n  serve_kv, tiny-model, KV fp8: no answer, the CPU build sizes an FP8 KV cache" in out
    assert out.strip().endswith("8 of 8 invariants hold; 1 of 1 labs ran as they should")
    assert (pretending / "serve_kv.result.json").is_file()


def test_the_status_is_1_when_a_lab_fails(
    python: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "crash")
    assert labs_cpu.main([python, "serve_kv"]) == 1
    out = capfd.readouterr().out
    assert "Failed:\n  serve_kv ended with status 1\n  serve_kv checked nothing" in out
    assert "serve_kv, tiny-model, KV auto: the engine's process ended with signal 11" in out


def test_an_unknown_lab_is_refused_with_the_names_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert labs_cpu.main([sys.executable, "nothing"]) == 2
    assert "there is no lab nothing; there are: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("result", "wrong"),
    [
        ({"settings": [SETTING]}, []),
        (None, ["x: no result was left"]),
        ({"settings": []}, ["x checked nothing"]),
        (
            {"settings": [SETTING | {"checks": [SETTING["checks"][0] | {"measured": 145, "equal": False}]}]},
            ["x · auto · blocks: 146 predicted, 145 measured"],
        ),
    ],
    ids=["good", "no result", "no checks", "not equal"],
)
def test_what_counts_as_failed(result: dict[str, Any] | None, wrong: list[str]) -> None:
    assert Ran("x", 0, 1.0, result, []).failed == wrong


def test_a_lab_that_takes_too_long_is_interrupted_and_keeps_what_is_done(
    pretending: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_VLLM", "hang")
    monkeypatch.setenv("FAKE_ON", "fp8")
    pretending.mkdir()
    ran = lab_runs.run_lab(sys.executable, "serve_kv", ["--model", "tiny"], pretending, 1.5)
    assert ran.status == 130
    assert ran.result is not None
    assert [one["name"] for one in ran.result["settings"]] == ["tiny, KV auto"]


def test_on_a_card_time_and_cost_are_printed_and_one_archive_is_left(
    pretending: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert labs_gpu.main(["--quick", "--limit-yuan", "2", "serve_kv"]) == 0
    out = capfd.readouterr().out
    assert "=== serve_kv === 0.0 min, about ¥0.00 so far, limit ¥2.00" in out
    with tarfile.open(pretending / "labs-gpu-results.tar.gz") as packed:
        assert packed.getnames() == ["serve_kv.result.json", "serve_kv.result.log"]


def test_at_the_limit_no_further_lab_is_started(pretending: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # 60 s are kept for ending an engine: ¥0.03 at ¥1.88 an hour buys 57 s.
    assert labs_gpu.main(["--limit-yuan", "0.03", "serve_kv"]) == 1
    out = capfd.readouterr().out
    assert "the limit is reached: serve_kv was not started; raise --limit-yuan and run this again" in out
    assert not (pretending / "serve_kv.result.json").exists()


@pytest.mark.parametrize("argv", [["--price", "0"], ["--limit-yuan", "-1"], ["nothing"]])
def test_a_limit_that_is_none_is_refused(argv: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        labs_gpu.main(argv)
    assert caught.value.code == 2


def test_the_cpu_environment_asks_no_network_and_finds_vllm() -> None:
    made = labs_cpu.environment(Path("/e/bin/python"))
    assert (made["HF_HUB_OFFLINE"], made["VLLM_CPU_KVCACHE_SPACE"]) == ("1", "1")
    assert made["PATH"].split(os.pathsep)[0] == "/e/bin"


def test_a_result_of_another_form_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "labs").mkdir()
    (tmp_path / "labs/bad.py").write_text(
        "import pathlib, sys\npathlib.Path(sys.argv[2]).write_text('{\"schema\": 1}')\n"
    )
    monkeypatch.setattr(lab_runs, "ROOT", tmp_path)
    ran = lab_runs.run_lab(sys.executable, "bad", [], tmp_path, 30)
    assert ran.status == 0
    assert json.loads((tmp_path / "bad.result.json").read_text()) == {"schema": 1}
    assert any("result.schema is 1; it must be 2" in line for line in ran.failed)
