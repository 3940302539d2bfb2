"""What a widget is made of. Nothing here knows HTML or the browser.

A state is what the reader set, as text: `{control name: text as typed}`. `run.py` reads it into values,
asks the widget for its view, and reports what is wrong at the control where it is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from snippets.draw.figure import Figure, Layout
from snippets.widgets.parts.nodes import Node

Tone = Literal["", "weights", "kv", "activations", "graphs", "limit", "ok"]
Values = Mapping[str, int | float | str | None]


@dataclass(frozen=True)
class Option:
    """One value of a choice and what the reader sees."""

    value: str
    label: str
    group: str = ""  # a heading in the list of a select


@dataclass(frozen=True)
class Number:
    """A number: a text field, and a slider over `stops` (every whole number of the range if none are given)."""

    name: str
    label: str
    default: int | float | None  # None only when optional
    minimum: int | float
    maximum: int | float
    unit: str = ""
    whole: bool = True
    optional: bool = False  # an empty field is allowed and reads as None
    slider: bool = True
    stops: tuple[int | float, ...] = ()
    help: str = ""
    momentary: bool = False  # opens anew when another control is set: it belongs to the setting before


@dataclass(frozen=True)
class Choice:
    """One of several values. `run.py` refuses any other; a view may narrow the options."""

    name: str
    label: str
    default: str
    options: tuple[Option, ...]
    style: Literal["segmented", "select"] = "segmented"
    help: str = ""


class TextError(ValueError):
    """Text that cannot be read, and where: line and column count from 1, 0 when it has no place."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def _any_text(typed: str) -> None:
    """Refuses nothing."""


@dataclass(frozen=True)
class Word:
    """A short text in a field: a number with a suffix, a word that stands for one. `check` raises ValueError.

    With `stops` it has a slider over these texts; the view says where it stands (ControlState.position).
    """

    name: str
    label: str
    default: str = ""
    check: Callable[[str], object] = _any_text
    stops: tuple[str, ...] = ()
    unit: str = ""
    help: str = ""


@dataclass(frozen=True)
class Check:
    """Yes or no: a box to tick. Its value is "yes" or "no"."""

    name: str
    label: str
    default: str = "no"
    help: str = ""


@dataclass(frozen=True)
class Text:
    """Text of many lines, typed, pasted, dropped as a file or picked: a config.json. `check` raises TextError."""

    name: str
    label: str
    check: Callable[[str], object]
    most_bytes: int
    too_large: str  # the sentence for a file or a text above it
    default: str = ""
    placeholder: str = ""
    pick: str = "Choose a file"
    accept: str = ".json,application/json"
    help: str = ""
    # What stands for the text in a link, short; None when it is too long for one.
    in_link: Callable[[str], str | None] = lambda typed: typed
    not_in_link: str = "not-in-link"  # what a link says instead; `check` must refuse what begins so with a sentence
    most_in_link: int = 2000  # characters, as encoded, of a text that is refused or not yet read
    chosen_by: Mapping[str, str] | None = None  # what brings it into sight: a file dropped on the widget sets these


Control = Number | Choice | Word | Check | Text


@dataclass(frozen=True)
class Group:
    """Controls that belong together, in the order of the story. A folded group opens with a click.

    One that names a section stands inside it, beside what it changes.
    """

    label: str
    controls: tuple[Control, ...]
    folded: bool = False
    section: str = ""


@dataclass(frozen=True)
class Preset:
    """A named set of control values, as text."""

    name: str
    label: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class PresetBar:
    """A row of presets: models, cards."""

    label: str
    presets: tuple[Preset, ...]


@dataclass(frozen=True)
class Action:
    """A button that changes the state as the view says (Step); a repeating one (Play) goes on until it says None."""

    name: str
    label: str
    does: str  # the name of the entry in View.actions
    repeats: bool = False
    restart: str = ""  # of a repeating one: the entry that a press takes when nothing is left


@dataclass(frozen=True)
class Readout:
    """One computed number, large."""

    name: str
    label: str
    value: str
    unit: str = ""
    tone: Tone = ""
    detail: str = ""


@dataclass(frozen=True)
class ControlState:
    """How a control looks for this state, where that depends on the state."""

    shown: str = ""  # beside the label: "8 of 64"; empty: the value and its unit
    options: tuple[Option, ...] | None = None  # a narrower set for a Choice
    stops: tuple[int | float | str, ...] | None = None  # other slider stops (the divisors of 64)
    hidden: bool = False  # does not apply now (the MLA rank of a GQA model)
    if_empty: int | float | str | None = None  # what an empty field stands for; shown in it
    link: str | None = None  # set by run.py for a Text: what stands for it in a link
    position: int | None = None  # index of the stop nearest to the value; set by run.py for a Number


@dataclass(frozen=True)
class View:
    """Everything a widget shows for one state. `name` order and number never change for a widget."""

    readouts: tuple[Readout, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    controls: Mapping[str, ControlState] = field(default_factory=dict)
    actions: Mapping[str, Mapping[str, str] | None] = field(default_factory=dict)  # None: nothing left to do


@dataclass(frozen=True)
class Shown:
    """What a section shows. The number and the names of its figures never change for a widget."""

    before: tuple[Node, ...] = ()
    figures: tuple[Figure, ...] = ()
    after: tuple[Node, ...] = ()
    summary: str = ""  # beside the title of a section that opens, while it is open or has been


@dataclass(frozen=True)
class Section:
    """A part of the results with words, tables and code. One with a title opens, and is computed while it is open."""

    name: str
    show: Callable[[Values, Layout], Shown]
    title: str = ""  # empty: always shown
    place: Literal["top", "side", "below"] = "below"  # above the readouts, under the drawings, under everything
    open: bool = False  # how the page opens


@dataclass(frozen=True)
class Download:
    """A file that the page saves when asked to. `make` gives its name and its text for what is set."""

    name: str
    mime: str
    make: Callable[[Values], tuple[str, str]]


@dataclass(frozen=True)
class Widget:
    """A widget: what it is called, what can be set, and what it shows."""

    name: str  # also its key in the URL fragment
    title: str
    groups: tuple[Group, ...]
    view: Callable[[Values, Layout], View]
    check: Callable[[Values], Mapping[str, str]] = lambda values: {}  # errors across controls, by control name
    preset_bars: tuple[PresetBar, ...] = ()
    actions: tuple[Action, ...] = ()
    sections: tuple[Section, ...] = ()
    downloads: tuple[Download, ...] = ()
    source: str = ""  # id of the element with the widget's Python, for "Show the Python"

    @cached_property
    def controls(self) -> dict[str, Control]:
        """All controls by name, in order."""
        return {control.name: control for group in self.groups for control in group.controls}
