"""From what the reader set to what the page shows: read the state, refuse what is wrong, keep the rest going."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_left
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from snippets.draw.figure import Layout
from snippets.units import exact_enough
from snippets.widgets.declare import (
    Check,
    Choice,
    Control,
    ControlState,
    Number,
    Section,
    Shown,
    Text,
    TextError,
    View,
    Widget,
    Word,
)

MAX_TYPED_CHARACTERS = 40
MOST_NAMED = 12  # options in a sentence
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")


def text_of(value: int | float | str | None) -> str:
    """A value as it stands in a field: no commas, no trailing zeros, nothing for None."""
    if value is None:
        return ""
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def defaults(widget: Widget) -> dict[str, str]:
    """The state a widget opens with."""
    return {name: text_of(control.default) for name, control in widget.controls.items()}


def _allowed(control: Number) -> str:
    kind = "a whole number" if control.whole else "a number"
    low, high = map(exact_enough, (control.minimum, control.maximum))
    unit = f" {control.unit}" if control.unit else ""
    empty = ", or nothing" if control.optional else ""
    return f"{kind} from {low} to {high}{unit}{empty}"


def read_number(control: Number, typed: str) -> int | float | None:
    """The number typed, thousands commas allowed. Raises ValueError with a sentence that names the allowed range."""
    text = typed.strip() if len(typed) <= MAX_TYPED_CHARACTERS else "too long"
    if not text and control.optional:
        return None
    if THOUSANDS.fullmatch(text):  # any other comma may be a decimal one, and is refused
        text = text.replace(",", "")
    refusal = ValueError(f"{control.label} takes {_allowed(control)}.")
    try:
        value = float(text)
    except ValueError:
        raise refusal from None
    if not math.isfinite(value) or not control.minimum <= value <= control.maximum:
        raise refusal
    if control.whole:
        if not value.is_integer():
            raise refusal
        return int(value)
    return value


def read_choice(control: Choice, typed: str) -> str:
    """The option chosen. Raises ValueError with a sentence that names the options, unless they are many."""
    if typed in (option.value for option in control.options):
        return typed
    if len(control.options) > MOST_NAMED:
        shown = typed if len(typed) <= MAX_TYPED_CHARACTERS else f"{typed[: MAX_TYPED_CHARACTERS - 1]}…"
        raise ValueError(f"{control.label} has no “{shown}”: choose one from the list.")
    names = ", ".join(option.label for option in control.options)
    raise ValueError(f"{control.label} is one of: {names}.")


def read_word(control: Word, typed: str) -> str:
    """The short text, trimmed. Raises ValueError with the control's own sentence."""
    text = typed.strip()
    if len(text) > MAX_TYPED_CHARACTERS:
        raise ValueError(f"{control.label} takes at most {MAX_TYPED_CHARACTERS} characters.")
    control.check(text)
    return text


def read_check(control: Check, typed: str) -> str:
    """ "yes" or "no". Raises ValueError for anything else."""
    if typed in ("yes", "no"):
        return typed
    raise ValueError(f"{control.label} is one of: yes, no.")


def read_text(control: Text, typed: str) -> str:
    """The text as it is. Raises TextError with the place in it, or ValueError where it is too large."""
    if len(typed.encode(errors="replace")) > control.most_bytes:
        raise ValueError(control.too_large)
    control.check(typed)
    return typed


def _read(control: Control, typed: str) -> int | float | str | None:
    match control:
        case Number():
            return read_number(control, typed)
        case Choice():
            return read_choice(control, typed)
        case Word():
            return read_word(control, typed)
        case Check():
            return read_check(control, typed)
        case Text():
            return read_text(control, typed)


class PlacedError(str):
    """A sentence about a text, and the place in it that the sentence is about."""

    def __new__(cls, message: str, line: int, column: int) -> PlacedError:
        made = super().__new__(cls, message)
        made.line, made.column = line, column
        return made

    line: int
    column: int


def read_state(
    widget: Widget, typed: Mapping[str, str], kept: Mapping[str, str]
) -> tuple[dict[str, int | float | str | None], dict[str, str], dict[str, str]]:
    """Values to show, errors by control, and the accepted state as text.

    A control whose text is wrong keeps the value it had (`kept`), or its default.
    """
    errors: dict[str, str] = {}
    accepted = defaults(widget)
    values = {name: _read(control, accepted[name]) for name, control in widget.controls.items()}
    before = dict(values)
    for name, control in widget.controls.items():
        if name in kept:
            with suppress(ValueError):  # a damaged memory is no reason to trouble the reader
                before[name] = _read(control, kept[name])
        values[name] = before[name]
        if name in typed:
            try:
                values[name] = _read(control, typed[name])
            except TextError as error:
                errors[name] = PlacedError(str(error), error.line, error.column)
            except ValueError as error:
                errors[name] = str(error)
    wrong = widget.check(values)
    changed = {name for name in wrong if values[name] != before[name]}  # the reader looks there, not at the others
    for name, message in wrong.items():
        if name in changed or not changed:
            errors.setdefault(name, message)
        values[name] = before[name]
    if widget.check(values):  # what was kept does not fit what was typed either: show what stood before
        values = before if not widget.check(before) else {n: c.default for n, c in widget.controls.items()}
    return values, errors, {name: text_of(value) for name, value in values.items()}


def _position(stops: tuple[int | float, ...] | None, value: int | float | str | None) -> int | None:
    if not stops or not isinstance(value, int | float):
        return None
    right = min(bisect_left(stops, value), len(stops) - 1)
    left = max(right - 1, 0)
    return left if value - stops[left] < stops[right] - value else right


def _look_of(control: Control, state: ControlState, value: int | float | str | None) -> ControlState:
    """A control's look with nothing left open: its own stops and options where the view names none."""
    if isinstance(control, Choice):
        return replace(state, options=state.options or control.options)
    if isinstance(control, Text):
        link = control.in_link(str(value))
        return replace(state, link=control.not_in_link if link is None else link)
    if isinstance(control, Word):
        stops_of_words = state.stops or control.stops or None
        at = stops_of_words.index(value) if stops_of_words and value in stops_of_words else state.position
        return replace(state, stops=stops_of_words, position=at or 0 if stops_of_words else None)
    if not isinstance(control, Number):
        return state
    stops = tuple(stop for stop in state.stops or control.stops if not isinstance(stop, str)) or None
    return replace(state, stops=stops, position=_position(stops, state.if_empty if value is None else value))


@dataclass(frozen=True)
class Answer:
    """What one state shows: the view, what is wrong at which control, and the state the view was made for."""

    view: View
    errors: Mapping[str, str]
    accepted: Mapping[str, str]
    sections: Mapping[str, Shown] = field(default_factory=dict)  # those that are open or have no title


def _is_seen(section: Section, seen: Collection[str]) -> bool:
    return not section.title or section.name in seen


def look(
    widget: Widget, typed: Mapping[str, str], kept: Mapping[str, str], layout: Layout, seen: Collection[str] = ()
) -> Answer:
    """The answer to one change, with every control's look filled in, and the sections that are seen."""
    values, errors, accepted = read_state(widget, typed, kept)
    view = widget.view(values, layout)
    controls = {
        name: _look_of(control, view.controls.get(name, ControlState()), values[name])
        for name, control in widget.controls.items()
    }
    # What does not apply now cannot be mended by the reader, so it is no reason to refuse the rest.
    errors = {name: message for name, message in errors.items() if not controls[name].hidden}
    sections = {one.name: one.show(values, layout) for one in widget.sections if _is_seen(one, seen)}
    return Answer(replace(view, controls=controls), errors, accepted, sections)


def _short_look(control: Control, state: ControlState) -> ControlState:
    """A look without the options that the page has already: None stands for all of them."""
    return replace(state, options=None) if isinstance(control, Choice) and state.options is control.options else state


def plain(value: Any) -> Any:
    """Dataclasses as their fields, for JSON: shallow, so that what is large is not copied first."""
    return vars(value)


def run(
    widget: Widget, typed: Mapping[str, str], kept: Mapping[str, str], layout: Layout, seen: Collection[str] = ()
) -> dict[str, Any]:
    """The same answer as plain data, ready for `to_json`."""
    answer = look(widget, typed, kept, layout, seen)
    places = {
        name: [error.line, error.column]
        for name, error in answer.errors.items()
        if isinstance(error, PlacedError) and error.line
    }
    controls = {name: _short_look(widget.controls[name], state) for name, state in answer.view.controls.items()}
    extra = {"controls": controls, "errors": dict(answer.errors), "places": places, "accepted": dict(answer.accepted)}
    return vars(answer.view) | extra | {"sections": dict(answer.sections)}


def to_json(answer: Mapping[str, object]) -> str:
    """JSON with a fixed order and form, so that two Pythons print the same bytes."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=plain)
