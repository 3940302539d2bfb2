"""labs/preemption.py with a made-up engine: what it predicts, compares, keeps and refuses."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from lab_runs import CPU, Runs, fake_runs
from sized_engine import llm_engine

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.lab_results.schema import faults
from snippets.planner.answers.right_size import right_size
from snippets.planner.engine_args import EngineArgs
from snippets.planner.plan import make_plan
from snippets.sim.lengths import Request
from snippets.sim.scheduler import Limits, schedule
from tools import lab_box

QUICK_BYTES, BLOCK_BYTES = 2**28, 16 * 57_344  # the cache with --quick, and a block of Qwen2.5-7B's in BF16


class SimulatedEngine:
    """Takes the steps that the rules give, or more preemptions than they do."""

    def __init__(self, given: dict[str, Any], more_preemptions: int = 0) -> None:
        args = given["engine_args"]
        blocks = args["kv_cache_memory_bytes"] // (BLOCK_BYTES // (2 if args["kv_cache_dtype"] == "fp8" else 1))
        self.limits = Limits(blocks, args["block_size"], args["max_num_seqs"], args["max_num_batched_tokens"])
        self.more, self.preemptions = more_preemptions, 0
        self.scheduler = SimpleNamespace(schedule=self.next_step)
        self.llm_engine = llm_engine(args, blocks, self.scheduler)

    def next_step(self) -> Any:
        tokens, names = self.steps.pop(0)
        return SimpleNamespace(total_num_scheduled_tokens=tokens, preempted_req_ids=names)

    def generate(self, prompts: list[Any], params: dict[str, Any], use_tqdm: bool) -> None:
        assert params["ignore_eos"]
        request = Request(len(prompts[0]["prompt_token_ids"]), params["max_tokens"])
        found = schedule([request] * len(prompts), self.limits)
        computed = len(prompts) * request.stored_tokens + found.recomputed_tokens
        first = found.first_preemption_step or 0
        self.steps = [(1, {"0"} if step == first else set()) for step in range(1, found.steps)]
        self.steps += [(computed - found.steps + 1, set()), (0, set())]
        while self.steps:
            self.scheduler.schedule()
        self.preemptions += found.preemptions + (self.more if found.preemptions else 0)

    def get_metrics(self) -> list[Any]:
        return [SimpleNamespace(name="vllm:num_preemptions", value=self.preemptions)]


@pytest.fixture
def lab() -> ModuleType:
    """labs/preemption.py as it stands."""
    return lab_box.module("preemption")


@pytest.fixture
def runs(lab: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runs:
    return fake_runs(lab, SimulatedEngine, monkeypatch, tmp_path)


def rows(out: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines()]


def test_the_onset_is_predicted_before_the_engine_starts_and_then_measured(runs: Runs) -> None:
    # 2^28 // 917,504 = 292 blocks, 291 to use. A request ends with 199 tokens in 13 blocks: 22 fit to the end, in 100
    # steps and one more, as 22 prompts of 100 tokens are more than the 2,048 of a step. What comes of 23 and 32, vLLM
    # itself counted on the CPU build; labs/results has that run.
    status, out, _ = runs("--quick")
    assert status == 0
    for at in ("predicted: 292 blocks", "measured:"):
        said = rows(out[out.index(at) :])[:6]
        assert ["22", "0", "never", "101", "0"] in said
        assert ["32", "10", "46", "156", "1,640"] in said
        assert any(row[:2] == ["23", "1"] for row in said)


def test_the_second_engine_runs_as_many_as_the_cache_holds_to_the_end(runs: Runs) -> None:
    runs("--quick")
    crowded, fitting = runs.asked
    assert crowded["engine_args"]["max_num_seqs"] == 32
    assert crowded["loads"] == [22, 23, 32]  # below the onset, at it, far above it
    assert fitting["engine_args"]["max_num_seqs"] == 22
    assert fitting["loads"] == [32]
    _, second, third = runs.result()["settings"]
    assert second["name"] == "22 at once"
    assert second["measured"]["preemptions"]["value"] == 0
    assert (third["name"], third["skipped"]) == ("32 at once, FP8 KV", "--quick starts two engines")


def test_every_engine_runs_without_what_the_prediction_leaves_out(runs: Runs) -> None:
    runs()
    assert len(runs.asked) == 3
    for asked in runs.asked:
        assert asked["engine_args"]["async_scheduling"] is False
        assert asked["engine_args"]["enable_prefix_caching"] is False


def test_fp8_holds_twice_the_blocks_of_the_same_bytes(runs: Runs) -> None:
    _, out, _ = runs()
    assert "48 at once, FP8 KV" in out
    fp8 = runs.result()["settings"][2]
    assert fp8["checks"][0]["predicted"] == 2**29 // (BLOCK_BYTES // 2) == 1170
    assert fp8["measured"]["preemptions"]["value"] == 0


def test_the_cpu_build_skips_fp8_with_the_reason_and_counts_as_done(runs: Runs) -> None:
    runs.card = CPU
    status, _, err = runs()
    assert status == 0
    assert "FP8 KV is skipped: the CPU build sizes an FP8 KV cache but crashes when it writes to it" in err
    assert [bool(one["skipped"]) for one in runs.result()["settings"]] == [False, False, True]


def test_the_result_is_of_the_schema_and_every_count_is_a_check(runs: Runs) -> None:
    runs("--quick")
    found = runs.result()
    assert faults(found) == []
    checks = [one["invariant"] for setting in found["settings"] for one in setting["checks"]]
    assert len(checks) == 2 + 4 * 4
    assert all(one["equal"] for setting in found["settings"] for one in setting["checks"])


def test_a_preemption_too_many_is_not_equal(lab: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    runs = fake_runs(lab, lambda given: SimulatedEngine(given, more_preemptions=1), monkeypatch, tmp_path)
    _, out, _ = runs("--quick")
    assert any(row[-3:] == ["10", "11", "NO"] for row in rows(out))


def test_a_lab_that_was_killed_goes_on_with_the_engine_that_is_left(runs: Runs) -> None:
    runs.dies_after = 3
    assert runs("--quick")[0] == 1
    runs.dies_after, runs.asked = None, []
    status, _, _ = runs("--quick")
    assert status == 0
    assert [one["skipped"] for one in runs.result()["settings"][:2]] == [None, None]
    runs.asked = []
    runs("--quick")
    assert runs.asked == []


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (
            ["--requests", "20"],
            "20 requests would all grow to their end in 292 blocks: raise --requests or --output-tokens, or lower "
            "--kv-cache-memory-bytes",
        ),
        (
            ["--output-tokens", "2000"],
            "a request of 100 + 2000 tokens is longer than --max-model-len 2048: raise it, or lower --output-tokens",
        ),
        (
            ["--kv-cache-memory-bytes", "10000000"],
            "request 1 stores 199 tokens, 13 blocks of 16, and 9 can be used: give shorter requests or more memory "
            "(--prompt-tokens, --output-tokens, --kv-cache-memory-bytes)",
        ),
    ],
)
def test_what_cannot_show_a_preemption_is_refused_with_the_flag(runs: Runs, argv: list[str], sentence: str) -> None:
    status, _, err = runs("--quick", *argv)
    assert status == 1
    assert err.strip() == f"preemption: {sentence}"
    assert runs.asked == []


def test_a_cache_of_another_form_is_refused(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab_runs.QWEN", {"kv_lora_rank": 512})
    _, _, err = runs("--quick")
    assert "cannot predict Qwen/Qwen2.5-7B-Instruct-AWQ: its cache holds the latent of MLA" in err


def test_as_many_as_the_cache_holds_is_what_the_planner_says(lab: ModuleType) -> None:
    args = lab.parser().parse_args([])
    request = lab.load_of(args)
    asked = EngineArgs(
        max_model_len=request.stored_tokens, kv_cache_memory_bytes=args.kv_cache_memory_bytes, usage="llm"
    )
    plan = make_plan(catalog_config("qwen2.5-7b-awq"), gpu("rtx-4090"), asked)
    assert plan.cache and plan.resolved
    limits = lab.limits_of(lab.QWEN2_5_7B, lab.settings(args)[0][2])
    assert limits.num_gpu_blocks == plan.cache.num_gpu_blocks
    fits = right_size(plan.cache, plan.resolved.stages, plan.resolved.limits, 48).fits
    assert lab.most_without_preemption(request, limits) == fits
    assert lab.settings(args)[1][2]["max_num_seqs"] == fits
