"""A reader's own run beside its prediction: a lab's result file or a start-up log, dropped or pasted."""

from __future__ import annotations

from snippets.catalog.configs import config_entries
from snippets.catalog.gpus import gpus
from snippets.draw.figure import Layout
from snippets.widgets.checking.answer import readouts
from snippets.widgets.checking.asked import AUTO, MOST_BYTES, NOT_IN_LINK, asked, check_text, in_link
from snippets.widgets.checking.example import TEXT
from snippets.widgets.checking.figure import figure_of
from snippets.widgets.checking.sections import (
    DOWNLOADS,
    answer_section,
    notes,
    read_section,
    table_section,
    take_section,
)
from snippets.widgets.declare import Choice, Group, Option, Section, Text, Values, View, Widget

WORDS = {
    "title": "Your run beside the prediction",
    "text": "Result file or start-up log",
    "placeholder": "Drop LAB.result.json or a log here,\nor paste its text.",
    "too large": "A result or the start of a log is below 2 MB; this is larger. Cut the log to the lines up to "
    "“Graph capturing finished”.",
    "help": "Read on this page; nothing is sent anywhere.",
    "model": "Predict as",
    "model auto": "the model that the text names",
    "model help": "Choose one of the same shape where the text names a folder or a model that is not listed.",
    "card": "Card",
    "card auto": "as the text says",
}
MODELS = (Option(AUTO, WORDS["model auto"]), *(Option(key, one.name) for key, one in config_entries().items()))
CARDS = (Option(AUTO, WORDS["card auto"]), *(Option(key, one.name) for key, one in gpus().items()))


def view(values: Values, layout: Layout) -> View:
    """The numbers of the first start and the bars of all."""
    found = asked(values)
    return View(readouts=readouts(found), figures=(figure_of(found, layout),), notes=notes(found))


WIDGET = Widget(
    name="check_run",
    title=WORDS["title"],
    groups=(
        Group(
            "Your run",
            (
                Text(
                    "text",
                    WORDS["text"],
                    check_text,
                    MOST_BYTES,
                    WORDS["too large"],
                    default=TEXT,
                    placeholder=WORDS["placeholder"],
                    accept=".json,.log,.txt,.out,application/json,text/plain",
                    help=WORDS["help"],
                    in_link=in_link,
                    not_in_link=NOT_IN_LINK,
                ),
                Choice("model", WORDS["model"], AUTO, MODELS, style="select", help=WORDS["model help"]),
                Choice("card", WORDS["card"], AUTO, CARDS, style="select"),
            ),
        ),
    ),
    view=view,
    sections=(
        Section("answer", answer_section, place="top"),
        Section("parts", table_section, place="side"),
        Section("read", read_section, "What was read from the text"),
        Section("take", take_section, "Take it away"),
    ),
    downloads=DOWNLOADS,
)
