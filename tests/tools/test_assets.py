"""What the build puts beside the pages."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from tools import assets

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project in place of the real one."""
    monkeypatch.setattr(assets, "ROOT", tmp_path)
    monkeypatch.setattr(assets, "DOCS", tmp_path / "docs")
    for folder in ("snippets", "adr", "labs", "docs"):
        (tmp_path / folder).mkdir()
    return tmp_path


def test_archive_of_the_same_sources_has_the_same_bytes(tree: Path) -> None:
    (tree / "snippets" / "b.py").write_text("x = 1\n")
    (tree / "snippets" / "a.json").write_text("{}\n")
    first = assets.snippets_archive()
    os.utime(tree / "snippets" / "b.py", (0, 0))
    assert assets.snippets_archive() == first


def test_archive_holds_every_module_and_table_and_nothing_else() -> None:
    names = set(zipfile.ZipFile(io.BytesIO(assets.snippets_archive())).namelist())
    sources = {
        p.relative_to(ROOT).as_posix() for kind in ("py", "json") for p in (ROOT / "snippets").rglob(f"*.{kind}")
    }
    assert names == sources


def test_decisions_and_labs_are_copied_to_the_pages(tree: Path) -> None:
    (tree / "adr" / "0001-one.md").write_text("# 0001: One\n")
    (tree / "labs" / "lab.py").write_text("print()\n")
    assets.copies()
    assert (tree / "docs" / "decisions" / "0001-one.md").read_text() == "# 0001: One\n"
    assert (tree / "docs" / "labs" / "lab.py").read_text() == "print()\n"


def test_copy_of_a_removed_decision_goes_too(tree: Path) -> None:
    (tree / "adr" / "0001-one.md").write_text("# 0001: One\n")
    assets.copies()
    (tree / "adr" / "0001-one.md").unlink()
    assets.copies()
    assert list((tree / "docs" / "decisions").iterdir()) == []


def test_second_copy_writes_nothing(tree: Path) -> None:
    (tree / "adr" / "0001-one.md").write_text("# 0001: One\n")
    assets.copies()
    copy = tree / "docs" / "decisions" / "0001-one.md"
    os.utime(copy, (1, 1))
    assets.copies()
    assert copy.stat().st_mtime == 1


def test_fonts_are_served_with_their_licence() -> None:
    for name in ("inter", "noto-sans-math"):
        assert (ROOT / "docs" / "assets" / "fonts" / f"{name}.woff2").is_file()
        text = (ROOT / "docs" / "assets" / "licences" / f"{name}.txt").read_text(encoding="utf-8")
        assert "SIL Open Font License, Version 1.1" in text
