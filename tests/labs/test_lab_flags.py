"""Every flag that a lab passes on or names is one of its own, or one that vLLM 0.26.0's parsers have."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tools import lab_box

ROOT = Path(__file__).resolve().parents[2]
# The real parsers' options, written down by record_parser_flags.py.
PARSERS: dict[str, list[str]] = json.loads((Path(__file__).parent / "parser_flags.json").read_text(encoding="utf-8"))
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z](?![a-z-])")
OF_OTHERS = {"--query-gpu", "--format", "--child"}  # nvidia-smi's, and how a lab calls itself
each = pytest.mark.parametrize("name", lab_box.names())


def settings(name: str) -> list[tuple[str, str, dict[str, Any]]]:
    made = lab_box.module(name)
    return list(made.settings(made.parser().parse_args([])))


@each
def test_engine_arguments_are_vllms(name: str) -> None:
    given = {argument for _, _, args in settings(name) for argument in args}
    assert given
    assert {f"--{argument.replace('_', '-')}" for argument in given} <= set(PARSERS["serve"])


@each
def test_engine_arguments_in_recorded_results_are_vllms(name: str) -> None:
    for path in (ROOT / "labs/results").glob(f"{name}.*.json"):
        for one in json.loads(path.read_text(encoding="utf-8"))["settings"]:
            assert {f"--{argument.replace('_', '-')}" for argument in one["engine_args"]} <= set(PARSERS["serve"])


@each
def test_the_server_form_is_made_of_vllms_flags(name: str) -> None:
    made = lab_box.module(name)
    for _, model, args in settings(name):
        assert set(FLAG.findall(made.serve_command(model, args))) <= set(PARSERS["serve"])


@each
def test_every_flag_named_in_a_string_exists(name: str) -> None:
    own = {option for action in lab_box.module(name).parser()._actions for option in action.option_strings}
    known = own | OF_OTHERS | {flag for flags in PARSERS.values() for flag in flags}
    tree = ast.parse((ROOT / f"labs/{name}.py").read_text(encoding="utf-8"))
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    assert {flag for text in texts for flag in FLAG.findall(text)} - known == set()


@each
def test_a_lab_has_the_flags_that_all_have(name: str) -> None:
    own = {option for action in lab_box.module(name).parser()._actions for option in action.option_strings}
    assert {"--model", "--out", "--quick", "--any-version", "--debug"} <= own
