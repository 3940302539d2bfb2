"""A whole run of labs/serve_kv.py, with a vLLM that is not there: what it prints, writes, and how it fails."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fake_vllm import GIB, FakeVllm
from planned import other_memory

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.planner.engine_args import EngineArgs
from snippets.planner.plan import make_plan
from tools import lab_box


@pytest.fixture
def lab() -> ModuleType:
    """labs/serve_kv.py as it stands."""
    return lab_box.module("serve_kv")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lab: ModuleType) -> FakeVllm:
    """A working vLLM 0.26.0 on a free RTX 4090; the test changes what it wants before it calls `run`."""
    made = FakeVllm()
    monkeypatch.setattr(metadata, "version", lambda package: "0.26.0")
    monkeypatch.setattr(lab, "driver_version", lambda: "580.95.05")
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "1")
    monkeypatch.chdir(tmp_path)
    return made


@pytest.fixture
def run(fake: FakeVllm, lab: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the lab with the fake in place; returns exit status, standard output and standard error."""

    def call(*argv: str) -> tuple[int, str, str]:
        for name, module in fake.modules().items():
            monkeypatch.setitem(sys.modules, name, module)
        status = lab.main(list(argv))
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return call


SETTINGS = EngineArgs(  # what the lab gives LLM() when nothing is said
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


def test_the_result_file_holds_settings_versions_card_and_numbers_with_their_prediction(
    fake: FakeVllm, run: Any, tmp_path: Path
) -> None:
    run("--out", "mine.json")
    result = json.loads((tmp_path / "mine.json").read_text())
    assert result["versions"]["vllm"] == "0.26.0"
    assert result["card"]["driver"] == "580.95.05"
    assert result["measured"]["num_gpu_blocks"] == result["predicted_from_available"]["num_gpu_blocks"] == 34_375
    assert result["answer"]["output_tokens"] == 3
    assert result["no_answer"] is None


def test_a_local_model_is_recorded_by_its_folders_name_only(fake: FakeVllm, run: Any, tmp_path: Path) -> None:
    (tmp_path / "somewhere/My-Model").mkdir(parents=True)
    run("--model", str(tmp_path / "somewhere/My-Model"))
    assert "somewhere" not in (tmp_path / "serve_kv.result.json").read_text()


def test_when_the_answer_fails_the_sizes_stand_and_the_reason_is_told(fake: FakeVllm, run: Any, tmp_path: Path) -> None:
    fake.reply = RuntimeError("As of transformers v4.44, default chat template is no longer allowed")
    status, out, _ = run()
    assert status == 0
    assert "no answer: this model has no chat template: choose an Instruct model with --model" in out
    assert json.loads((tmp_path / "serve_kv.result.json").read_text())["measured"]["num_gpu_blocks"] == 34_375


def test_a_question_that_does_not_fit_names_both_flags(fake: FakeVllm, run: Any) -> None:
    fake.reply = ValueError(  # vLLM 0.26.0, provoked on the CPU build
        "This model's maximum context length is 64 tokens. However, you requested 0 output tokens and your prompt "
        "contains at least 65 input tokens, for a total of at least 65 tokens."
    )
    assert "no answer: the question does not fit: raise --max-model-len, or shorten --question" in run()[1]


def test_fp8_on_the_cpu_build_is_sized_and_not_asked(fake: FakeVllm, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "1")
    fake.device, fake.name, fake.capability = "cpu", "cpu", None
    fake.available, fake.blocks, fake.block_size, fake.tokens, fake.concurrency = GIB, 292, 128, 37_376, 4.5625
    fake.reply = AssertionError("the question was asked")
    status, out, _ = run()
    assert status == 0
    assert ["blocks", "292", "292", "292", "+0"] in [line.split() for line in out.splitlines()]
    assert "no answer: the CPU build sizes an FP8 KV cache" in out
    assert "--kv-cache-dtype auto" in out


# --- it fails in one sentence ---
def failed(outcome: tuple[int, str, str]) -> str:
    """The one line a failure leaves on standard error."""
    status, _, err = outcome
    assert status == 1
    assert "Traceback" not in err
    (line,) = err.strip().splitlines()
    return line.removeprefix("serve_kv: ")


@pytest.mark.parametrize(
    ("message", "sentence"),
    [  # messages of vLLM 0.26.0 and of what is below it
        (  # v1/core/kv_cache_utils.py:778, provoked on the CPU build
            "To serve at least one request with the model's max seq len (32768), (1.75 GiB KV cache is needed, which "
            "is larger than the available KV cache memory (1.0 GiB). Based on the available memory, the estimated "
            "maximum model length is 18688. Try increasing `gpu_memory_utilization` (which also controls CPU memory)",
            "one request of 32768 tokens needs 1.75 GiB of KV cache and 1.0 GiB is there: lower --max-model-len to at "
            "most 18688, raise --gpu-memory-utilization, or use --kv-cache-dtype fp8",
        ),
        (  # kv_cache_utils.py:758
            "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing",
            "weights and working memory leave too little for the KV cache: raise --gpu-memory-utilization, lower "
            "--max-num-batched-tokens, or choose a smaller --model",
        ),
        (  # v1/worker/utils.py:434
            "Free memory on device cuda:0 (3.10/23.64 GiB) on startup is less than desired GPU memory utilization "
            "(0.9, 21.28 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
            "3.10 of 23.64 GiB are free, less than asked for: end the other program, or lower --gpu-memory-utilization",
        ),
        (  # config/model.py:2268, provoked on the CPU build
            "1 validation error for ModelConfig\n  Value error, User-specified max_model_len (100000) is greater than "
            "the derived max_model_len (max_position_embeddings=32768 or model_max_length=None in model's config.json)",
            "--max-model-len 100000 is more than the model was made for: 32768 tokens at most",
        ),
        (
            "CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 23.64 GiB",
            "the card ran out of memory: lower --gpu-memory-utilization or --max-num-batched-tokens, add "
            "--enforce-eager, or choose a smaller --model",
        ),
        (
            "[Errno 28] No space left on device",
            "the disk is full: name a folder on a larger one with HF_HOME (on AutoDL: export HF_HOME=~/autodl-tmp/hf)",
        ),
        (
            "Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist",
            "kernels are compiled at the first start and the CUDA compiler is missing: use --attention-backend "
            "TRITON_ATTN, or --kv-cache-dtype auto",
        ),
        (  # platforms/cuda.py:417
            "Selected backend AttentionBackendEnum.FLASH_ATTN is not valid for this configuration. Reason: "
            "['kv_cache_dtype not supported']",
            "no such attention backend takes these settings on this card: leave --attention-backend and --block-size "
            "out, or use --kv-cache-dtype auto",
        ),
    ],
    ids=[
        "one request too long",
        "no room",
        "card in use",
        "longer than the model",
        "out of memory",
        "disk",
        "nvcc",
        "backend",
    ],
)
def test_a_start_that_fails_ends_in_one_sentence(fake: FakeVllm, run: Any, message: str, sentence: str) -> None:
    fake.start = ValueError(message)
    assert failed(run()) == sentence


def test_the_cause_is_found_behind_another_error(fake: FakeVllm, run: Any) -> None:
    fake.start = RuntimeError("Engine core initialization failed. See root cause above.")
    fake.start.__cause__ = ValueError("No available memory for the cache blocks.")
    assert "leave too little for the KV cache" in failed(run())


def test_a_model_that_cannot_be_reached_names_mirror_and_modelscope(fake: FakeVllm, run: Any) -> None:
    fake.config_error = OSError(
        "We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files."
    )
    line = failed(run())
    assert line.startswith("Qwen/Qwen2.5-7B-Instruct-AWQ could not be fetched: check the name given to --model")
    assert "HF_ENDPOINT=https://hf-mirror.com" in line
    assert "VLLM_USE_MODELSCOPE=True" in line


def test_an_unknown_failure_names_the_error_and_the_flag_for_more(fake: FakeVllm, run: Any) -> None:
    fake.start = RuntimeError("something new\nsecond line")
    assert failed(run()) == "vLLM stopped with RuntimeError: something new (--debug shows the traceback)"


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


def test_no_gpu_is_said_plainly(fake: FakeVllm, run: Any, lab: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.device = ""
    monkeypatch.setattr(lab, "driver_version", lambda: None)
    assert failed(run()).startswith("no GPU found, and nvidia-smi finds none")


def test_a_driver_too_old_is_told_from_no_gpu(
    fake: FakeVllm, run: Any, lab: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake.device = ""
    monkeypatch.setattr(lab, "driver_version", lambda: "550.54.14")
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
