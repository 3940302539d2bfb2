"""A widget as HTML in one state: complete without scripts, and what `live/widget.mjs` then brings to life.

A page shows a widget with an exec block (`html="1"`) that prints `widget_html(WIDGET)`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from urllib.parse import quote

from snippets.draw.figure import LAYOUTS, Figure, Layout
from snippets.draw.html import figure_html
from snippets.widgets.controls_html import group_html
from snippets.widgets.declare import Action, PresetBar, Readout, Section, View, Widget
from snippets.widgets.markup import data, tag, text
from snippets.widgets.parts.nodes import to_html
from snippets.widgets.run import Answer, defaults, look

WORDS = {
    "idle": "Ready when you are",
    "starting": "Starting Python…",
    "ready": "Live",
    "computing": "Computing…",
    "failed": "Python could not start: {reason}. The page still shows the default.",
    "unreachable": "its files did not load",
    "slow": "Python is slow to load: the network is slow or stands still. The page shows the default until it is here.",
    "stopped": "Python stopped answering. What is shown is from before; the next try starts it again.",
    "broken": "Python stopped at this setting: {reason}. The numbers shown are from before it.",
    "refused": "Results are for {settings}, the last setting that works",
    "unknown": "No results: the link names something that is not in a list",
    "empty": "left empty",
    "copied": "Link copied",
    "uncopied": "The link is in the address bar",
    "copied_partly": "Link copied, without {missing}: too long for a link",
    "uncopied_partly": "The link is in the address bar, without {missing}: too long for a link",
    "reset": "All is as the page opens. Undo reset brings back what was set.",
    "undone": "What was set is back",
    "code": "Copied",
    "uncoded": "Could not copy; the text is marked",
    "saved": "Saved {file}",
}
IN_VIEW = 3  # readouts that a phone has in one row
BUTTON_WORDS = ("starting", "slow", "failed", "unreachable", "stopped", "broken")  # beside what asks at a press
NO_SCRIPT = "The controls need JavaScript. The numbers and drawings show the state they open in."
_SAFE = "-_.!~*'()"  # what encodeURIComponent leaves as it is


def _answers(widget: Widget, state: Mapping[str, str] | None) -> tuple[dict[str, str], dict[Layout, Answer]]:
    """The full state and the answer for both widths. Raises ValueError for a state that is wrong anywhere."""
    unknown = set(state or {}) - set(widget.controls)
    if unknown:
        raise ValueError(f"widget {widget.name} has no control {sorted(unknown)[0]!r}")
    typed = defaults(widget) | dict(state or {})
    every = [section.name for section in widget.sections]
    answers = {layout: look(widget, typed, {}, layout, every) for layout in LAYOUTS}
    for answer in answers.values():
        for name, message in answer.errors.items():
            raise ValueError(f"widget {widget.name}, control {name} = {typed[name]!r}: {message}")
    wide, narrow = (_words(answers[layout]) for layout in LAYOUTS)
    if wide != narrow:
        raise ValueError(f"widget {widget.name}: the widths differ in more than the drawings")
    return typed, answers


def _words(answer: Answer) -> tuple[object, ...]:
    """What an answer says beside its drawings: the same for both widths."""
    view, sections = answer.view, answer.sections
    said = {name: (shown.before, shown.after, shown.summary) for name, shown in sections.items()}
    return view.readouts, view.notes, view.controls, view.actions, said


def presets_html(bar: PresetBar, state: Mapping[str, str]) -> str:
    """A row of presets; the one that is set is pressed."""
    buttons = [
        tag(
            "button",
            text(preset.label),
            type="button",
            data_values=data(preset.values),
            aria_pressed="true" if preset.values.items() <= state.items() else "false",
            disabled=True,
        )
        for preset in bar.presets
    ]
    label = tag("span", text(bar.label), class_="presets-label", aria_hidden="true")
    row = tag("div", *buttons, class_="presets-row")
    return tag("div", label, row, class_="presets", role="group", aria_label=bar.label)


def readout_html(readout: Readout) -> str:
    """One number. Empty parts are there too, so that the browser only fills in text."""
    value = tag("span", text(readout.value), class_="value") + " " + tag("span", text(readout.unit), class_="unit")
    return tag(
        "div",
        tag("dt", text(readout.label)),
        tag("dd", value),
        tag("dd", text(readout.detail), class_="detail"),
        class_="readout",
        data_readout=readout.name,
        data_tone=readout.tone,
    )


def _readouts_html(readouts: Sequence[Readout]) -> str:
    """The numbers, the first few apart: on a phone they stay in view and the others scroll away."""
    parts = (("readouts-first", readouts[:IN_VIEW]), ("readouts-rest", readouts[IN_VIEW:]))
    lists = [tag("dl", *map(readout_html, part), class_=name) for name, part in parts if part]
    return tag("div", *lists, class_="readouts")


def action_html(action: Action, view: View) -> str:
    """A button that applies the change the view holds for it; with nothing left to do it is off."""
    patch = view.actions.get(action.does) or view.actions.get(action.restart)
    return tag(
        "button",
        text(action.label),
        type="button",
        data_action=action.does,
        data_repeats=action.repeats,
        data_pause="Pause" if action.repeats else None,
        data_restart=action.restart or None,
        data_patch=data(patch),
        aria_disabled="true" if patch is None else None,  # it keeps the focus that it may have
        disabled=True,
    )


def _tools_html(widget: Widget) -> str:
    buttons = [
        tag("button", text(label), type="button", data_tool=tool, disabled=True)
        for tool, label in (("reset", "Reset"), ("copy", "Copy link"))
    ]
    buttons.insert(1, tag("button", "Undo reset", type="button", data_tool="undo", hidden=True, disabled=True))
    if widget.source:
        buttons.append(tag("a", "Show the Python", href=f"#{widget.source}", data_tool="source"))
    return tag("div", *buttons, class_="widget-tools")


def _status_html() -> str:
    words = {f"data_{key}": value for key, value in WORDS.items()}
    status = tag("span", text(WORDS["idle"]), role="status", class_="widget-status", **words)
    return status + tag("button", "Try again", type="button", data_tool="retry", hidden=True)


def _figures_html(answers: Mapping[Layout, Answer]) -> str:
    def drawn(index: int, layout: Layout) -> Figure:
        return answers[layout].view.figures[index]

    return "".join(figure_html(partial(drawn, index)) for index in range(len(answers["wide"].view.figures)))


def _groups_html(widget: Widget, section: str, typed: Mapping[str, str], view: View) -> str:
    return "".join(group_html(widget.name, group, typed, view) for group in widget.groups if group.section == section)


def _section_html(widget: Widget, section: Section, typed: Mapping[str, str], answers: Mapping[Layout, Answer]) -> str:
    """A part of the results. One with a title opens; what is in it stands there for both widths."""
    groups = _groups_html(widget, section.name, typed, answers["wide"].view)
    shown = answers["wide"].sections[section.name]

    def drawn(index: int, layout: Layout) -> Figure:
        return answers[layout].sections[section.name].figures[index]

    parts = (
        tag("div", groups, class_="section-controls") if groups else "",
        tag("div", *map(to_html, shown.before), data_part="before"),
        *(figure_html(partial(drawn, index)) for index in range(len(shown.figures))),
        tag("div", *map(to_html, shown.after), data_part="after"),
    )
    names = {"id": f"{widget.name}-{section.name}", "data_section": section.name}
    if not section.title:
        return tag("div", *parts, class_="section", **names)
    title = tag("span", text(section.title), class_="section-title")
    summary = tag("summary", title, " ", tag("span", text(shown.summary), class_="section-summary"))
    return tag("details", summary, *parts, class_="section", open=section.open, **names)


def _sections_html(widget: Widget, place: str, typed: Mapping[str, str], answers: Mapping[Layout, Answer]) -> str:
    parts = [_section_html(widget, one, typed, answers) for one in widget.sections if one.place == place]
    return tag("div", *parts, class_=f"sections sections-{place}") if parts else ""


def widget_html(widget: Widget, state: Mapping[str, str] | None = None) -> str:
    """The widget as it opens: in its own default state, or with some controls set otherwise (as text).

    Raises ValueError when the state is wrong, or when the two widths say different things.
    """
    typed, answers = _answers(widget, state)
    view = answers["wide"].view
    title = f"{widget.name}-title"
    head = tag("p", text(widget.title), class_="widget-title", id=title) + tag(
        "div", _status_html(), class_="widget-state"
    )
    groups = _groups_html(widget, "", typed, view)
    actions = "".join(action_html(action, view) for action in widget.actions)
    results = (
        _sections_html(widget, "top", typed, answers)
        + _readouts_html(view.readouts)
        + (tag("div", actions, class_="widget-actions") if actions else "")
        + tag("div", _figures_html(answers), class_="widget-figures")
        + _sections_html(widget, "side", typed, answers)
        + tag("div", *(tag("p", text(note)) for note in view.notes), class_="widget-notes")
    )
    body = tag("div", groups, class_="widget-controls") + tag("div", results, class_="widget-results")
    element = tag(
        "serving-widget",
        tag("div", head, class_="widget-head"),
        tag("noscript", tag("p", NO_SCRIPT, class_="widget-noscript")),
        *(presets_html(bar, typed) for bar in widget.preset_bars),
        tag("div", tag("div", body, class_="widget-body"), class_="widget-room"),
        _sections_html(widget, "below", typed, answers),
        tag("div", _tools_html(widget), class_="widget-foot"),
        tag("p", class_="widget-said", aria_live="polite"),
        name=widget.name,
        id=widget.name,
        role="group",
        aria_labelledby=title,
        tabindex="-1",
    )
    return tag("div", element, class_="widget")


def fragment(widget: Widget, values: Mapping[str, str]) -> str:
    """A widget's part of a link: `memory_cliff=batch:53,seq_len:8192`. Raises ValueError for a wrong state."""
    _answers(widget, values)
    pairs = ",".join(f"{quote(name, safe=_SAFE)}:{quote(value, safe=_SAFE)}" for name, value in values.items())
    return f"{quote(widget.name, safe=_SAFE)}={pairs}"


def try_html(
    states: Sequence[tuple[Widget, Mapping[str, str]]],
    words: str,
    anchor: str = "",
    page: str = "",
    class_: str = "try",
) -> str:
    """A link that sets widgets, on this page or another: the states are checked while the site builds."""
    parts = [anchor] * bool(anchor) + [fragment(widget, values) for widget, values in states]
    return tag("a", text(words), href=f"{page}#{'&'.join(parts)}", class_=class_)
