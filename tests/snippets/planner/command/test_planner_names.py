"""Names of cards and models as people type them, and the name that the finished command gives a model."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from snippets.catalog.configs import config_entries
from snippets.planner.command.names import find_card, find_model, unknown_card, unknown_model
from snippets.planner.command.parse import started_as
from snippets.planner.command.run import main

Streams = pytest.CaptureFixture[str]
CARD = ["--gpu", "rtx-4090", "--available-kv-gib", "4", "--max-model-len", "8K"]


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("rtx-4090", "rtx-4090"),
        ("RTX 4090", "rtx-4090"),
        ("rtx4090", "rtx-4090"),
        ("H100 SXM 80 GB", "h100-80gb"),
        ("4090", None),
        ("a100", None),
        ("", None),
    ],
)
def test_a_card_is_found_by_key_or_name_in_any_case(typed: str, key: str | None) -> None:
    card = find_card(typed)
    assert (card.key if card else None) == key


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("qwen2.5-7b", "qwen2.5-7b"),
        ("Qwen2.5-7b-instruct", "qwen2.5-7b"),
        ("Qwen/Qwen2.5-7B-Instruct", "qwen2.5-7b"),
        ("qwen/qwen2.5-7b-instruct", "qwen2.5-7b"),
        ("Qwen2.5", None),
        ("", None),
    ],
)
def test_a_model_is_found_by_key_or_repository_in_any_case(typed: str, key: str | None) -> None:
    assert find_model(typed) == key


def test_every_key_and_every_repository_finds_its_own_model() -> None:
    for key, entry in config_entries().items():
        assert find_model(key) == find_model(key.upper()) == find_model(entry.repository) == key


@pytest.mark.parametrize(
    ("typed", "near"),
    [("4090", "Near it: rtx-4090."), ("a100", "Near it: a100-40gb, a100-80gb."), ("rtx-409", "Near it: rtx-4090.")],
)
def test_an_unknown_card_names_the_near_ones(typed: str, near: str) -> None:
    assert near in unknown_card(typed)


def test_an_unknown_repository_names_the_near_ones_and_where_its_config_lies() -> None:
    said = unknown_model("Qwen/Qwen3-8B-Base")
    assert "Near it: qwen3-8b (Qwen/Qwen3-8B)" in said
    assert "save https://huggingface.co/Qwen/Qwen3-8B-Base/raw/main/config.json and give that file." in said
    assert "huggingface" not in unknown_model("folder/config.json")


def config(folder: Path, name: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(config_entries()["qwen3-8b"].config))
    return str(folder / name)


@pytest.mark.parametrize(
    ("folder", "file", "name", "what"),
    [
        ("Qwen3-8B", "config.json", "Qwen3-8B", "a guess from the folder's name"),
        ("downloads", "Qwen3-8B.json", "Qwen3-8B", "a guess from the file's name"),
        ("downloads", "config (1).json", "MODEL", "a placeholder"),
        ("downloads", "-o.json", "MODEL", "a placeholder"),
    ],
)
def test_a_name_that_is_a_guess_is_said_to_be_one(
    folder: str, file: str, name: str, what: str, tmp_path: Path, capsys: Streams
) -> None:
    line = [config(tmp_path / folder, file), *CARD]
    assert main(line) == 0
    text = capsys.readouterr().out
    assert f"vllm serve {name} --max-model-len 8192" in text
    sentence = f"In the command {name} is {what}: put the model's repository or folder in its place."
    assert sentence in " ".join(text.split())
    assert main([*line, "--json"]) == 0
    assert sentence in json.loads(capsys.readouterr().out)["notes"]


def test_a_folder_a_repository_and_a_cached_download_are_no_guess(tmp_path: Path, capsys: Streams) -> None:
    config(tmp_path / "Qwen3-8B", "config.json")
    whole = config(tmp_path / "whole", "config.json")
    (tmp_path / "whole" / "model-00001-of-00005.safetensors").touch()
    (tmp_path / "models--Qwen--Qwen3-8B" / "snapshots").mkdir(parents=True)
    cached = config(tmp_path / "models--Qwen--Qwen3-8B" / "snapshots" / ("b9" * 20), "config.json")
    named = {str(tmp_path / "Qwen3-8B"): None, "qwen3-8b": "Qwen/Qwen3-8B", whole: str(tmp_path / "whole")}
    for model, name in {**named, cached: "Qwen/Qwen3-8B"}.items():
        assert main([model, *CARD]) == 0
        text = capsys.readouterr().out
        assert f"vllm serve {name or model} --max-model-len 8192" in text and "in its place" not in text


@pytest.mark.parametrize(
    ("argv0", "name"),
    [
        ("/downloads/planner.pyz", "python3 planner.pyz"),
        ("/somewhere/snippets/planner/__main__.py", "python -m snippets.planner"),
    ],
)
def test_help_names_how_it_was_started(argv0: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: Streams) -> None:
    monkeypatch.setattr(sys, "argv", [argv0, "--help"])
    assert started_as() == name
    assert main() == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: {name} CONFIG.json") and f"  {name} qwen2.5-7b --gpu rtx-4090" in text


def test_a_plan_for_the_python_class_says_that_the_command_is_of_a_server(capsys: Streams) -> None:
    assert main(["qwen3-8b", *CARD, "--usage", "llm"]) == 0
    assert "The command starts a server; LLM() takes the same settings as arguments" in capsys.readouterr().out
