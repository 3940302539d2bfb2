"""Closed, full and broken streams, files that are none, numbers beyond reason: a sentence, no traceback, no hang."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from snippets.catalog.configs import config_entries
from snippets.planner.command.run import main

ROOT = Path(__file__).resolve().parents[4]
PLANNER = f"{sys.executable} -m snippets.planner"
CARD = ["--gpu", "rtx-4090", "--max-model-len", "8K"]
Streams = pytest.CaptureFixture[str]


def shell(line: str) -> tuple[int, str, str]:
    """(exit code, stdout, stderr) of a line in which `planner` is the command."""
    words = ["bash", "-o", "pipefail", "-c", line.replace("planner", PLANNER)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words", ["gpt2 --gpu l4", "--list-gpus", "--help"])
@pytest.mark.parametrize(
    ("redirection", "said"),
    [
        (">&-", "stdout is closed: there is nowhere to print to.\n"),
        ("> /dev/full", "stdout cannot be written: No space left on device.\n"),
    ],
)
def test_output_that_cannot_be_written_is_exit_code_2(words: str, redirection: str, said: str) -> None:
    assert shell(f"planner {words} {redirection}") == (2, "", said)


@pytest.mark.parametrize("words", ["--list-models", "--help", "gpt2 --gpu l4 --explain"])
def test_a_reader_that_leaves_is_silent_and_counts_as_sigpipe(words: str) -> None:
    code, _, said = shell(f"planner {words} | true")
    assert (code, said) == (141, "")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("planner - --gpu l4 <&-", "stdin is closed; pipe a config.json into it, or name a file.\n"),
        ("planner --specs <&-", "stdin is closed; pipe lines of JSON into it.\n"),
        ("planner - --gpu l4 < /dev/zero", "stdin has more than 8 MiB; a config.json has a few KiB.\n"),
        ("planner --specs < /dev/zero", "Line 1 of stdin has more than 8 MiB.\n"),
    ],
)
def test_input_that_is_closed_or_without_end_is_exit_code_2(line: str, said: str) -> None:
    assert shell(line) == (2, "", said)


@pytest.mark.parametrize("redirection", ["2>&-", "2> /dev/full"])
def test_without_stderr_the_exit_code_still_says_it(redirection: str) -> None:
    assert shell(f"planner no-such-model --gpu l4 {redirection}") == (2, "", "")


def test_a_pipe_or_a_device_in_a_files_place_is_refused_at_once(tmp_path: Path, capsys: Streams) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        assert main([str(path), *CARD]) == 2
        assert "is not a regular file; pipe its text into stdin" in capsys.readouterr().err


def test_a_file_of_2_gib_is_not_read(tmp_path: Path, capsys: Streams) -> None:
    path = tmp_path / "config.json"
    with path.open("wb") as file:
        file.truncate(2 * 2**30)  # sparse: it takes no room
    assert main([str(path), *CARD]) == 2
    assert "has more than 8 MiB; a config.json has a few KiB." in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a" * 5000, "a/" * 5000 + "config.json"])
def test_a_name_no_file_can_have_is_exit_code_2(name: str, capsys: Streams) -> None:
    assert main([name, *CARD]) == 2
    said = capsys.readouterr().err
    assert "cannot be read: File name too long." in said and len(said) < 120


def test_a_place_in_json_is_said_once(tmp_path: Path, capsys: Streams) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"model_type": "llama",\n "hidden_size": }')
    assert main([str(path), *CARD]) == 2
    assert capsys.readouterr().err == f"{path}, line 2, column 17: a value is missing here.\n"


def test_a_fault_of_the_side_file_carries_its_name(tmp_path: Path, capsys: Streams) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config_entries()["qwen3-8b"].config))
    (tmp_path / "hf_quant_config.json").write_text("{")
    assert main([str(tmp_path), *CARD]) == 2
    assert "hf_quant_config.json, line 1, column 2: " in capsys.readouterr().err


HUGE = ("1000000000000", "-1000000000000", "1" + "0" * 22, "-1" + "0" * 22, "9" * 5000, "9" * 400 + "k", "1e400", "nan")
SIZES = (
    *("--max-model-len", "--kv-cache-memory-bytes", "--max-num-seqs", "--max-num-batched-tokens", "--block-size"),
    *("--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size", "--decode-context-parallel-size"),
    *("--num-gpu-blocks-override", "--mamba-block-size", "--layouts", "--prompt-len", "--output-len"),
    *("--prompt-len-std", "--output-len-std", "--shared-prefix-len", "--price-per-hour", "--spec-tokens"),
    *("--total-gib", "--free-gib", "--weights-gib", "--available-kv-gib", "--gpu-memory-utilization"),
)


@pytest.mark.parametrize("flag", SIZES)
@pytest.mark.parametrize("value", HUGE, ids=lambda value: value[:12])
@pytest.mark.parametrize("model", ["llama-3.1-8b", "qwen3-next-80b-a3b"])
def test_a_number_beyond_reason_ends_in_one_line_that_names_it(
    flag: str, value: str, model: str, capsys: Streams
) -> None:
    beside = ["--prompt-len", "100", "--output-len", "100", "--spec-method", "ngram", "--price-per-hour", "1"]
    code = main([model, "--gpu", "h200", *beside, f"{flag}={value}", "--json"])
    said = capsys.readouterr().err
    assert code in (1, 2)
    assert len(said.splitlines()) == 1 and len(said) < 900
    if code == 2:
        assert flag in said or "num_speculative_tokens" in said


@pytest.mark.parametrize("number", ["65", "1" + "0" * 22, "4000000000", "-1"])
def test_layouts_are_made_for_1_to_64_cards(number: str, capsys: Streams) -> None:
    assert main(["llama-3.1-8b", *CARD, "--layouts", number]) == 2
    assert capsys.readouterr().err == f"--layouts: '{number}' is not between 1 and 64.\n"


def test_a_card_without_memory_is_a_refusal(capsys: Streams) -> None:
    assert main(["llama-3.1-8b", "--total-gib", "0"]) == 1
    assert "CUDA out of memory" in capsys.readouterr().out
