"""What Python blocks print is kept until something they are made from changes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pymdownx.superfences import SuperFencesException

from tools import kept
from tools.printed import ROOT, Results

COUNTS = "import sys\nsys.counted = getattr(sys, 'counted', 0) + 1\nprint(sys.counted)"


@pytest.fixture(autouse=True)
def uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "counted", 0, raising=False)


def run(folder: Path, code: str, session: str = "") -> str:
    return Results(folder).run(code, returncode=0, session=session, id="")


def test_a_block_runs_once_for_one_state_of_the_sources(tmp_path: Path) -> None:
    assert [run(tmp_path / "a", COUNTS), run(tmp_path / "a", COUNTS)] == ["1\n", "1\n"]
    assert run(tmp_path / "b", COUNTS) == "2\n"


def test_blocks_that_share_a_session_always_run(tmp_path: Path) -> None:
    assert [run(tmp_path, COUNTS, "shared"), run(tmp_path, COUNTS, "shared")] == ["1\n", "2\n"]


def test_a_block_that_fails_is_not_kept(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(Exception, match="planted"):
            run(tmp_path, "raise ValueError('planted')")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "code",
    [f"print(open({str(ROOT / 'README.md')!r}).read())", f"import os\nprint(os.listdir({str(ROOT / 'docs')!r}))"],
    ids=["reads", "lists"],
)
def test_a_block_that_reads_what_its_result_does_not_depend_on_is_refused(code: str, tmp_path: Path) -> None:
    with pytest.raises(SuperFencesException, match=r"a Python block reads (README\.md|docs), .* add it to SOURCES"):
        run(tmp_path, code)
    assert list(tmp_path.iterdir()) == []


def test_an_edit_a_new_file_and_a_new_name_each_give_another_digest(tmp_path: Path) -> None:
    source = tmp_path / "snippets" / "one.py"
    source.parent.mkdir()
    seen = []
    for change in (
        lambda: source.write_text("x = 1\n"),
        lambda: source.write_text("x = 2\n"),
        lambda: source.with_name("two.py").write_text(""),
        lambda: source.with_name("two.py").rename(source.with_name("three.py")),
    ):
        change()
        seen.append(kept.digest_of(kept.files_in(["snippets"], tmp_path), tmp_path))
    assert len(set(seen)) == 4


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The site's own builder over one page and one notebook that import a module of their own."""
    for name in ("snippets", "tools", "labs", "overrides"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("requirements/site.lock", "docs/glossary.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "mkdocs.yml", tmp_path / "whole.yml")
    hooks = ["tools/printed.py", "tools/notebook.py"]
    nav = ["index.md", "glossary.md", "notebooks/one.py"]
    changed = {"INHERIT": "whole.yml", "nav": nav, "hooks": hooks, "extra_css": [], "extra_javascript": []}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(changed))
    code = "import time\nfrom snippets.planted import VALUE\nprint(f'{VALUE} at {time.time_ns()}')\n"
    (tmp_path / "docs" / "index.md").write_text(f'# Page\n\n```python exec="1"\n{code}```\n')
    (tmp_path / "docs" / "notebooks").mkdir()
    (tmp_path / "docs" / "notebooks" / "one.py").write_text(f"# %% [markdown]\n# # Title\n\n# %%\n{code}")
    (tmp_path / "snippets" / "planted.py").write_text("VALUE = 41\n")
    return tmp_path


def built(project: Path) -> list[str]:
    """What the page's block and the notebook's cell printed."""
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "mkdocs", "build"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = [(project / "site" / path).read_text() for path in ("index.html", "notebooks/one/index.html")]
    return [next(line for line in page.splitlines() if " at 1" in line and "time_ns" not in line) for page in pages]


def test_a_build_runs_nothing_again_until_an_imported_module_changes(project: Path) -> None:
    first, second = built(project), built(project)
    assert first == second
    assert all("41 at" in line for line in first)
    (project / "snippets" / "planted.py").write_text("VALUE = 42\n")
    assert all("42 at" in line for line in built(project))
