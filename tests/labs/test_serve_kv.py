"""A whole run of labs/serve_kv.py, with a vLLM that is not there: what it prints, writes, and how it fails."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fake_vllm import GIB, FakeVllm, fake_lab
from planned import other_memory

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.lab_results.schema import faults
from snippets.planner.engine_args import EngineArgs
from snippets.planner.plan import make_plan
from tools import lab_box


@pytest.fixture
def lab() -> ModuleType:
    """labs/serve_kv.py as it stands."""
    return lab_box.module("serve_kv")


@pytest.fixture
def fake() -> FakeVllm:
    """A working vLLM 0.26.0 on a free RTX 4090; the test changes what it wants before it calls `run`."""
    return FakeVllm()


@pytest.fixture
def four(
    fake: FakeVllm,
    lab: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Any:
    """Run the lab as it comes, with four settings; returns exit status, standard output and standard error."""
    monkeypatch.setattr(lab, "check_disk", lambda model: None)
    return fake_lab(lab, fake, monkeypatch, capsys, tmp_path)


@pytest.fixture
def run(four: Any, tmp_path: Path) -> Any:
    """Run the lab anew with one setting, the 4-bit model with an FP8 cache, where nothing else is said."""

    def call(*argv: str) -> tuple[int, str, str]:
        (tmp_path / "serve_kv.result.json").unlink(missing_ok=True)
        return tuple(four("--model", AWQ, "--kv-cache-dtype", "fp8", *argv))

    return call


AWQ = "Qwen/Qwen2.5-7B-Instruct-AWQ"
SETTINGS = EngineArgs(  # what the lab gives LLM() for it
    max_model_len=8192,
    gpu_memory_utilization=0.90,
    kv_cache_dtype="fp8",
    enable_prefix_caching=True,
    max_num_batched_tokens=2048,
    usage="llm",
)


def predicted(fake: FakeVllm) -> dict[str, list[str]]:
    """What the site's planner says for that card and the lab's settings, as the cells of the lab's table."""
    plan = make_plan(catalog_config("qwen2.5-7b-awq"), gpu("rtx-4090"), SETTINGS, total_bytes=fake.total)
    budget, low, high = plan.budget, plan.cache_low, plan.cache_high
    assert budget and low and high
    spans = {
        "available": [f"{n / GIB:.2f}" for n in (budget.available.low, budget.available.high)],
        "blocks": [f"{end.num_gpu_blocks:,}" for end in (low, high)],
        "tokens": [f"{end.kv_cache_size_tokens:,}" for end in (low, high)],
        "concurrency": [f"{end.max_concurrency:.2f}x" for end in (low, high)],
    }
    return {name: [first, "to", last] for name, (first, last) in spans.items()}


# --- a whole run, with a vLLM that is not there ---
def test_the_table_sets_vllm_beside_formula_and_range(fake: FakeVllm, run: Any) -> None:
    status, out, _ = run()
    assert status == 0
    rows = [line.split() for line in out.splitlines()]
    said = predicted(fake)
    assert ["available", "GiB", *said["available"], "14.69", "-", "-"] in rows
    assert ["blocks", *said["blocks"], "34,375", "34,375", "+0"] in rows
    assert ["tokens", *said["tokens"], "550,000", "550,000", "+0"] in rows
    assert ["maximum", "concurrency", *said["concurrency"], "67.14x", "67.14x", "+0.00"] in rows


def test_the_prediction_is_printed_before_the_engine_starts(fake: FakeVllm, run: Any) -> None:
    fake.start = ValueError("anything")
    status, out, _ = run()
    assert status == 1
    assert "predicted before the start" in out
    assert " ".join(predicted(fake)["concurrency"]) in out


def test_llm_is_given_the_settings_of_the_issue_and_the_servers_batch(fake: FakeVllm, run: Any) -> None:
    run()
    assert fake.asked == {
        "model": "Qwen/Qwen2.5-7B-Instruct-AWQ",
        "max_model_len": 8192,
        "gpu_memory_utilization": 0.90,
        "kv_cache_dtype": "fp8",
        "enable_prefix_caching": True,
        "max_num_batched_tokens": 2048,
    }


def test_fp8_on_a_4090_says_that_the_backend_changes(fake: FakeVllm, run: Any) -> None:
    _, out, _ = run()
    assert "attention backend: FLASHINFER" in out
    assert "on compute capability 9.x only; this card has 8.9" in out


def test_bf16_says_nothing_about_a_change_of_backend(fake: FakeVllm, run: Any) -> None:
    fake.backend = "FLASH_ATTN"
    _, out, _ = run("--kv-cache-dtype", "auto")
    assert "attention backend: FLASH_ATTN" in out
    assert "9.x only" not in out


def test_what_the_estimate_is_not_for_is_not_predicted_or_said(fake: FakeVllm, run: Any, tmp_path: Path) -> None:
    _, out, _ = run("--max-num-batched-tokens", "8192")
    assert "no prediction: other memory is estimated for batches of 2,048 tokens" in out
    assert ["blocks", "-", "34,375", "34,375", "+0"] in [line.split() for line in out.splitlines()]
    (tmp_path / "My-Model").mkdir()
    (tmp_path / "My-Model/model.safetensors").write_bytes(bytes(1000))
    assert "other memory is estimated for Qwen2.5-7B; another" in run("--model", str(tmp_path / "My-Model"))[1]
    assert "estimated for Qwen2.5-7B; another" not in run()[1]


def test_the_labs_range_of_other_memory_is_the_planners(lab: ModuleType) -> None:
    plan = make_plan(catalog_config("qwen2.5-7b-awq"), gpu("rtx-4090"), SETTINGS)
    low, _, high = other_memory(plan)
    assert (low, high) == (lab.OTHER_LOW_BYTES, lab.OTHER_HIGH_BYTES)


def test_a_difference_shows_as_residual(fake: FakeVllm, run: Any) -> None:
    fake.blocks -= 5
    _, out, _ = run()
    span = predicted(fake)["blocks"]
    assert ["blocks", *span, "34,370", "34,375", "-5"] in [line.split() for line in out.splitlines()]


def test_a_model_that_is_not_predicted_is_still_measured(fake: FakeVllm, run: Any) -> None:
    fake.config = {"kv_lora_rank": 512}
    status, out, _ = run("--model", "deepseek-ai/DeepSeek-V2-Lite-Chat")
    assert status == 0
    assert "no prediction for this model: its cache holds the latent of MLA" in out
    assert ["blocks", "-", "34,375", "-", "-"] in [line.split() for line in out.splitlines()]


def test_four_settings_are_run_one_engine_each_and_stand_in_one_table(
    fake: FakeVllm, four: Any, tmp_path: Path
) -> None:
    status, out, _ = four()
    assert status == 0
    assert [(one["model"].removeprefix("Qwen/Qwen2.5-7B-"), one["kv_cache_dtype"]) for one in fake.started] == [
        ("Instruct", "auto"),
        ("Instruct", "fp8"),
        ("Instruct-AWQ", "auto"),
        ("Instruct-AWQ", "fp8"),
    ]
    row = next(line for line in out.splitlines() if line.startswith("Qwen2.5-7B-Instruct-AWQ, KV fp8  "))
    first, _, last = predicted(fake)["concurrency"]
    assert row.split()[3:] == ["5.20", "-", "14.69", "34,375", "550,000", "67.14x", first, "to", last]
    assert faults(json.loads((tmp_path / "serve_kv.result.json").read_text())) == []


def test_what_is_done_is_not_run_again_and_what_failed_is(fake: FakeVllm, four: Any) -> None:
    fake.start = ValueError("No available memory for the cache blocks.")
    status, _, err = four("--model", AWQ)
    assert status == 1
    assert err.count("leave too little for the KV cache") == 2
    fake.start = None
    assert four("--model", AWQ, "--kv-cache-dtype", "fp8")[0] == 0
    status, out, _ = four("--model", AWQ)
    assert status == 0
    assert f"{AWQ[5:]}, KV fp8: done before, kept in serve_kv.result.json" in out
    assert [one["kv_cache_dtype"] for one in fake.started] == ["auto", "fp8", "fp8", "auto"]


def test_a_result_of_another_card_is_not_mixed_with_this_one(fake: FakeVllm, four: Any) -> None:
    four("--quick")
    fake.name = "NVIDIA A10"
    line = failed(four("--quick"))
    assert line.startswith("serve_kv.result.json holds a result of another kind")
    assert "choose another --out" in line


def test_quick_starts_two_engines(fake: FakeVllm, four: Any) -> None:
    four("--quick")
    assert [one["kv_cache_dtype"] for one in fake.started] == ["auto", "fp8"]


def test_two_cards_hold_half_the_kv_heads_each(fake: FakeVllm, run: Any) -> None:
    fake.cards = 2
    fake.blocks, fake.tokens, fake.concurrency = 68_751, 1_100_016, 134.279296875  # a token takes 14,336 bytes on each
    status, out, _ = run("--tensor-parallel-size", "2")
    assert status == 0
    assert fake.asked["tensor_parallel_size"] == 2
    assert "14,336 bytes a token on each card" in out
    assert ["blocks", "-", "68,751", "68,751", "+0"] in [line.split() for line in out.splitlines()]
    assert "no prediction: other memory is estimated for one card" in out


def test_more_cards_than_there_are_is_refused(run: Any) -> None:
    assert failed(run("--tensor-parallel-size", "2")) == ("--tensor-parallel-size 2 needs 2 cards and 1 are visible")


def test_the_result_file_holds_settings_versions_card_and_numbers_with_their_prediction(
    fake: FakeVllm, run: Any, tmp_path: Path
) -> None:
    run("--out", "mine.json")
    result = json.loads((tmp_path / "mine.json").read_text())
    (one,) = result["settings"]
    assert faults(result) == []
    assert result["versions"] == {"vllm": "0.26.0", "torch": "2.11.0+cu130", "python": platform.python_version()}
    assert (result["card"]["driver"], result["card"]["free_bytes"]) == ("580.95.05", fake.free)
    assert {check["invariant"]: (check["predicted"], check["measured"]) for check in one["checks"]} == {
        "blocks": (34_375, 34_375),
        "tokens": (550_000, 550_000),
        "maximum concurrency": (67.138671875, 67.138671875),
    }
    assert one["measured"]["weights"] == {"value": 5.2, "unit": "GiB"}
    assert one["measured"]["answer_tokens"] == {"value": 3, "unit": "tokens"}


def test_a_local_model_is_recorded_by_its_folders_name_only(fake: FakeVllm, run: Any, tmp_path: Path) -> None:
    (tmp_path / "somewhere/My-Model").mkdir(parents=True)
    run("--model", str(tmp_path / "somewhere/My-Model"))
    assert "somewhere" not in (tmp_path / "serve_kv.result.json").read_text()


def test_when_the_answer_fails_the_sizes_stand_and_the_reason_is_told(fake: FakeVllm, run: Any, tmp_path: Path) -> None:
    fake.reply = RuntimeError("As of transformers v4.44, default chat template is no longer allowed")
    status, out, _ = run()
    assert status == 0
    assert "no answer: this model has no chat template: choose an Instruct model with --model" in out
    (one,) = json.loads((tmp_path / "serve_kv.result.json").read_text())["settings"]
    assert one["measured"]["num_gpu_blocks"]["value"] == 34_375


def test_a_question_that_does_not_fit_names_the_flag(fake: FakeVllm, run: Any) -> None:
    fake.reply = ValueError(  # vLLM 0.26.0, provoked on the CPU build
        "This model's maximum context length is 64 tokens. However, you requested 0 output tokens and your prompt "
        "contains at least 65 input tokens, for a total of at least 65 tokens."
    )
    assert "no answer: the prompt does not fit: raise --max-model-len, or shorten the prompt" in run()[1]


def test_fp8_on_the_cpu_build_is_sized_and_not_asked(fake: FakeVllm, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    fake.device, fake.name, fake.capability = "cpu", "cpu", None
    fake.available, fake.blocks, fake.block_size, fake.tokens, fake.concurrency = GIB, 292, 128, 37_376, 4.5625
    fake.reply = AssertionError("the question was asked")
    status, out, _ = run()
    assert status == 0
    assert ["blocks", "292", "292", "292", "+0"] in [line.split() for line in out.splitlines()]
    assert "skipped: no answer, the CPU build sizes an FP8 KV cache" in out
    assert "--kv-cache-dtype auto" in out


# --- it fails in one sentence ---
def failed(outcome: tuple[int, str, str]) -> str:
    """The one line a failure leaves on standard error."""
    status, _, err = outcome
    assert status == 1
    assert "Traceback" not in err
    (line,) = err.strip().splitlines()
    return line.removeprefix("serve_kv: ").removeprefix("Qwen2.5-7B-Instruct-AWQ, KV fp8: ")


def test_a_start_that_fails_ends_in_one_sentence(fake: FakeVllm, run: Any) -> None:
    fake.start = ValueError("CUDA out of memory. Tried to allocate 1.02 GiB.")
    assert failed(run()) == (
        "the card ran out of memory: lower --gpu-memory-utilization or --max-num-batched-tokens, add --enforce-eager, "
        "or choose a smaller --model"
    )


def test_a_model_that_cannot_be_reached_names_mirror_and_modelscope(fake: FakeVllm, run: Any) -> None:
    fake.config_error = OSError(
        "We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files."
    )
    line = failed(run())
    assert line.startswith("Qwen/Qwen2.5-7B-Instruct-AWQ could not be fetched: check the name given to --model")
    assert "HF_ENDPOINT=https://hf-mirror.com" in line
    assert "VLLM_USE_MODELSCOPE=True" in line


def test_debug_shows_the_traceback(fake: FakeVllm, run: Any) -> None:
    fake.start = RuntimeError("something new")
    with pytest.raises(RuntimeError, match="something new"):
        run("--debug")


def test_another_vllm_version_is_refused_unless_wanted(
    fake: FakeVllm, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda package: "0.33.0")
    line = failed(run())
    assert line == (
        "vLLM 0.33.0 is installed and this lab was checked against 0.26.0: pip install vllm==0.26.0, or go on with "
        "--any-version"
    )
    assert run("--any-version")[0] == 0


def test_a_local_build_of_the_right_version_is_accepted(
    fake: FakeVllm, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.version", lambda package: "0.26.0+cu129")
    assert run()[0] == 0


def test_no_gpu_is_said_plainly(fake: FakeVllm, run: Any) -> None:
    fake.device, fake.driver = "", None
    assert failed(run()).startswith("no GPU found, and nvidia-smi finds none")


def test_a_driver_too_old_is_told_from_no_gpu(fake: FakeVllm, run: Any) -> None:
    fake.device, fake.driver = "", "550.54.14"
    assert failed(run()) == ("torch 2.11.0+cu130 cannot use the card with driver 550.54.14: update it to 580 or newer")


def test_a_card_in_use_is_refused_before_anything_loads(fake: FakeVllm, run: Any) -> None:
    fake.free = 12 * GIB
    line = failed(run())
    # 0.98 * 12 / 23.64 = 0.497
    assert line == (
        "12.00 of 23.64 GiB are free and 21.28 are asked for: end the other program (nvidia-smi lists it), or pass "
        "--gpu-memory-utilization 0.49"
    )
    assert fake.asked == {}


def test_ctrl_c_ends_with_the_usual_status_and_no_traceback(fake: FakeVllm, run: Any) -> None:
    fake.start = KeyboardInterrupt()
    status, _, err = run()
    assert status == 130
    assert "Traceback" not in err
    assert err.strip().startswith("serve_kv: stopped")


def test_a_result_that_cannot_be_written_names_out(fake: FakeVllm, run: Any) -> None:
    assert failed(run("--out", "no/such/folder/x.json")) == (
        "the result could not be written to no/such/folder/x.json (No such file or directory): choose another --out"
    )
