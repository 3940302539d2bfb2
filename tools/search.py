"""What the search need not find: code that a page shows folded. A hit on it would be a whole source file.

The search plugin of the theme leaves out elements with `data-search-exclude`, and takes the attribute away.
"""

from __future__ import annotations

import xml.etree.ElementTree as etree

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

FOLDED_CODE = "python"  # the class of such a fold


class LeaveOutFoldedCode(Treeprocessor):  # type: ignore[misc]  # Markdown has no types
    def run(self, root: etree.Element) -> None:
        for fold in root.iter("details"):
            if FOLDED_CODE in fold.get("class", "").split():
                fold.set("data-search-exclude", "true")


class SearchExtension(Extension):  # type: ignore[misc]
    def extendMarkdown(self, md: Markdown) -> None:
        # After attribute lists (8), which give a fold its class.
        md.treeprocessors.register(LeaveOutFoldedCode(md), "search", 6)


def makeExtension(**settings: object) -> SearchExtension:
    return SearchExtension(**settings)
