"""The parts of the answer: the verdict, the tables, what was read, and what can be taken along."""

from __future__ import annotations

from snippets.draw.figure import Layout
from snippets.draw.run_check.standalone import standalone
from snippets.run_check.compare import Comparison
from snippets.widgets.checking.answer import WORDS as ANSWER_WORDS
from snippets.widgets.checking.answer import assumed, memory_sentence, verdict
from snippets.widgets.checking.asked import WORDS as ASKED_WORDS
from snippets.widgets.checking.asked import Asked, asked
from snippets.widgets.checking.figure import figure_of
from snippets.widgets.checking.tables import HEAD, tables, to_markdown
from snippets.widgets.declare import Download, Shown, Values
from snippets.widgets.parts.nodes import Node, code_block, disclosure, el, table, words

MOST_OPEN = 1  # starts whose tables stand open
MOST_LINES = 40
WORDS = {
    "nothing": "Nothing is compared yet: see above.",
    "unnamed": "the start",
    "lines": "Lines that were read, with their numbers",
    "line": "line",
    "text": "text",
    "settings": "Settings that were read",
    "setting": "setting",
    "value": "value",
    "backend": "attention backend",
    "no lines": "No line of a log was read.",
    "more lines": "{n} more lines were read.",
    "intro": "Made on this page. Nothing was sent anywhere.",
    "svg": "Save as image (SVG)",
    "markdown": "Save as Markdown",
    "copied": "As Markdown",
    "copy": "Copy",
    "caption": "{title}. {assumed} Read and drawn in the browser.",
    "no image": "nothing-to-draw.svg",
    "refusal": "vLLM says",
    "skipped": "{name} was skipped: {reason}",
    "none": "No run was read.",
}


def answer_section(values: Values, layout: Layout) -> Shown:
    """The sentence that answers, and why a part is missing."""
    found = asked(values)
    kind, said = verdict(found)
    inside: list[Node] = [el("strong", said)]
    if found is not None:
        more = " ".join(part for part in (memory_sentence(found), assumed(found)) if part)
        title = ANSWER_WORDS["what"].format(title=found.dropped.title)
        inside += [" ", el("span", f"{more} {title}".strip(), class_="verdict-range")]
    parts: list[Node] = [el("p", *inside, class_=f"verdict verdict-{kind}", data_said=True, tabindex="-1")]
    for one in found.comparisons if found else ():
        run = one.run
        if run.refusal:
            words_ = el("p", run.refusal, class_="refusal-words")
            parts.append(el("div", words(WORDS["refusal"], "refusal-who"), words_, class_="refusal"))
        if run.skipped:
            parts.append(words(WORDS["skipped"].format(name=run.name, reason=run.skipped)))
    return Shown(tuple(parts))


def _tables(one: Comparison, index: int) -> list[Node]:
    return [
        table(caption, HEAD, rows, (1, 2), name=f"check_run-{index}-{at}")
        for at, (caption, rows) in enumerate(tables(one))
    ]


def table_section(values: Values, layout: Layout) -> Shown:
    """Every start, part by part."""
    found = asked(values)
    shown = [one for one in found.comparisons if tables(one)] if found else []
    if not shown:
        return Shown((words(WORDS["nothing"]),))
    if len(shown) <= MOST_OPEN:
        return Shown(tuple(_tables(shown[0], 0)))
    parts: list[Node] = []
    for index, one in enumerate(shown):
        name = one.run.name or WORDS["unnamed"]
        parts += [el("p", el("strong", name)), *_tables(one, index)]
    return Shown(tuple(parts))


def read_section(values: Values, layout: Layout) -> Shown:
    """What the text said, so that a wrong reading is seen."""
    found = asked(values)
    if found is None:
        return Shown((words(WORDS["none"]),))
    parts: list[Node] = []
    for index, one in enumerate(found.comparisons):
        run = one.run
        settings = [(name, str(value)) for name, value in run.settings.items()]
        settings += [(WORDS["backend"], run.attention_backend)] if run.attention_backend else []
        inside: list[Node] = []
        if settings:
            head = (WORDS["setting"], WORDS["value"])
            inside.append(table(WORDS["settings"], head, settings, name=f"check_run-settings-{index}"))
        rows = [(str(line.number), line.text) for line in run.lines[:MOST_LINES]]
        if rows:
            head = (WORDS["line"], WORDS["text"])
            inside.append(table(WORDS["lines"], head, rows, name=f"check_run-lines-{index}"))
        else:
            inside.append(words(WORDS["no lines"]))
        if len(run.lines) > MOST_LINES:
            inside.append(words(WORDS["more lines"].format(n=len(run.lines) - MOST_LINES)))
        parts += inside if len(found.comparisons) == 1 else [disclosure((run.name or WORDS["unnamed"],), *inside)]
    return Shown(tuple(parts))


def take_section(values: Values, layout: Layout) -> Shown:
    """Buttons that save, and the Markdown to be copied."""
    found = asked(values)
    if found is None:
        return Shown((words(WORDS["nothing"]),))
    names = [one.name for one in DOWNLOADS if one.name != "svg" or figure_of(found, "wide").svg]
    buttons = (el("button", WORDS[name], type="button", data_file=name) for name in names)
    code = code_block(WORDS["copied"], to_markdown(found), WORDS["copy"], "check_run-markdown")
    return Shown((words(WORDS["intro"]), el("div", *buttons, class_="button-row"), code))


def notes(found: Asked | None) -> tuple[str, ...]:
    """What was left out and why, each once."""
    if found is None:
        return ()
    said = [*found.dropped.notes, *([ASKED_WORDS["example"]] if found.is_example else [])]
    for one in found.comparisons:
        said += [*one.run.notes, *one.prediction.notes]
    return tuple(dict.fromkeys(said))


def _svg(values: Values) -> tuple[str, str]:
    found = asked(values)
    figure = figure_of(found, "wide")
    if found is None or not figure.svg:
        return WORDS["no image"], standalone(
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 1"></svg>', "", ""
        )
    caption = WORDS["caption"].format(title=found.dropped.title, assumed=assumed(found))
    return "run-beside-prediction.svg", standalone(figure.svg, figure.finding, caption)


def _markdown(values: Values) -> tuple[str, str]:
    found = asked(values)
    return "run-beside-prediction.md", WORDS["nothing"] if found is None else to_markdown(found)


DOWNLOADS = (Download("svg", "image/svg+xml", _svg), Download("markdown", "text/markdown", _markdown))
