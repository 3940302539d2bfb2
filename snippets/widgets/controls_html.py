"""Controls as HTML: a label, what is typed, a slider beside it, and a place for the error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import groupby

from snippets.widgets.declare import Check, Choice, Control, ControlState, Group, Number, Option, Text, View, Word
from snippets.widgets.markup import data, tag, text
from snippets.widgets.run import text_of

GO_TO_ERROR = "Go to the place"
UNDO_FILE = "Bring back the text before the file"
IN_TAB = "Too long for a link: kept in this tab only, a reload included."
NOT_IN_TAB = "Too long for a link, and for what a tab keeps: a reload loses it."


def slider_step(control: Number) -> int | float:
    """Step of a slider without stops: 1, or the power of ten that gives a range at least a hundred steps."""
    if control.whole:
        return 1
    return 10.0 ** math.floor(math.log10((control.maximum - control.minimum) / 100))


def value_text(control: Number | Word, typed: str, state: ControlState) -> str:
    """What the slider is at, in words: what the view shows beside the label, or the value and its unit."""
    return state.shown or f"{typed} {control.unit}".strip()


def _slider(control: Number | Word, id_: str, typed: str, state: ControlState) -> str:
    stops = state.stops
    if stops:
        ends: dict[str, int | float] = {"min": 0, "max": len(stops) - 1, "step": 1}
        value: str | int | None = state.position
    elif isinstance(control, Word):
        return ""
    else:
        ends = {"min": control.minimum, "max": control.maximum, "step": slider_step(control)}
        value = typed
    return tag(
        "input",
        type="range",
        id=f"{id_}-slider",
        **{key: text_of(end) for key, end in ends.items()},
        value=value,
        data_stops=data([text_of(stop) for stop in stops]) if stops else None,
        aria_labelledby=f"{id_}-label",
        aria_valuetext=value_text(control, typed, state),
        autocomplete="off",
        disabled=True,
    )


def _around(control: Control, id_: str) -> tuple[str, str, str]:
    """Help, the place for the error, and the ids that describe the control."""
    help_ = tag("p", text(control.help), class_="control-help", id=f"{id_}-help") if control.help else ""
    error = tag("p", class_="control-error", id=f"{id_}-error", aria_live="polite")
    described = f"{id_}-help {id_}-error" if control.help else f"{id_}-error"
    return help_, error, described


def _named(control: Control, state: ControlState) -> dict[str, str | bool]:
    """What every control's element carries."""
    return {"class_": "control", "data_control": control.name, "data_label": control.label, "hidden": state.hidden}


def number_html(control: Number, id_: str, typed: str, state: ControlState) -> str:
    """A text field, so that wrong text is kept, and a slider over the same values."""
    help_, error, described = _around(control, id_)
    field = tag(
        "input",
        type="text",
        inputmode="numeric" if control.whole else "decimal",
        id=id_,
        value=typed,
        placeholder=text_of(state.if_empty) or None,
        size=max(4, min(10, len(text_of(control.maximum)) + 1)),
        autocomplete="off",
        spellcheck="false",
        aria_describedby=described,
        disabled=True,
    )
    label = tag("label", text(control.label), for_=id_, id=f"{id_}-label")
    shown = tag("span", text(state.shown), class_="control-shown")
    unit = tag("span", text(control.unit), class_="control-unit")
    row = tag("div", label, shown, tag("span", field, unit, class_="control-field"), class_="control-row")
    return tag(
        "div",
        row,
        _slider(control, id_, typed, state) if control.slider else "",
        help_,
        error,
        data_kind="number",
        data_unit=control.unit,
        data_momentary=control.momentary,
        **_named(control, state),
    )


def word_html(control: Word, id_: str, typed: str, state: ControlState) -> str:
    """A short text field, and a slider over its usual texts."""
    help_, error, described = _around(control, id_)
    field = tag(
        "input",
        type="text",
        id=id_,
        value=typed,
        placeholder=text_of(state.if_empty) or None,
        size=8,
        autocomplete="off",
        autocapitalize="off",
        spellcheck="false",
        aria_describedby=described,
        disabled=True,
    )
    label = tag("label", text(control.label), for_=id_, id=f"{id_}-label")
    shown = tag("span", text(state.shown), class_="control-shown")
    unit = tag("span", text(control.unit), class_="control-unit")
    row = tag("div", label, shown, tag("span", field, unit, class_="control-field"), class_="control-row")
    named = {"data_kind": "word", "data_unit": control.unit} | _named(control, state)
    return tag("div", row, _slider(control, id_, typed, state), help_, error, **named)


def check_html(control: Check, id_: str, typed: str, state: ControlState) -> str:
    """A box to tick."""
    help_, error, described = _around(control, id_)
    box = tag(
        "input",
        type="checkbox",
        id=id_,
        checked=typed == "yes",
        autocomplete="off",
        aria_describedby=described,
        disabled=True,
    )
    label = tag("label", box, tag("span", text(control.label)), for_=id_, id=f"{id_}-label", class_="control-check")
    shown = tag("span", text(state.shown), class_="control-shown")
    row = tag("div", label, shown, class_="control-row")
    return tag("div", row, help_, error, data_kind="check", **_named(control, state))


def text_html(control: Text, id_: str, typed: str, state: ControlState) -> str:
    """Many lines, with a file picker, and a button that goes to the place of an error."""
    help_, error, described = _around(control, id_)
    field = tag(
        "textarea",
        text(typed),
        id=id_,
        rows=6,
        placeholder=control.placeholder or None,
        wrap="off",
        autocomplete="off",
        autocapitalize="off",
        spellcheck="false",
        aria_describedby=described,
        disabled=True,
    )
    picker = tag("input", type="file", accept=control.accept, class_="control-file", tabindex=-1, aria_hidden="true")
    pick = tag("button", text(control.pick), type="button", data_pick=True, disabled=True)
    there = tag("button", text(GO_TO_ERROR), type="button", data_there=True, hidden=True)
    back = tag("button", text(UNDO_FILE), type="button", data_back=True, hidden=True)
    kept = tag("p", class_="control-kept", aria_live="polite", data_in_tab=IN_TAB, data_not_in_tab=NOT_IN_TAB)
    label = tag("label", text(control.label), for_=id_, id=f"{id_}-label")
    shown = tag("span", text(state.shown), class_="control-shown")
    row = tag("div", label, shown, pick, picker, class_="control-row")
    limits: dict[str, str | int | None] = {
        "data_most": control.most_bytes,
        "data_too_large": control.too_large,
        "data_most_in_link": control.most_in_link,
        "data_not_in_link": control.not_in_link,
        "data_chosen_by": data(control.chosen_by) if control.chosen_by else None,
    }
    parts = (row, field, help_, error, there, back, kept)
    return tag("div", *parts, data_kind="text", **limits, **_named(control, state))


def choice_html(control: Choice, id_: str, typed: str, state: ControlState) -> str:
    """Radios as one bar of segments, or a select. Values that do not apply now are hidden."""
    help_, error, described = _around(control, id_)
    labels = {option.value: option.label for option in state.options or ()}
    off = {option.value for option in control.options} - set(labels)
    shown = tag("span", text(state.shown), class_="control-shown")
    attributes = {"data_kind": "choice"} | _named(control, state)
    if control.style == "select":

        def option(one: Option) -> str:
            is_off = one.value in off
            words = text(labels.get(one.value, one.label))
            is_set = one.value == typed
            return tag("option", words, value=one.value, selected=is_set, hidden=is_off, disabled=is_off)

        options = ""
        for heading, members in groupby(control.options, key=lambda one: one.group):
            inside = "".join(map(option, members))
            options += tag("optgroup", inside, label=heading) if heading else inside
        label = tag("label", text(control.label), for_=id_, id=f"{id_}-label")
        select = tag("select", options, id=id_, aria_describedby=described, autocomplete="off", disabled=True)
        return tag("div", tag("div", label, shown, class_="control-row"), select, help_, error, **attributes)
    radios = "".join(
        tag(
            "label",
            tag(
                "input",
                type="radio",
                name=id_,
                value=one.value,
                checked=one.value == typed,
                autocomplete="off",
                disabled=True,
            ),
            tag("span", text(labels.get(one.value, one.label))),
            hidden=one.value in off,
        )
        for one in control.options
    )
    legend = tag("legend", text(control.label), shown)
    bar = tag("div", radios, class_="segments")
    return tag("fieldset", legend, bar, help_, error, aria_describedby=described, **attributes)


def control_html(control: Control, id_: str, typed: str, state: ControlState) -> str:
    """Any control in one state."""
    match control:
        case Number():
            return number_html(control, id_, typed, state)
        case Choice():
            return choice_html(control, id_, typed, state)
        case Word():
            return word_html(control, id_, typed, state)
        case Check():
            return check_html(control, id_, typed, state)
        case Text():
            return text_html(control, id_, typed, state)


def group_html(widget: str, group: Group, typed: Mapping[str, str], view: View) -> str:
    """Controls that belong together; a folded group is a disclosure."""
    controls = []
    for control in group.controls:
        state = view.controls[control.name]
        controls.append(control_html(control, f"{widget}-{control.name}", typed[control.name], state))
    if group.folded:
        inner = tag("div", *controls, role="group", aria_label=group.label)
        return tag("details", tag("summary", text(group.label)), inner, class_="controls-group")
    return tag("fieldset", tag("legend", text(group.label)), *controls, class_="controls-group")
