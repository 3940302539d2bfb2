"""labs/serve_kv.py stands alone, and predicts what vLLM did."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from math import ceil
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from fake_vllm import GIB, QWEN

from snippets import baseline
from tools import lab_box

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "labs/serve_kv.py"


@pytest.fixture
def lab() -> ModuleType:
    """labs/serve_kv.py as it stands."""
    return lab_box.module("serve_kv")


def alone(tmp_path: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of the file with no other file beside it and nothing of ours importable."""
    copy = tmp_path / "serve_kv.py"
    shutil.copy(LAB, copy)
    command = [sys.executable, "-I", str(copy), *argv]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})


# --- it stands alone ---
def test_help_says_card_memory_time_cost_and_what_is_measured(tmp_path: Path) -> None:
    done = alone(tmp_path, "--help")
    assert done.returncode == 0
    for word in ("RTX 4090", "Minimum memory:", "Time:", "¥1.88", "Platform:", "Measures:", "--kv-cache-dtype"):
        assert word in done.stdout


def test_show_command_needs_no_vllm_and_prints_the_server_form(tmp_path: Path) -> None:
    assert alone(tmp_path, "--show-command").stdout == (
        "vllm serve Qwen/Qwen2.5-7B-Instruct-AWQ --max-model-len 8192 --gpu-memory-utilization 0.90 "
        "--kv-cache-dtype fp8 --enable-prefix-caching --max-num-batched-tokens 2048\n"
    )


def test_every_setting_reaches_the_server_form(lab: ModuleType) -> None:
    # Parsed by vLLM 0.26.0's own make_arg_parser on 2026-11-30: each flag below, to the value the lab gives LLM().
    argv = "--model m/x --no-enable-prefix-caching --block-size 32 --attention-backend TRITON_ATTN --enforce-eager"
    args = lab.parser().parse_args([*argv.split(), "--gpu-memory-utilization", "0.925", "--kv-cache-dtype", "auto"])
    assert lab.serve_command(args) == (
        "vllm serve m/x --max-model-len 8192 --gpu-memory-utilization 0.925 --kv-cache-dtype auto "
        "--no-enable-prefix-caching --max-num-batched-tokens 2048 --block-size 32 --attention-backend TRITON_ATTN "
        "--enforce-eager"
    )


def test_without_vllm_one_sentence_says_what_to_install(tmp_path: Path) -> None:
    done = alone(tmp_path)
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "serve_kv: vLLM is not installed here: pip install vllm==0.26.0, or start this file with `uv run`"
    )


def test_it_is_valid_for_the_oldest_python_its_header_allows() -> None:
    ast.parse(LAB.read_text(encoding="utf-8"), feature_version=(3, 10))


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (["--gpu-memory-utilization", "1.2"], "'1.2' is not a share of the card above 0 and at most 1"),
        (["--gpu-memory-utilization", "nan"], "'nan' is not a share of the card"),
        (["--max-model-len", "0"], "'0' is not a whole number of 1 or more"),
        (["--kv-cache-dtype", "int4"], "invalid choice: 'int4'"),
    ],
)
def test_a_wrong_flag_names_what_is_allowed(
    lab: ModuleType, argv: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        lab.main(argv)
    assert caught.value.code == 2
    assert reason in capsys.readouterr().err


# --- it predicts ---
@pytest.mark.parametrize(
    ("dtype_bytes", "block_size", "blocks", "tokens", "concurrency"),
    [  # vLLM 0.26.0 itself (CPU build), Qwen2.5-7B's KV shape, 1 GiB, 2026-11-29
        (2, 128, 146, 18_688, 2.28),
        (2, 16, 1170, 18_720, 2.29),
        (1, 128, 292, 37_376, 4.56),
    ],
)
def test_prediction_equals_what_vllm_reported(
    lab: ModuleType, dtype_bytes: int, block_size: int, blocks: int, tokens: int, concurrency: float
) -> None:
    made = lab.predict(lab.ModelConfig("tiny", 28, 4, 128, dtype_bytes), GIB, block_size, 8192)
    assert made["num_gpu_blocks"] == blocks
    assert made["kv_cache_size_tokens"] == tokens
    assert round(made["max_concurrency"], 2) == concurrency


def test_weights_known_before_the_start_are_the_sites_own(lab: ModuleType) -> None:
    assert lab.weight_bytes("Qwen/Qwen2.5-7B-Instruct-AWQ") == baseline.AWQ_WEIGHTS_BYTES
    assert lab.weight_bytes("Qwen/Qwen2.5-7B-Instruct") == baseline.WEIGHTS_BYTES
    assert lab.weight_bytes("someone/else") is None


def test_weights_of_a_folder_are_its_safetensors_files(lab: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "model-1.safetensors").write_bytes(bytes(10))
    (tmp_path / "model-2.safetensors").write_bytes(bytes(5))
    (tmp_path / "tokenizer.json").write_bytes(bytes(99))
    assert lab.weight_bytes(str(tmp_path)) == 15


def test_minimum_memory_in_the_docstring_is_weights_most_other_memory_and_one_request(lab: ModuleType) -> None:
    request = 28 * 2 * 4 * 128 * 8192  # FP8: one byte an element
    weights = (baseline.AWQ_WEIGHTS_BYTES, baseline.WEIGHTS_BYTES)
    least = [ceil((w + lab.OTHER_HIGH_BYTES + request) / 0.90 / GIB * 10) / 10 for w in weights]
    assert f"{least[0]:.1f} GiB visible" in str(lab.__doc__)
    assert f"{least[1]:.1f} GiB for the" in str(lab.__doc__)


def test_download_and_cost_in_the_docstring_follow_from_their_parts(lab: ModuleType) -> None:
    assert f"{baseline.AWQ_WEIGHTS_BYTES / 1e9:.1f} GB" == "5.6 GB"
    assert "download of 5.6 GB" in str(lab.__doc__)
    assert round(15 / 60 * 1.88, 1) == 0.5


@pytest.mark.parametrize(
    ("config", "expected"),
    [  # the fields of published config.json files
        (QWEN, (28, 4, 128)),
        ({"num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128}, (28, 8, 128)),
        ({"num_hidden_layers": 40, "num_attention_heads": 40, "hidden_size": 5120}, (40, 40, 128)),
        (QWEN | {"layer_types": ["full_attention"] * 28}, (28, 4, 128)),
    ],
    ids=["Qwen2.5-7B", "Qwen3-0.6B", "OPT-13B", "Qwen2.5-7B as transformers reads it"],
)
def test_shape_is_read_from_a_models_config(
    lab: ModuleType, config: dict[str, Any], expected: tuple[int, int, int]
) -> None:
    shape = lab.shape_of("m", SimpleNamespace(**config), 2)
    assert (shape.num_layers, shape.num_kv_heads, shape.head_dim) == expected


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"kv_lora_rank": 512}, "MLA"),  # DeepSeek-V3
        ({"sliding_window": 4096, "num_hidden_layers": 32}, "full attention"),  # Mistral-7B-v0.1
        ({"layer_types": ["sliding_attention", "full_attention"]}, "full attention"),  # gpt-oss-20b
        ({"attn_layer_period": 8}, "full attention"),  # Jamba
        ({"num_hidden_layers": 12}, "config.json does not name"),
    ],
)
def test_a_cache_of_another_form_is_not_predicted(lab: ModuleType, config: dict[str, Any], reason: str) -> None:
    with pytest.raises(lab.Stop, match=reason):
        lab.shape_of("m", SimpleNamespace(**config), 2)
