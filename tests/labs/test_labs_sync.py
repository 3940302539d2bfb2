"""Code in a lab is a copy of the site's own, and the copy is fresh."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import labs_sync
from tools.labs_sync import SyncError, synced

LAB = """X = 1


# --- generated from snippets/a.py by make labs-sync: do not edit ---
# copied: two, Four
# copied: FIVE
# --- end of snippets/a.py ---
"""
SOURCE = '''"""Doc."""

import os

FIVE = 5  # as published


def two() -> int:
    """Two."""
    return 2  # why not


def three() -> int:
    return 3


@decorate
class Four:
    n = 4
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "snippets").mkdir()
    (tmp_path / "snippets/a.py").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize("path", labs_sync.labs(), ids=lambda p: p.name)
def test_generated_code_in_a_lab_equals_its_source(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert synced(text) == text, "run `make labs-sync`"


def test_named_definitions_are_copied_with_comments_and_decorators_and_nothing_else(root: Path) -> None:
    made = synced(LAB, root)
    assert "FIVE = 5  # as published\n\n\ndef two()" in made
    assert "    return 2  # why not\n\n\n@decorate\nclass Four:\n    n = 4\n\n\n# --- end of" in made
    assert "three" not in made
    assert "import os" not in made
    assert made.startswith("X = 1\n")


def test_a_computed_number_is_written_and_how_it_is_worked_out_is_not(root: Path) -> None:
    (root / "snippets/b.py").write_text("ONE, TWO = (1000 * n for n in (1, 2))\n")
    marks = LAB.replace("a.py", "b.py").replace("# copied: two, Four\n# copied: FIVE\n", "# computed: {}\n")
    made = synced(marks.format("TWO"), root)
    assert "# computed: TWO\nTWO = 2_000\n# --- end of" in made
    assert synced(made, root) == made
    with pytest.raises(SyncError, match=r"snippets/b\.py defines no whole number SIX"):
        synced(marks.format("TWO, SIX"), root)


def test_a_second_sync_changes_nothing(root: Path) -> None:
    assert synced(synced(LAB, root), root) == synced(LAB, root)


def test_an_edited_copy_is_put_right(root: Path) -> None:
    made = synced(LAB, root)
    assert synced(made.replace("return 2", "return 22"), root) == made


@pytest.mark.parametrize(
    ("lab", "reason"),
    [
        (LAB.replace("two", "six"), "snippets/a.py does not define six"),
        (LAB.replace("a.py", "b.py"), "snippets/b.py is named in a lab's mark but does not exist"),
        (LAB.replace("# --- end of snippets/a.py ---\n", ""), "no matching `end of` mark"),
        (LAB.replace("# copied: two, Four\n# copied: FIVE\n", ""), "no matching `end of` mark"),
    ],
)
def test_a_mark_that_cannot_be_filled_is_refused_with_the_reason(root: Path, lab: str, reason: str) -> None:
    with pytest.raises(SyncError) as caught:
        synced(lab, root)
    assert reason in str(caught.value)
