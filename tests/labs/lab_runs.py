"""Run a lab built on labs/parts without processes and without vLLM: tasks are called here, with a made-up engine."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

QWEN = {  # Qwen/Qwen2.5-7B-Instruct, config.json as published
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "hidden_size": 3584,
    "sliding_window": 131072,
    "use_sliding_window": False,
}
RTX_4090 = {
    "device": "cuda",
    "name": "NVIDIA GeForce RTX 4090",
    "count": 1,
    "driver": "580.95.05",
    "compute_capability": "8.9",
    "total_bytes": 25_383_256_064,
    "free_bytes": 24_900_000_000,
    "cpu_kv_space_gib": None,
}
CPU = RTX_4090 | {"device": "cpu", "name": "cpu", "driver": None, "compute_capability": None}


class Runs:
    """Calling it runs the lab; it keeps what each task was asked, and can let one die after so many messages."""

    def __init__(self, lab: ModuleType, out: Path) -> None:
        self.lab, self.out = lab, out
        self.card: dict[str, Any] = RTX_4090
        self.asked: list[dict[str, Any]] = []
        self.dies_after: int | None = None

    def __call__(self, *argv: str) -> tuple[int, str, str]:
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            status = self.lab.main([*argv, "--out", str(self.out)])
        return status, out.getvalue(), err.getvalue()

    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out.read_text(encoding="utf-8"))
        return found

    def ask_child(self, task: str, given: dict[str, Any], log: Path, heard: Any) -> tuple[dict[str, Any], list[str]]:
        given = json.loads(json.dumps(given))  # as it arrives in another process
        self.asked.append(given)
        told = 0

        def tell(kind: str, data: Any) -> None:
            nonlocal told
            if told == self.dies_after:
                raise self.lab.Stop("the engine's process was killed")
            told += 1
            if kind != "say":
                heard(kind, json.loads(json.dumps(data)))

        return json.loads(json.dumps(self.lab.TASKS[task](given, tell))), ["GPU KV cache size: 320,000 tokens"]


def fake_runs(
    lab: ModuleType, start: Callable[[dict[str, Any]], Any], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> Runs:
    """The lab, with `start(given)` as its engine, on an RTX 4090 unless the test says otherwise."""
    made = Runs(lab, folder / "result.json")

    def open_lab(name: str, version: int, args: Any, models: list[str]) -> tuple[dict[str, Any], Any]:
        box = {"card": made.card, "versions": {"torch": "2.11.0", "python": "3.12.3"}}
        box["configs"] = {model: dict.fromkeys(lab.CONFIG_KEYS) | QWEN for model in models}
        return box, lab.Record(args.out, name, version, "0.26.0", box, args.quick)

    monkeypatch.setattr(lab, "open_lab", open_lab)
    monkeypatch.setattr(lab, "ask_child", made.ask_child)
    monkeypatch.setattr(lab, "start_engine", lambda given, **more: (start(given), 12.0))
    vllm, params = ModuleType("vllm"), ModuleType("vllm.sampling_params")
    vars(vllm)["SamplingParams"] = dict
    vars(params)["RequestOutputKind"] = SimpleNamespace(DELTA=1)
    monkeypatch.setitem(sys.modules, "vllm", vllm)
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", params)
    return made
