"""Every lesson has the same nine sections in the same order, and is tied both ways to a lab and an interview page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.glossary import planned_lessons

DOCS = Path(__file__).resolve().parents[2] / "docs"
LESSONS = sorted(p for p in (DOCS / "lessons").glob("*.md") if p.name != "index.md")

SECTIONS = [
    "Intuition and why it matters",
    "Mental model",
    "Principle and math",
    "Runnable code, line by line",
    "Lab",
    "Pitfalls",
    "Interview links",
    "Summary and further reading",
    "Self-check",
]
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1[ \t]*$", re.M | re.S)


def text_of(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> set[Path]:
    """The pages of the site that a page links to."""
    targets = re.findall(r"\]\(([^)\s#]+\.md)(?:#[^)\s]*)?\)", text_of(page))
    return {(page.parent / target).resolve() for target in targets}


def section(page: Path, name: str) -> str:
    """The text under one H2."""
    return re.split(r"^## ", text_of(page).split(f"## {name}", 1)[1], maxsplit=1, flags=re.M)[0]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.stem)
def test_lesson_has_the_nine_sections_in_order(lesson: Path) -> None:
    headings = re.findall(r"^## (.+?)(?: \{.*\})?$", text_of(lesson), re.M)
    assert headings == SECTIONS


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.stem)
def test_baseline_stands_on_top(lesson: Path) -> None:
    top = text_of(lesson).split("\n## ", 1)[0]
    assert "Baseline" in top
    assert "vLLM 0.26.0" in top


@pytest.mark.parametrize("folder", ["labs", "interview"])
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.stem)
def test_lesson_and_its_lab_and_interview_page_link_to_each_other(lesson: Path, folder: str) -> None:
    partners = {page for page in links(lesson) if page.parent == DOCS / folder and page.name != "index.md"}
    assert partners, f"{lesson.name} links to no page in {folder}/"
    without = [page.name for page in partners if lesson not in links(page)]
    assert not without, f"{without} do not link back to {lesson.name}"


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.stem)
def test_self_check_has_at_least_five_questions_with_folded_answers(lesson: Path) -> None:
    assert len(re.findall(r"^\?\?\? ", section(lesson, "Self-check"), re.M)) >= 5


def test_planned_lessons_are_those_the_glossary_waits_for() -> None:
    waiting = re.findall(r"\*Planned lesson: (.+)\*", (DOCS / "glossary.md").read_text(encoding="utf-8"))
    assert set(planned_lessons()) == set(waiting)
    assert planned_lessons()["Prefill and decode"] == ["Token", "Sequence", "Prefill", "Decode"]
    assert "planned_lessons()" in (DOCS / "lessons" / "index.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda p: p.stem)
def test_lesson_index_names_every_lesson(lesson: Path) -> None:
    assert lesson in links(DOCS / "lessons" / "index.md")
