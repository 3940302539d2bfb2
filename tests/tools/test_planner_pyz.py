"""planner.pyz gives make_plan's answers on a machine that has Python and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from snippets.catalog.configs import catalog_config, config_entries
from snippets.catalog.gpus import gpu
from snippets.planner.command.own_flags import engine_args
from snippets.planner.command.parse import parse
from snippets.planner.plan import make_plan
from snippets.planner.report import to_json
from snippets.units import GIB
from tools.planner_pyz import archive, needed_files

LINES = (
    "llama-3.1-8b --gpu rtx-4090 --max-model-len 8K",
    "llama-3.1-8b --gpu rtx-4090",
    "llama-3.1-8b --gpu rtx-3090 --max-model-len auto --kv-cache-dtype fp8",
    "llama-3.1-70b --gpu h100-80gb -tp 4 --max-model-len 32k",
    "qwen3-30b-a3b --gpu a100-80gb -tp 2 -ep",
    "gemma-3-27b --gpu h100-80gb --available-kv-gib 12.5",
    "gemma-4-31b-nvfp4 --gpu b200 --available-kv-gib 60",
    "gpt-oss-120b --gpu h100-80gb --available-kv-gib 5.38 --max-num-batched-tokens 1024",
    "deepseek-v3 --gpu h200 -tp 8 --available-kv-gib 40",
    "qwen3-next-80b-a3b --gpu h200 --available-kv-gib 20 --enable-prefix-caching",
    "jamba-1.5-mini --gpu h200 --available-kv-gib 30",
    "whisper-large-v3 --gpu l4 --available-kv-gib 8",
    "falcon-mamba-7b --gpu l40s --available-kv-gib 8",
)


@pytest.fixture(scope="module")
def pyz(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("alone") / "planner.pyz"
    path.write_bytes(archive())
    return path


def run(pyz: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """In the file's own folder, with no site-packages, no environment and no current directory on the path."""
    command = [sys.executable, "-I", "-S", pyz.name, *words]
    return subprocess.run(command, cwd=pyz.parent, input=stdin, capture_output=True, text=True, env={}, check=False)


def expected(line: str) -> dict[str, Any]:
    values = parse(line.split())
    available = int(values.available_kv_gib * GIB) if values.available_kv_gib is not None else None
    made = make_plan(catalog_config(values.model), gpu(values.gpu), engine_args(values), available_bytes=available)
    return to_json(made, config_entries()[values.model].repository)


def test_the_same_sources_give_the_same_bytes() -> None:
    assert archive() == archive()


def test_it_holds_what_the_command_imports_and_nothing_else(pyz: Path) -> None:
    names = set(zipfile.ZipFile(pyz).namelist())
    assert "snippets/planner/command/vllm_flags.json" in names and "snippets/catalog/configs.json" in names
    assert not any(name.startswith(("snippets/widgets", "snippets/draw", "snippets/sim")) for name in names)
    assert len(names) == len(needed_files()) + 1  # and __main__.py


@pytest.mark.parametrize("line", LINES)
def test_the_single_file_answers_as_make_plan(pyz: Path, line: str) -> None:
    done = run(pyz, *line.split(), "--json")
    assert json.loads(done.stdout) == json.loads(json.dumps(expected(line)))
    assert done.returncode == (1 if json.loads(done.stdout)["errors"] else 0)


def test_a_config_comes_through_stdin(pyz: Path) -> None:
    config = json.dumps(config_entries()["qwen3-8b"].config)
    done = run(pyz, "-", "--gpu", "rtx-5090", "--json", stdin=config)
    assert json.loads(done.stdout)["kv_bytes_per_token"] == 2 * 36 * 8 * 128 * 2


def test_a_wrong_flag_is_a_sentence_and_exit_code_2(pyz: Path) -> None:
    done = run(pyz, "llama-3.1-8b", "--gpus", "rtx-4090")
    assert done.returncode == 2
    assert done.stderr == "--gpus is no flag of vLLM 0.26.0 nor of this planner. Did you mean --gpu?\n"


def test_it_says_when_python_is_too_old(pyz: Path) -> None:
    main = zipfile.ZipFile(pyz).read("__main__.py").decode()
    assert main.index("needs Python 3.11") < main.index("from snippets")


def test_it_names_itself_in_its_help(pyz: Path) -> None:
    done = run(pyz, "--help")
    assert done.stdout.startswith("usage: python3 planner.pyz CONFIG.json --gpu KEY [flags]\n")
    assert "\n  python3 planner.pyz qwen2.5-7b --gpu rtx-4090 " in done.stdout and "snippets.planner" not in done.stdout


@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [
        (">&-", 2, "stdout is closed: there is nowhere to print to.\n"),
        ("> /dev/full", 2, "stdout cannot be written: No space left on device.\n"),
        ("| true", 141, ""),
        ("<&-", 0, ""),
    ],
)
def test_its_streams_end_as_those_of_the_module(pyz: Path, redirection: str, code: int, said: str) -> None:
    line = f"{sys.executable} -I -S {pyz} --list-gpus {redirection}"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, said)
