"""Folded code carries the mark by which the search leaves it out; other folds do not."""

from __future__ import annotations

from markdown import markdown


def html(text: str) -> str:
    return str(markdown(text, extensions=["tools.search", "md_in_html", "pymdownx.details", "pymdownx.superfences"]))


def test_a_fold_of_code_is_left_out() -> None:
    assert '<details class="python" data-search-exclude="true">' in html('??? python "The file"\n\n    Text.\n')
    assert 'data-search-exclude="true"' in html('<details class="python" id="x" markdown>\n\nText.\n\n</details>\n')


def test_an_answer_stays_in() -> None:
    assert "data-search-exclude" not in html('??? self-check "How many?"\n    Fourteen.\n')
