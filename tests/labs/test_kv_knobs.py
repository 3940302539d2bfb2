"""labs/kv_knobs.py: which numbers each knob is said to move, and what a whole run makes of what vLLM says."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fake_vllm import GIB, FakeVllm, fake_lab

from snippets import baseline
from snippets.lab_results.schema import faults
from tools import lab_box

TOKEN = 57_344  # bytes, Qwen2.5-7B in BF16


@pytest.fixture
def lab() -> ModuleType:
    """labs/kv_knobs.py as it stands."""
    return lab_box.module("kv_knobs")


class Knobs(FakeVllm):
    """An engine whose cache follows its arguments, as vLLM 0.26.0's does; `extra` is what a test adds to the bytes."""

    extra = 0

    def sizes(self) -> None:
        given = self.asked
        tokens, share = given["max_num_batched_tokens"], given["gpu_memory_utilization"]
        if self.device == "cuda":
            self.available = int(self.total * share) - 6 * GIB - tokens * 100_000 + self.extra
        self.block_size = given.get("block_size", 128 if self.device == "cpu" else 16)
        self.blocks = self.available // (TOKEN * self.block_size)
        self.concurrency = self.blocks / -(-given["max_model_len"] // self.block_size)
        self.tokens = int(self.concurrency * given["max_model_len"])
        self.lines = [
            f"Using max model len {given['max_model_len']}",
            f"Chunked prefill is enabled with max_num_batched_tokens={tokens}.",
            f"GPU KV cache size: {self.tokens:,} tokens",
            f"Maximum concurrency for {given['max_model_len']:,} tokens per request: {self.concurrency:.2f}x",
        ]


@pytest.fixture
def fake() -> Knobs:
    return Knobs()


@pytest.fixture
def run(
    fake: Knobs,
    lab: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Any:
    """Run the lab with the fake in place; returns exit status, standard output and standard error."""
    monkeypatch.setattr(lab, "check_disk", lambda model: None)
    return fake_lab(lab, fake, monkeypatch, capsys, tmp_path)


def result(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "kv_knobs.result.json").read_text())


def moved(tmp_path: Path) -> dict[str, set[str]]:
    """What each setting moved, read from the result."""
    return {
        one["name"]: {
            key.removesuffix("_moved") for key, n in one["measured"].items() if key.endswith("_moved") and n["value"]
        }
        for one in result(tmp_path)["settings"][1:]
    }


MEMORY = {"available_bytes", "kv_cache_size_tokens", "max_concurrency", "num_gpu_blocks"}


def test_on_a_card_each_knob_moves_its_own_lines(run: Any, tmp_path: Path) -> None:
    status, out, _ = run()
    assert status == 0
    assert faults(result(tmp_path)) == []
    assert moved(tmp_path) == {
        "max_model_len=4096": {"max_model_len", "max_concurrency"},
        "max_model_len=32768": {"max_model_len", "max_concurrency"},
        "gpu_memory_utilization=0.8": MEMORY,
        "max_num_batched_tokens=8192": MEMORY | {"max_num_batched_tokens"},
        "block_size=32": {"num_gpu_blocks"},
    }
    assert [c["invariant"] for one in result(tmp_path)["settings"] for c in one["checks"] if not c["equal"]] == []
    assert "block_size=32" in out


def test_on_the_cpu_build_two_knobs_move_no_memory_and_blocks_round(
    fake: Knobs, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    fake.device, fake.name, fake.capability, fake.driver, fake.available = "cpu", "cpu", None, None, GIB
    assert run()[0] == 0
    found = moved(tmp_path)
    assert found["gpu_memory_utilization=0.8"] == set()
    assert found["max_num_batched_tokens=8192"] == {"max_num_batched_tokens"}
    # 18,688 tokens in blocks of 128 became 18,720 in blocks of 16 on the real build (2026-11-29); 32 fill it as well
    assert found["block_size=32"] == {"num_gpu_blocks", "kv_cache_size_tokens", "max_concurrency"}
    assert [c["invariant"] for one in result(tmp_path)["settings"] for c in one["checks"] if not c["equal"]] == []


def test_a_card_that_is_a_little_off_counts_as_unmoved_and_a_lot_does_not(
    fake: Knobs, run: Any, tmp_path: Path, lab: ModuleType
) -> None:
    for mib, equal in ((30, True), (200, False)):
        (tmp_path / "kv_knobs.result.json").unlink(missing_ok=True)
        fake.extra = 0
        run("--change", "block_size=32", "--out", "first.json")
        (tmp_path / "first.json").rename(tmp_path / "kv_knobs.result.json")
        kept = result(tmp_path)
        kept["settings"] = kept["settings"][:1]
        (tmp_path / "kv_knobs.result.json").write_text(json.dumps(kept))
        fake.extra = mib * 2**20
        run("--change", "block_size=32")
        checks = {c["invariant"]: c["equal"] for c in result(tmp_path)["settings"][1]["checks"]}
        assert checks["Available KV cache memory moves"] is equal


def test_the_prediction_stands_before_the_start(fake: Knobs, run: Any) -> None:
    out = run("--change", "max_model_len=4096")[1]
    said, _, after = out.partition("max_model_len=4096: started in")
    assert "max_model_len=4096: predicted before the start" in said
    row = next(line.split() for line in said.splitlines() if line.startswith("Using max model len"))
    assert row[-3:] == ["8,192", "moves:", "4,096"]
    assert "moved" in after


def test_two_cards_count_half_the_kv_heads_each(fake: Knobs, run: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("test_kv_knobs.TOKEN", TOKEN // 2)
    fake.cards = 2
    assert run("--tensor-parallel-size", "2", "--change", "block_size=32")[0] == 0
    assert [c["invariant"] for one in result(tmp_path)["settings"] for c in one["checks"] if not c["equal"]] == []


def test_quick_changes_all_at_once_in_two_starts(fake: Knobs, run: Any) -> None:
    assert run("--quick")[0] == 0
    assert len(fake.started) == 2
    changed = {k: v for k, v in fake.asked.items() if fake.started[0].get(k) != v}
    assert changed == {
        "max_model_len": 4096,
        "gpu_memory_utilization": 0.8,
        "max_num_batched_tokens": 8192,
        "block_size": 32,
    }


def test_when_one_change_fails_the_others_are_still_tried(fake: Knobs, run: Any, monkeypatch: Any) -> None:
    def sizes() -> None:
        if "block_size" in fake.asked:
            raise ValueError("Selected backend X is not valid for this configuration.")
        Knobs.sizes(fake)

    monkeypatch.setattr(fake, "sizes", sizes)
    status, out, err = run("--change", "block_size=24", "max_model_len=4096")
    assert status == 1
    assert err.strip().startswith("kv_knobs: block_size=24: no such attention backend takes these settings")
    assert "max_model_len=4096: started in" in out


def test_without_the_first_start_there_is_nothing_to_compare(fake: Knobs, run: Any) -> None:
    fake.start = ValueError("CUDA out of memory.")
    status, _, err = run()
    assert status == 1
    assert err.strip().startswith("kv_knobs: the card ran out of memory: lower --gpu-memory-utilization")
    assert len(fake.started) == 1


@pytest.mark.parametrize(
    "text", ["block_size", "block_size=x", "depth=3", "gpu_memory_utilization=1.5", "block_size=0"]
)
def test_a_change_that_is_none_is_refused(lab: ModuleType, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        lab.main(["--change", text])
    assert repr(text) in capsys.readouterr().err


def test_minimum_memory_in_the_docstring_is_weights_most_other_memory_and_one_request(lab: ModuleType) -> None:
    # The largest change asks for requests of 32,768 tokens; the largest batch is 8,192 tokens.
    needs = [
        (baseline.AWQ_WEIGHTS_BYTES + baseline.estimated_other(2048).high + 32_768 * TOKEN) / 0.90,
        (baseline.AWQ_WEIGHTS_BYTES + baseline.estimated_other(8192).high + 8192 * TOKEN) / 0.90,
        (baseline.AWQ_WEIGHTS_BYTES + baseline.estimated_other(2048).high + 8192 * TOKEN) / 0.80,
    ]
    assert f"Minimum memory: {-(-max(needs) // (GIB / 10)) / 10:.1f} GiB visible" in str(lab.__doc__)
