"""What a widget is made of. Nothing here knows HTML or the browser.

A state is what the reader set, as text: `{control name: text as typed}`. `run.py` reads it into values,
asks the widget for its view, and reports what is wrong at the control where it is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from snippets.draw.figure import Figure, Layout

Tone = Literal["", "weights", "kv", "activations", "graphs", "limit", "ok"]
Values = Mapping[str, int | float | str | None]


@dataclass(frozen=True)
class Option:
    """One value of a choice and what the reader sees."""

    value: str
    label: str


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


Control = Number | Choice


@dataclass(frozen=True)
class Group:
    """Controls that belong together, in the order of the story. A folded group opens with a click."""

    label: str
    controls: tuple[Control, ...]
    folded: bool = False


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
    stops: tuple[int | float, ...] | None = None  # other slider stops for a Number (the divisors of 64)
    hidden: bool = False  # does not apply now (the MLA rank of a GQA model)
    if_empty: int | float | None = None  # what an empty field of an optional Number stands for; shown in it
    position: int | None = None  # set by run.py: index of the stop nearest to the value


@dataclass(frozen=True)
class View:
    """Everything a widget shows for one state. `name` order and number never change for a widget."""

    readouts: tuple[Readout, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    controls: Mapping[str, ControlState] = field(default_factory=dict)
    actions: Mapping[str, Mapping[str, str] | None] = field(default_factory=dict)  # None: nothing left to do


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
    source: str = ""  # id of the element with the widget's Python, for "Show the Python"

    @property
    def controls(self) -> dict[str, Control]:
        """All controls by name, in order."""
        return {control.name: control for group in self.groups for control in group.controls}
