"""Every decision is one short page of the same five sections, listed everywhere, and names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from snippets import baseline
from snippets.units import gib

ROOT = Path(__file__).resolve().parents[2]
DECISIONS = sorted((ROOT / "adr").glob("[0-9]*.md"))
SECTIONS = ["Status", "Context", "Decision", "Consequences", "Confirmation"]


def section(page: Path, name: str) -> str:
    """The text under one H2."""
    return page.read_text(encoding="utf-8").split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0]


def test_decisions_are_numbered_without_gaps() -> None:
    assert [int(page.name[:4]) for page in DECISIONS] == list(range(1, len(DECISIONS) + 1))


@pytest.mark.parametrize("page", DECISIONS, ids=lambda p: p.name[:4])
def test_file_is_named_by_number_and_title_with_dashes(page: Path) -> None:
    assert re.fullmatch(r"\d{4}(-[a-z0-9]+)+\.md", page.name)
    assert page.read_text(encoding="utf-8").startswith(f"# {page.name[:4]}: ")


@pytest.mark.parametrize("page", DECISIONS, ids=lambda p: p.name[:4])
def test_decision_has_the_five_sections_in_order(page: Path) -> None:
    assert re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.M) == SECTIONS


@pytest.mark.parametrize("page", DECISIONS, ids=lambda p: p.name[:4])
def test_decision_is_dated_and_fits_on_a_screen(page: Path) -> None:
    assert re.search(r"(Proposed|Accepted|Replaced), \d{4}-\d{2}-\d{2}", section(page, "Status"))
    assert len(page.read_text(encoding="utf-8").splitlines()) <= 40


@pytest.mark.parametrize("page", DECISIONS, ids=lambda p: p.name[:4])
def test_confirmation_names_tests_that_exist(page: Path) -> None:
    named = re.findall(r"`(tests/[^`]+)`", section(page, "Confirmation"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", DECISIONS, ids=lambda p: p.name[:4])
def test_decision_stands_in_the_index_and_in_the_navigation(page: Path) -> None:
    assert f"]({page.name})" in (ROOT / "adr" / "index.md").read_text(encoding="utf-8")
    assert f": decisions/{page.name}\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def test_baseline_decision_states_what_the_code_computes_with() -> None:
    text = (ROOT / "adr" / "0001-lab-hardware-baseline.md").read_text(encoding="utf-8")
    assert f"{gib(baseline.VISIBLE_BYTES)} visible" in text
    assert f"`gpu_memory_utilization` of {baseline.UTILIZATION}" in text
