"""The notebook page, built with the site's own configuration on a small site of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from nbclient import NotebookClient

from tools.policy import script_hashes

ROOT = Path(__file__).resolve().parents[2]
NAME = "with-and-without-the-cache"
SOURCE = (ROOT / "docs" / "notebooks" / f"{NAME}.py").read_text(encoding="utf-8")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JUPYTER", "IPYTHON"))}


def build(folder: Path, source: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Build the notebook, and an empty page for each page it links to, in a process of its own."""
    docs = folder / "docs"
    linked = sorted(set(re.findall(r"\]\(\.\./([\w/-]+\.md)", source)))
    for page in ["index.md", *linked]:
        (docs / page).parent.mkdir(parents=True, exist_ok=True)
        (docs / page).write_text("# Page\n")
    (docs / "notebooks").mkdir()
    (docs / "notebooks" / f"{NAME}.py").write_text(source, encoding="utf-8")
    changed = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": "docs",
        "site_dir": "site",
        "nav": ["index.md", *linked, f"notebooks/{NAME}.py"],
        "theme": {"custom_dir": str(ROOT / "overrides")},
        "hooks": [str(ROOT / "tools" / "notebook.py")],
    }
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(changed))
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(folder / "mkdocs.yml")]
    environment = CLEAN | {"NO_MKDOCS_2_WARNING": "1"} | environment
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notebook")
    done = build(folder, SOURCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder / "site"


@pytest.fixture(scope="module")
def page(site: Path) -> str:
    return (site / "notebooks" / NAME / "index.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def article(page: str) -> str:
    found = re.search(r"<article.*?</article>", page, re.S)
    assert found
    return found[0]


@pytest.fixture(scope="module")
def download(site: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads((site / "notebooks" / f"{NAME}.ipynb").read_text(encoding="utf-8"))
    return notebook


def printed(cells: list[dict[str, Any]]) -> list[str]:
    """What each code cell printed, those that only write a module left out."""
    shown = ["".join(part["text"] for part in cell["outputs"]) for cell in cells if cell["cell_type"] == "code"]
    return [text.rstrip() for text in shown if text and not text.startswith(("Writing", "Overwriting"))]


def test_page_is_lean(article: str) -> None:
    assert len(article.encode()) < 50_000


def test_page_has_no_script_style_or_foreign_address_of_its_own(article: str) -> None:
    assert not re.search(r"<(script|style|link|iframe|object|img)\b|\sstyle=|\son\w+=", article)
    assert re.findall(r'(?:src|href)="(?:https?:)?//[^"]*', article) == []


def test_every_inline_script_is_one_that_the_policy_lists(site: Path) -> None:
    listed = re.findall(r'- "(sha256-[^"]+)"', (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert set(script_hashes(site)) <= set(listed)


def test_building_twice_gives_the_same_bytes(site: Path, tmp_path: Path) -> None:
    assert build(tmp_path, SOURCE).returncode == 0
    for file in (f"notebooks/{NAME}/index.html", f"notebooks/{NAME}.ipynb"):
        assert (tmp_path / "site" / file).read_bytes() == (site / file).read_bytes(), file


def test_building_works_in_folders_with_long_names_and_spaces(tmp_path: Path) -> None:
    folder = (
        tmp_path / "a folder whose name is longer than the path of a socket may be" / "with spaces, and so on and on"
    )
    temporary = folder / "temporary"
    temporary.mkdir(parents=True)
    assert len(str(temporary)) > 107
    done = build(folder, "# %% [markdown]\n# # Page\n\n# %%\nprint(6 * 7)\n", TMPDIR=str(temporary))
    assert done.returncode == 0, done.stdout + done.stderr
    assert ">42</pre>" in (folder / "site" / "notebooks" / NAME / "index.html").read_text(encoding="utf-8")


def test_both_ways_write_the_same_text(article: str) -> None:
    texts = re.findall(r"^.*kv cache -&gt; ([a-z ]{14})$", article, re.M)
    assert len(texts) == 2
    assert len(set(texts)) == 1
    assert "letters that differ:      0" in article
    assert "largest logit difference: 0.0" in article


def test_table_counts_the_scores_of_every_step(article: str) -> None:
    # A prompt of 8, then 13 more passes: n(n+1)/2 scores without the cache, n with it, and the prompt's 36 in both.
    rows = [f"{8:>3}{8:>9}{8:>5}{36:>10}{36:>5}"]
    rows += [f"{n:>3}{n:>9}{1:>5}{n * (n + 1) // 2:>10}{n:>5}" for n in range(9, 22)]
    # 8 + 9 + … + 21 = 203 positions; 21 * 22 * 23 / 6 - 7 * 8 * 9 / 6 = 1,687 scores; 21 * 22 / 2 = 231.
    rows += ["all      203   21     1,687  231"]
    assert "\n".join(rows) in article


def test_bytes_counted_and_bytes_by_the_formula_are_both_5376(article: str) -> None:
    # 2 (key, value) * 2 layers * 2 KV heads * 4 numbers * 8 bytes * 21 tokens
    assert re.findall(r"^bytes (?:counted|by the formula) +([\d,]+)$", article, re.M) == ["5,376", "5,376"]


def test_answers_are_folded(article: str) -> None:
    folds = re.findall(r"<details class=\"nb-reveal\">.*?</details>", article, re.S)
    open_text = re.sub(r"<details class=\"nb-reveal\">.*?</details>", "", article, flags=re.S)
    assert len(folds) == article.count("<strong>Predict.</strong>") == 4
    for answer in ("eloii", "1,687", "towards four times", "5,376"):
        assert answer in "".join(folds)
        assert answer not in open_text


def test_page_links_to_its_download(article: str, site: Path) -> None:
    (target,) = re.findall(r'href="([^"]+\.ipynb)"', article)
    assert (site / "notebooks" / NAME / target).resolve() == (site / "notebooks" / f"{NAME}.ipynb").resolve()


def test_download_is_a_valid_notebook_with_the_outputs_of_the_page(download: dict[str, Any], article: str) -> None:
    nbformat.validate(download)
    on_page = [unescape(text) for text in re.findall(r'class="nb-output"[^>]*>(.*?)</pre>', article, re.S)]
    assert printed(download["cells"]) == on_page


def test_download_has_no_notation_of_the_site(download: dict[str, Any]) -> None:
    prose = "\n".join(cell["source"] for cell in download["cells"] if cell["cell_type"] == "markdown")
    assert not re.search(r"`#!|```math|\{ \.|markdown=|--8<--|exec=|\]\((?!https?://)", prose)
    assert "$n(n+1)/2$" in prose or "n(n+1)/2$" in prose


def test_download_runs_alone_and_prints_the_same(
    download: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in set(os.environ) - set(CLEAN):
        monkeypatch.delenv(name)
    notebook = nbformat.reads(json.dumps(download), as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert (tmp_path / "snippets" / "tiny_transformer.py").is_file()
    assert printed(notebook.cells) == printed(download["cells"])


PYODIDE = """
import { loadPyodide } from "pyodide";
const [root, code] = process.argv.slice(1);
const python = await loadPyodide({ indexURL: root + "/node_modules/pyodide" });
python.FS.mkdir("/repository");
python.FS.mount(python.FS.filesystems.NODEFS, { root }, "/repository");
python.runPython("import sys; sys.dont_write_bytecode = True; sys.path.insert(0, '/repository')");
python.setStdout({ batched: (line) => console.log(line) });
python.runPython(code);
"""


def test_cells_print_the_same_in_the_browsers_python(download: dict[str, Any]) -> None:
    cells = [cell["source"] for cell in download["cells"] if cell["cell_type"] == "code" and cell["outputs"]]
    command = ["node", "--input-type=module", "--eval", PYODIDE, "--", str(ROOT), "\n".join(cells)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.rstrip() for text in printed(download["cells"]) for line in text.splitlines()]
    assert [line.rstrip() for line in done.stdout.splitlines()] == lines


def test_build_stops_at_a_failing_cell(tmp_path: Path) -> None:
    done = build(tmp_path, "# %% [markdown]\n# # Broken\n\n# %%\nraise RuntimeError('planted failure')\n")
    assert done.returncode == 1
    assert "planted failure" in done.stdout + done.stderr
    assert not (tmp_path / "site" / "notebooks" / NAME / "index.html").exists()
