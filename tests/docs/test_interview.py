"""Every interview page answers in one breath, derives, goes on asking, and names the lesson behind it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(page for page in (DOCS / "interview").glob("*.md") if page.name != "index.md")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)


def section(page: Path, name: str) -> str:
    """The text under one H2."""
    return page.read_text(encoding="utf-8").split(f"\n## {name}\n", 1)[1].split("\n## ", 1)[0]


def test_there_is_a_question() -> None:
    assert PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_title_is_the_question(page: Path) -> None:
    titles = re.findall(r"^# (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.M)
    assert len(titles) == 1
    assert titles[0].endswith("?")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_answer_derivation_and_follow_ups_come_in_this_order(page: Path) -> None:
    headings = re.findall(r"^## (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.M)
    wanted = ["In one breath", "Derivation", "Follow-ups"]
    assert [heading for heading in headings if heading in wanted] == wanted
    assert headings[0] == wanted[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_answer_can_be_said_in_one_breath(page: Path) -> None:
    said = re.sub(r"`#!\w+ (.+?) = .+?`", r"\1", section(page, "In one breath"))
    assert 40 <= len(said.split()) <= 120


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_follow_ups_are_folded_questions(page: Path) -> None:
    asked = re.findall(r'^\?\?\? self-check "(.+)"$', section(page, "Follow-ups"), re.M)
    assert len(asked) >= 4
    assert all(one.endswith("?") for one in asked)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_page_stands_in_the_index_and_links_to_its_lesson(page: Path) -> None:
    assert f"]({page.name})" in (DOCS / "interview" / "index.md").read_text(encoding="utf-8")
    lessons = re.findall(r"\]\(\.\./lessons/([\w-]+\.md)", page.read_text(encoding="utf-8"))
    assert lessons
    assert all(f"../interview/{page.name}" in (DOCS / "lessons" / lesson).read_text() for lesson in lessons)
