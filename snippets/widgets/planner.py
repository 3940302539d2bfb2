"""The planner: how many requests fit, how long a context, why vLLM refuses. The arithmetic is snippets/planner's."""

from __future__ import annotations

from snippets.draw.figure import Layout
from snippets.widgets.declare import Section, Values, View, Widget
from snippets.widgets.planning.answer import readouts
from snippets.widgets.planning.card import card_of
from snippets.widgets.planning.countable import uncountable
from snippets.widgets.planning.groups import GROUPS
from snippets.widgets.planning.looks import looks
from snippets.widgets.planning.notes import notes
from snippets.widgets.planning.presets import preset_bar
from snippets.widgets.planning.question import ASKED, answered
from snippets.widgets.planning.sections.growth import growth_section
from snippets.widgets.planning.sections.layouts import layouts_section
from snippets.widgets.planning.sections.log import log_section
from snippets.widgets.planning.sections.numbers import numbers_section
from snippets.widgets.planning.sections.pool import pool_section
from snippets.widgets.planning.sections.size import size_section
from snippets.widgets.planning.sections.speed import speed_section
from snippets.widgets.planning.sections.take import DOWNLOADS, take_section
from snippets.widgets.planning.sections.top import answer_section
from snippets.widgets.planning.sections.traffic import traffic_section
from snippets.widgets.run import text_of

TITLE = "vLLM 0.26.0's own arithmetic, for any model"
SECTIONS = (
    ("traffic", "How many really run", traffic_section),
    ("growth", "One request as it grows", growth_section),
    ("layouts", "How many cards, and how to use them", layouts_section),
    ("speed", "Speed and cost: bounds", speed_section),
    ("size", "The right size", size_section),
    ("pool", "Layers, groups and blocks", pool_section),
    ("numbers", "Every number, opened", numbers_section),
    ("take", "Take it away", take_section),
)
DEFAULTS = {control.name: text_of(control.default) for group in GROUPS for control in group.controls}


def view(values: Values, layout: Layout) -> View:
    """The numbers, the card, and how the controls look. The rest are sections."""
    found = answered(values)
    return View(
        readouts=readouts(found, values),
        figures=(card_of(found, layout),),
        notes=notes(found.plan.notes) if found else (),
        controls=looks(values),
    )


WIDGET = Widget(
    name="planner",
    title=TITLE,
    groups=GROUPS,
    view=view,
    check=uncountable,
    preset_bars=(preset_bar(DEFAULTS, ASKED),),
    sections=(
        Section("answer", answer_section(DEFAULTS), place="top"),
        Section("log", log_section, place="side"),
        *(Section(name, show, title) for name, title, show in SECTIONS),
    ),
    downloads=DOWNLOADS,
    source="planner-python",
)
