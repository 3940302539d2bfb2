"""Files that a browser may keep for ever are published under names that change with them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from mkdocs.config.base import load_config
from mkdocs.structure.files import Files, get_files

from tools import names

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / os.environ.get("SITE", "site")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A small project with two modules and two style sheets."""
    for name, text in {
        "docs/index.md": "# Home",
        "docs/assets/live/main.mjs": 'import "./other.mjs";',
        "docs/assets/live/other.mjs": "1;",
        "docs/styles/a.css": "a{}",
        "docs/styles/b.css": "b{}",
        "mkdocs.yml": "site_name: x\nextra_css: [styles/b.css, styles/a.css]\n"
        "extra_javascript: [assets/live/main.mjs]\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def published(project: Path) -> tuple[Files, str, str]:
    """The files, and the addresses of the script and of the style sheet that pages get."""
    config = load_config(str(project / "mkdocs.yml"))
    config.plugins._current_plugin = "names"  # as while MkDocs calls a hook
    files = names.on_files(get_files(config), config)
    assert len(config.extra_css) == len(config.extra_javascript) == 1
    return files, str(config.extra_javascript[0]), config.extra_css[0]


def test_modules_share_a_folder_and_the_sheets_are_one_file_in_their_order(project: Path) -> None:
    files, script, sheet = published(project)
    folder = script.removesuffix("main.mjs")
    assert re.fullmatch(r"assets/live-[0-9a-f]{12}/", folder)
    places = {file.dest_uri: file.content_string for file in files}
    assert places[f"{folder}other.mjs"] == "1;"
    assert places[sheet] == "b{}a{}"
    assert set(places) == {"index.html", f"{folder}main.mjs", f"{folder}other.mjs", sheet}


@pytest.mark.parametrize("changed", ["assets/live/other.mjs", "styles/a.css"])
def test_a_name_changes_with_what_it_names_and_only_then(project: Path, changed: str) -> None:
    _, script, sheet = published(project)
    assert published(project)[1:] == (script, sheet)
    (project / "docs" / changed).write_text("/**/")
    _, new_script, new_sheet = published(project)
    assert (new_script == script, new_sheet == sheet) == (changed != "assets/live/other.mjs", changed != "styles/a.css")


def test_a_module_that_takes_the_name_of_another_changes_the_folder(project: Path) -> None:
    _, script, _ = published(project)
    (project / "docs/assets/live/other.mjs").rename(project / "docs/assets/live/third.mjs")
    assert published(project)[1] != script


def test_the_sites_pages_load_nothing_of_ours_under_a_name_that_could_change() -> None:
    found = set()
    for page in SITE.rglob("*.html"):
        tags = re.findall(r"<(?:script|link)\b[^>]*>", page.read_text(encoding="utf-8"))
        loaded = [tag for tag in tags if 'rel="stylesheet"' in tag or "<script" in tag or 'rel="modulepreload"' in tag]
        found |= {
            match[1] for tag in loaded if (match := re.search(r'(?:src|href|data-late)="(?:\.\./)*([^"]+)"', tag))
        }
    assert found
    assert [name for name in found if not re.search(r"[-.][0-9a-f]{8,12}[./]", name)] == []
