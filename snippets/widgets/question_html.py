"""A question as HTML: a field to predict in, and the answer in a plain disclosure, open to all without scripts."""

from __future__ import annotations

from snippets.widgets.html import BUTTON_WORDS, WORDS
from snippets.widgets.markup import tag, text
from snippets.widgets.question import Question


def question_html(question: Question, reveal_html: str) -> str:
    """The question of that name with its answer folded below. `reveal_html` is HTML already."""
    id_ = f"question-{question.name}"
    field = tag(
        "input",
        type="text",
        inputmode="numeric" if question.whole and question.exact is None else "decimal",
        id=id_,
        size="9",
        autocomplete="off",
        spellcheck="false",
        aria_describedby=f"{id_}-prompt {id_}-verdict",
        disabled=True,
    )
    words = {f"data_{key}": WORDS[key] for key in BUTTON_WORDS}
    form = tag(
        "form",
        tag("label", "Your estimate", for_=id_),
        tag("span", field, tag("span", text(question.unit), class_="control-unit"), class_="control-field"),
        tag("button", "Check", type="submit", disabled=True),
    )
    noscript = tag("noscript", tag("p", "Checking an estimate needs JavaScript; the answer does not."))
    ask = tag(
        "predict-question",
        tag("p", text(question.prompt), class_="question-prompt", id=f"{id_}-prompt"),
        form,
        noscript,
        tag("p", role="status", class_="question-verdict", id=f"{id_}-verdict", **words),
        name=question.name,
    )
    reveal = tag("details", tag("summary", "Show the answer"), reveal_html, class_="question-answer")
    return tag("div", ask, reveal, class_="question")
