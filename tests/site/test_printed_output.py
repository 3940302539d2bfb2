"""A program of snippets/ prints the same in CPython and in Pyodide, to the byte."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT

from tools.assets import snippets_archive

PROGRAMS = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "snippets").rglob("*.py")
    if re.search(r"^def main\(\)", path.read_text(encoding="utf-8"), re.MULTILINE)
)
RUN = """
import { readFileSync } from "node:fs";
import { loadPyodide } from "pyodide";
const python = await loadPyodide();
python.FS.writeFile("/snippets.zip", readFileSync(process.argv[1]));
python.runPython("import contextlib, io, runpy, sys; sys.path.insert(0, '/snippets.zip')");
const run = python.runPython(`
def run(name):
    printed = io.StringIO()
    sys.argv = [name]
    with contextlib.redirect_stdout(printed):
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    return printed.getvalue()
run`);
console.log(JSON.stringify(JSON.parse(process.argv[2]).map((name) => run(name))));
"""


@cache
def in_pyodide(archive: Path) -> dict[str, str]:
    command = ["node", "--input-type=module", "-e", RUN, str(archive), json.dumps(PROGRAMS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(zip(PROGRAMS, json.loads(done.stdout.splitlines()[-1]), strict=True))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive that the site serves, made from the sources as they are."""
    path = tmp_path_factory.mktemp("archive") / "snippets.zip"
    path.write_bytes(snippets_archive())
    return path


def test_the_lessons_calculator_is_among_the_programs() -> None:
    assert "snippets.kv_cache_size" in PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_the_same_in_cpython_and_in_pyodide(name: str, archive: Path) -> None:
    in_cpython = subprocess.run([sys.executable, "-m", name], cwd=ROOT, capture_output=True, text=True, check=True)
    assert in_pyodide(archive)[name] == in_cpython.stdout != ""
