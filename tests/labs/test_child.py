"""Labs in real processes: an engine that hangs, crashes or is interrupted leaves nothing, and what is done stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fake_install import install

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "labs/serve_kv.py"


@pytest.fixture
def start(tmp_path: Path) -> Any:
    """Start the lab in a process of its own, with packages that pretend to be vLLM's."""
    environment = {"PATH": os.environ["PATH"], **install(tmp_path / "packages")}

    def call(*argv: str, **also: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(LAB), "--model", "tiny", *argv],
            cwd=tmp_path,
            env=environment | also,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return call


def starts(tmp_path: Path) -> list[list[str]]:
    """Process, helper and KV dtype of every engine that was started."""
    return [line.split() for line in (tmp_path / "packages/starts").read_text().splitlines()]


def until(true: Any, seconds: float = 20) -> bool:
    """Wait for it; whether it came true."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return bool(true())


def alive(pid: str) -> bool:
    """Is there such a process, and has it not ended?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def result(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "serve_kv.result.json").read_text())


def test_each_setting_has_a_process_of_its_own_and_its_start_up_lines(start: Any, tmp_path: Path) -> None:
    out, err = (done := start()).communicate(timeout=30)
    assert (done.returncode, err) == (0, "")
    assert len({pid for pid, *_ in starts(tmp_path)}) == 2
    assert [one["startup_lines"] for one in result(tmp_path)["settings"]] == [
        ["Available KV cache memory: 1.0 GiB"]
    ] * 2
    # 2^30 // (128 * 57,344) = 146 and // (128 * 28,672) = 292 blocks, as vLLM's CPU build logged them on 2026-11-29
    checks = {c["invariant"]: c for c in result(tmp_path)["settings"][1]["checks"]}
    assert checks["blocks"] == {
        "invariant": "blocks", "predicted": 292, "measured": 292, "unit": "blocks", "equal": True,
    }  # fmt: skip
    assert "Something else" in (tmp_path / "serve_kv.result.log").read_text()
    assert "Something else" not in out
    assert out.count("model.safetensors:") == 2  # of each engine's download one line; the next after 15 s


def test_ctrl_c_ends_every_process_and_the_lab_goes_on_from_there(start: Any, tmp_path: Path) -> None:
    lab = start(FAKE_VLLM="hang", FAKE_ON="fp8")
    assert until(lambda: len(starts(tmp_path)) == 2)
    lab.send_signal(signal.SIGINT)
    time.sleep(0.05)
    lab.send_signal(signal.SIGINT)  # an impatient reader
    _, err = lab.communicate(timeout=30)
    assert lab.returncode == 130
    assert err.strip() == (
        "serve_kv: stopped, the engine is ended and its memory free; finished settings are in serve_kv.result.json, "
        "and the lab goes on from there"
    )
    assert not any(alive(pid) for engine in starts(tmp_path) for pid in engine[:2])
    assert [one["name"] for one in result(tmp_path)["settings"]] == ["tiny, KV auto"]

    out, _ = start().communicate(timeout=30)
    assert "tiny, KV auto: done before" in out
    assert [dtype for *_, dtype in starts(tmp_path)] == ["auto", "fp8", "fp8"]


def test_a_closed_session_ends_the_lab_like_ctrl_c(start: Any, tmp_path: Path) -> None:
    lab = start(FAKE_VLLM="hang")
    assert until(lambda: starts(tmp_path))
    lab.send_signal(signal.SIGHUP)
    lab.communicate(timeout=30)
    assert lab.returncode == 130
    assert not any(alive(pid) for pid in starts(tmp_path)[0][:2])


def test_no_engine_outlives_a_lab_that_was_killed(start: Any, tmp_path: Path) -> None:
    lab = start(FAKE_VLLM="hang")
    assert until(lambda: starts(tmp_path))
    engine, helper = starts(tmp_path)[0][:2]
    lab.kill()
    lab.communicate(timeout=30)
    assert until(lambda: not alive(engine))
    os.kill(int(helper), signal.SIGKILL)  # a helper of the fake does not watch its parent, vLLM's workers do


def test_a_crash_is_told_with_its_signal_and_the_other_setting_is_tried(start: Any, tmp_path: Path) -> None:
    _, err = (lab := start(FAKE_VLLM="crash")).communicate(timeout=30)
    assert lab.returncode == 1
    assert err.split("\n\n")[0].strip() == (
        "serve_kv: tiny, KV auto: the engine's process ended with signal 11 (SIGSEGV) (log: serve_kv.result.log)"
    )
    assert [one["skipped"] is not None for one in result(tmp_path)["settings"]] == [True, True]
    start().communicate(timeout=30)
    assert [one["skipped"] for one in result(tmp_path)["settings"]] == [None, None]


def test_a_crash_while_answering_leaves_the_sizes(start: Any, tmp_path: Path) -> None:
    out, _ = (lab := start("--kv-cache-dtype", "auto", FAKE_VLLM="crash later")).communicate(timeout=30)
    assert lab.returncode == 0
    (one,) = result(tmp_path)["settings"]
    assert one["measured"]["num_gpu_blocks"]["value"] == 146
    assert one["startup_lines"] == ["Available KV cache memory: 1.0 GiB"]
    assert "no answer: the engine's process ended with signal 11 (SIGSEGV)" in out


def test_a_failure_in_the_engine_reaches_the_lab_as_a_sentence(start: Any) -> None:
    _, err = start("--kv-cache-dtype", "fp8", FAKE_VLLM="raise:Could not find nvcc").communicate(timeout=30)
    assert err.strip() == (
        "serve_kv: tiny, KV fp8: kernels are compiled at the first start and the CUDA compiler is missing: use "
        "--attention-backend TRITON_ATTN, or --kv-cache-dtype auto"
    )
