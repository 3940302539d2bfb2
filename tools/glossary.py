"""The glossary: its entries, read from docs/glossary.md, and the Markdown extension that marks each term's first use.

An entry is a definition list item: the term with its id, other names below it, and one line of definition that ends
with the lesson that owns the term, in italics. On the page each term becomes a heading, so that a search finds it and
a link leads to it. Elsewhere its first use becomes `<abbr title="…">`; live/terms.mjs makes those reachable by
keyboard.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as etree
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

PAGE = Path(__file__).resolve().parent.parent / "docs" / "glossary.md"
# Definition lists are skipped because the glossary is one; the others are interactive, folded, headings, tables, code.
SKIPPED = {"a", "abbr", "button", "code", "details", "dl", "label", "pre", "summary", "table"} | {
    f"h{n}" for n in range(1, 7)
}
# Words that only look like a term: CUDA's context is no length, and a card's "24 GB" is a name, not a number of bytes.
NOT_A_TERM = r"CUDA[\s-]contexts?|\d[\s\u00a0-]GB"
_ENTRY = re.compile(
    r"^(?P<names>.+ \{ #(?P<id>[\w-]+) \}\n(?:[^\n:#].*\n)*)"
    r":   (?P<text>.+) \*(?P<owner>(?:Planned lesson|Lesson): .+)\*$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Entry:
    """One term. `names` are the words that stand for it, the entry's own first."""

    id: str
    names: tuple[str, ...]
    definition: str  # plain text
    owner: str  # Markdown: "Lesson: [title](path)" or "Planned lesson: title"


def plain(markdown: str) -> str:
    """A line of Markdown as text: figures by what they print, links by their text, no backticks."""
    text = re.sub(r"`#!(?:fig|cite) (.+?) = .+?`", r"\1", markdown)
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text).replace("`", "")


@cache
def parse(page: str) -> tuple[Entry, ...]:
    """The entries of a glossary page, in its order; an item that is not written as one is refused."""
    entries = []
    for match in _ENTRY.finditer(page):
        names = re.sub(r" \{ #.+? \}", "", match["names"]).strip().splitlines()
        entries.append(Entry(match["id"], tuple(map(plain, names)), plain(match["text"]), match["owner"]))
    items = len(re.findall(r"^:   ", page, re.MULTILINE))
    if len(entries) != items:
        raise ValueError(
            f"docs/glossary.md has {items} definitions, but {len(entries)} are written as tools/glossary.py reads them"
        )
    return tuple(entries)


def planned_lessons() -> dict[str, list[str]]:
    """The lessons that words still wait for, in the glossary's order, each with its words."""
    lessons: dict[str, list[str]] = {}
    for entry in parse(PAGE.read_text(encoding="utf-8")):
        if entry.owner.startswith("Planned lesson: "):
            lessons.setdefault(entry.owner.partition(": ")[2], []).append(entry.names[0])
    return lessons


def _variants(name: str) -> str:
    """A pattern for a name: either initial, singular or plural, spaces, line ends or hyphens between its words."""
    words = r"[\s-]".join(map(re.escape, re.split(r"[ -]", name)))
    first = name[0]
    if name[1:2].islower() or not first.isupper():  # an acronym keeps its capitals
        words = f"[{first.lower()}{first.upper()}]{words[1:]}"
    if name.endswith("y"):
        return f"{words[:-1]}(?:y|ies)"
    return words + ("(?:es)?" if name.endswith("ch") else "" if name.endswith("s") else "s?")


@cache
def pattern(entries: tuple[Entry, ...]) -> tuple[re.Pattern[str], tuple[Entry, ...]]:
    """One pattern for all names, longest first, and the entry that each of its groups stands for.

    A match without a group is one of NOT_A_TERM.
    """
    named = sorted(((name, entry) for entry in entries for name in entry.names), key=lambda pair: -len(pair[0]))
    groups = "|".join(f"({_variants(name)})" for name, _ in named)
    return re.compile(rf"(?:{NOT_A_TERM}|(?<![\w-])(?:{groups}))(?![\w-])"), tuple(entry for _, entry in named)


class FirstUses(Treeprocessor):  # type: ignore[misc]  # Markdown has no types
    """Wraps the first use of each term on a page; a page grows by the terms it uses, not by how often it uses them."""

    def run(self, root: etree.Element) -> None:
        self.pattern, self.owners = pattern(parse(PAGE.read_text(encoding="utf-8")))
        self.seen: set[str] = set()
        self._visit(root)

    def _visit(self, element: etree.Element) -> None:
        if element.tag in SKIPPED or "admonition-title" in element.get("class", ""):
            return
        children = list(element)
        self._mark(element, None, element.text)
        for child in children:
            self._visit(child)
            self._mark(element, child, child.tail)

    def _mark(self, parent: etree.Element, before: etree.Element | None, text: str | None) -> None:
        """Mark the text that follows `before` in `parent` (its first text when there is none)."""
        if not text or isinstance(text, AtomicString):
            return
        position = 0 if before is None else list(parent).index(before) + 1
        done = 0
        for match in self.pattern.finditer(text):
            if match.lastindex is None:
                continue
            entry = self.owners[match.lastindex - 1]
            if entry.id in self.seen:
                continue
            self.seen.add(entry.id)
            self._write(parent, before, text[done : match.start()])
            before = etree.Element("abbr", {"title": entry.definition})
            before.text = AtomicString(match[0])
            parent.insert(position, before)
            position, done = position + 1, match.end()
        self._write(parent, before, text[done:])

    @staticmethod
    def _write(parent: etree.Element, before: etree.Element | None, text: str) -> None:
        if before is None:
            parent.text = text
        else:
            before.tail = text


class TermHeadings(Treeprocessor):  # type: ignore[misc]
    """Turns the glossary's definition lists into headings and paragraphs: the search knows headings only."""

    def run(self, root: etree.Element) -> None:
        for glossary in [one for one in root.iter("div") if "glossary" in one.get("class", "").split()]:
            for position, child in reversed(list(enumerate(glossary))):
                if child.tag == "dl":
                    glossary[position : position + 1] = self._sections(child)

    @staticmethod
    def _sections(definitions: etree.Element) -> list[etree.Element]:
        sections: list[etree.Element] = []
        for item in definitions:
            if item.tag == "dd":
                item.tag = "p"
                sections.append(item)
            elif "id" in item.attrib:
                item.tag = "h3"
                item.set("data-toc-label", "".join(item.itertext()))  # without its other names
                sections.append(item)
            else:
                item.tag = "span"
                item.set("class", "other-name")
                item.text = f" · {item.text or ''}"
                sections[-1].append(item)
        return sections


class GlossaryExtension(Extension):  # type: ignore[misc]
    def extendMarkdown(self, md: Markdown) -> None:
        # After inline patterns (20) and attribute lists (8), before the table of contents (5) reads the headings.
        md.treeprocessors.register(FirstUses(md), "glossary", 6)
        md.treeprocessors.register(TermHeadings(md), "glossary-headings", 5.5)


def makeExtension(**settings: object) -> GlossaryExtension:
    return GlossaryExtension(**settings)
