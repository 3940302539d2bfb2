"""A cell runs as a program of its own, and its errors show the reader's lines."""

from __future__ import annotations

import sys

import pytest

from snippets.cells.exercise import Exercise, OffError, exercise, grade
from snippets.cells.run import run_cell


def error_of(source: str) -> str:
    return str(run_cell(source)["error"])


def test_a_program_prints_and_the_last_expression_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    ran = run_cell("import sys\nprint('a')\nprint('b', file=sys.stderr)\n2 ** 10")
    assert (ran["value"], ran["error"]) == ("1024", "")
    assert capsys.readouterr() == ("a\n", "b\n")


@pytest.mark.parametrize("source", ["", "x = 1", "None", "print", "# only a comment\n"])
def test_only_a_last_expression_has_a_value(source: str) -> None:
    assert run_cell(source)["value"] == ("<built-in function print>" if source == "print" else "")


def test_a_traceback_shows_the_lines_of_the_cell_and_no_others() -> None:
    told = error_of("import json\n\ndef read(text):\n    return json.loads(text)\n\nread('{')\n")
    assert [line.strip() for line in told.splitlines() if "File" in line] == [
        'File "<cell>", line 6, in <module>',
        'File "<cell>", line 4, in read',
    ]
    assert "return json.loads(text)" in told
    assert told.splitlines()[-1].startswith("json.decoder.JSONDecodeError: ")


def test_an_error_that_follows_another_is_cut_too() -> None:
    told = error_of(
        "import json\ntry:\n    json.loads('{')\nexcept ValueError as error:\n    raise KeyError(1) from error"
    )
    assert told.count("Traceback") == 2 and told.count("File") == 2 == told.count('File "<cell>"')


def test_a_syntax_error_points_at_its_place() -> None:
    told = error_of("x = (1,\n")
    assert told.startswith('  File "<cell>", line 1\n') and "was never closed" in told


@pytest.mark.parametrize(
    "source", ["input('Name? ')", "import sys; sys.stdin.readline()", "import sys; list(sys.stdin)"]
)
def test_input_is_refused_with_what_to_do_instead(source: str) -> None:
    assert "EOFError: a cell cannot ask for input while it runs; write the value into the code" in error_of(source)


def test_a_cell_is_main_with_its_own_names_and_leaves_nothing_behind() -> None:
    before = sys.modules["__main__"], sys.stdin, sys.stdout
    assert run_cell("import sys\nleft = 0\nsys.stdout = None")["error"] == ""
    assert (sys.modules["__main__"], sys.stdin, sys.stdout) == before
    assert run_cell("import sys\nleft = 1\n__name__, sys.modules['__main__'].left")["value"] == "('__main__', 1)"
    assert "NameError" in error_of("left")


def test_features_that_look_up_their_own_module_work() -> None:
    source = "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: 'int' = 3\nA()"
    assert run_cell(source)["value"] == "A(x=3)"


@pytest.mark.parametrize(
    ("code", "told"), [("", ""), ("0", ""), ("3", "SystemExit: 3\n"), ("'no card'", "SystemExit: no card\n")]
)
def test_a_program_may_end_itself(code: str, told: str) -> None:
    assert error_of(f"import sys\nsys.exit({code})") == told


@pytest.mark.parametrize("source", ["a\0b", "x = '\ud800'", "(" * 5000, "-" * 5000 + "1", "def f(): f()\nf()"])
def test_code_made_to_break_python_is_an_error_of_the_cell(source: str) -> None:
    assert run_cell(source)["error"]


def test_an_error_in_repr_is_the_readers() -> None:
    assert "line 3, in __repr__" in error_of("class A:\n    def __repr__(self):\n        return 1 / 0\nA()")


def test_only_code_that_runs_to_its_end_is_graded() -> None:
    assert "graded" not in run_cell("1 / 0", "kv_bytes_per_token")
    assert run_cell("x = 1", "kv_bytes_per_token")["graded"] == {
        "passed": False,
        "message": "Not yet. There is no function kv_bytes_per_token any more: the check looks for one of that name.",
    }


@pytest.mark.parametrize("name", ["nothing", "os", "../kv_cache_size", ""])
def test_there_are_no_other_exercises(name: str) -> None:
    with pytest.raises(ValueError, match="There is no exercise"):
        exercise(name)


def test_what_code_prints_while_it_is_graded_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def check(names: object) -> str:
        print("noise")
        raise OffError("off by one")

    assert grade(Exercise("x", (), "", check), {}) == {"passed": False, "message": "Not yet. off by one"}
    assert capsys.readouterr().out == ""
