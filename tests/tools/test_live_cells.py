"""Fences of Python that are live: how they are written, and what the page holds before any script runs."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from markdown import Markdown

from snippets.cells.exercise import exercise
from snippets.cells.run import run_cell
from tools import cells, editor, kept

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r'^```python live="(\w+)"([^\n]*)\n(.*?)^```$', re.MULTILINE | re.DOTALL)
PAGES = [path for path in sorted((ROOT / "docs").rglob("*.md")) if "decisions" not in path.parts]
FOUND = [(path.stem, *found) for path in PAGES for found in FENCE.findall(path.read_text(encoding="utf-8"))]
EXERCISES = sorted(path.stem for path in (ROOT / "snippets" / "exercises").glob("[!_]*.py"))


def html(markdown: str) -> str:
    ours = {"name": "python", "class": "cell", "format": cells.fence, "validator": cells.validator}
    extensions = ["pymdownx.superfences", "pymdownx.highlight"]
    configs = {extensions[0]: {"custom_fences": [ours]}}
    return str(Markdown(extensions=extensions, extension_configs=configs).convert(markdown))


def fence(options: str, code: str = "print(1 < 2)") -> str:
    return html(f"```python {options}\n{code}\n```")


def test_a_live_fence_is_the_pages_own_block_with_buttons_that_wait_for_the_scripts() -> None:
    made = fence('live="sum" title="A sum"')
    code = re.search(r"<code>(.*?)</code>", made, re.DOTALL)
    assert code and unescape(re.sub("<[^>]*>", "", code[1])) == "print(1 < 2)\n"
    assert '<span class="filename">A sum</span>' in made and '<code-cell id="cell-sum"' in made
    buttons = re.findall(r"<button[^>]*>", made)
    assert len(buttons) == len(cells.BUTTONS) and all(" disabled" in button for button in buttons)
    assert "needs JavaScript" in made


def test_other_fences_stay_as_they_are() -> None:
    assert html("```python\nprint()\n```") == html("```py\nprint()\n```").replace("language-py ", "language-python ")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ('live="sum" exercise="nothing"', "1", "There is no exercise 'nothing'"),
        ('live="a b"', "1", "a cell's name is an identifier, not 'a b'"),
        ('live="sum" colour="red"', "1", "not colour"),
        ('live="sum"', "print(", "live cell 'sum': '(' was never closed"),
    ],
)
def test_a_wrong_fence_fails_the_build(options: str, code: str, said: str) -> None:
    with pytest.raises(Exception, match=re.escape(said)):
        fence(options, code)


def test_an_exercise_folds_its_hints_and_its_solution() -> None:
    made = fence('live="sum" exercise="kv_bytes_per_token"')
    one = exercise("kv_bytes_per_token")
    assert re.findall("<summary>(.*?)</summary>", made) == ["Hint 1", "Hint 2", "Hint 3", "A solution"]
    assert all(hint in unescape(made) for hint in one.hints)


@pytest.mark.parametrize(("page", "name", "options", "code"), FOUND, ids=[f"{one[0]}-{one[1]}" for one in FOUND])
def test_each_live_block_runs_as_the_page_shows_it(page: str, name: str, options: str, code: str) -> None:
    included = re.fullmatch(r'--8<-- "(.*)"\n', code)
    source = (ROOT / included[1]).read_text(encoding="utf-8") if included else code
    checked = re.search(r'exercise="(\w+)"', options)
    ran = run_cell(source, checked[1] if checked else "")
    assert ran["error"] == ""
    if checked:
        assert not ran["graded"]["passed"], "an exercise that opens solved"


def test_each_exercise_is_on_a_page_and_its_solution_passes() -> None:
    options = " ".join(one[2] for one in FOUND)
    assert EXERCISES and set(EXERCISES) == set(re.findall(r'exercise="(\w+)"', options))
    for name in EXERCISES:
        assert run_cell(exercise(name).solution, name)["graded"]["passed"]


def test_the_editor_is_one_module_with_the_same_bytes_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "CACHE", tmp_path / "a")
    first = editor.bundle()
    monkeypatch.setattr(kept, "CACHE", tmp_path / "b")
    assert editor.bundle() == first
    assert len(list(tmp_path.iterdir())) == 2  # made twice
    assert not re.search(rb'(?:^|[;}])import["{*]', first)
    assert b"createEditor" in first
