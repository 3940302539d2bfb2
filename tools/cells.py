"""Live cells: a fenced block of Python that readers can edit and run, and exercises.

Written as a fence ```` ```python live="NAME" ````; with `exercise="NAME"` besides, the code is checked by
snippets/exercises/NAME.py, whose hints and solution follow it, folded. `title` and `hl_lines` work as in other blocks.
The block is complete and readable as it is; live/cell.mjs brings the buttons to life.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pymdownx.superfences import SuperFencesException, highlight_validator

from snippets.cells.exercise import Exercise, exercise
from snippets.widgets.html import WORDS as WIDGET_WORDS
from snippets.widgets.markup import tag, text

OURS = ("live", "exercise")
WORDS = {
    "idle": "Runs in your browser",
    "unloaded": "The scripts that run it did not load; reload the page to try again.",
    "loading": "Loading the editor…",
    "waiting": "Waits for the cell that is running",
    "starting": WIDGET_WORDS["starting"],
    "slow": "Python is slow to load: the network is slow or stands still. Stop gives up.",
    "running": "Running…",
    "done": "Finished, {python}",
    "silent": "Finished, {python}; it printed nothing",
    "error": "Ended with an error, {python}",
    "stopped": "Stopped. Python starts anew.",
    "ended": "Python itself ended: {reason}. Run starts it anew.",
    "failed": "Python could not start: {reason}. Run tries again.",
    "unreachable": WIDGET_WORDS["unreachable"],
    "cut": "[More than 5,000 lines or 200,000 characters: what follows is not shown.]",
    "flooded": "It prints more than is shown. Stop ends it.",
    "reset": "The page's code is back",
    "unkept": "This browser keeps no edits here: they are gone when you leave. A link can hold them.",
    "copied": "Link to this code copied",
    "uncopied": "The link is in the address bar",
    "long": "Too long for a link: copy the code itself.",
    "damaged": "The link's code is damaged; this is what was here before.",
}
NOTES = {
    "edit": "Your edit, kept in this browser.",
    "link": "This code came with the link and is not the page's. It runs only when you press Run: read it first.",
    "both": "This code came with the link and is not the page's. It runs only when you press Run: read it first. "
    "Your own edit is kept until you change this one.",
}
BUTTONS = {
    "run": ("Run", "Run this code"),
    "stop": ("Stop", "Stop this code"),
    "edit": ("Edit", "Edit this code"),
    "reset": ("Reset", "Bring the page's code back"),
    "undo": ("Undo", "Bring back what Reset took away"),
    "mine": ("Show my edit", "Show your own edit instead of the link's code"),
    "link": ("Copy link", "Copy a link to this code"),
}
HIDE = {"data_search_exclude": True}  # from the search: it is no text of the page
LATE = ("undo", "mine")  # offered when there is something to bring back
EDITOR = "Python code. Tab indents; Escape, then Tab, leaves the editor. Control and Enter runs the code."
KEYS = "In the editor Ctrl+Enter runs; Esc, then Tab, leaves it."
NO_SCRIPT = "Running and editing this code needs JavaScript."


def validator(
    language: str, inputs: Mapping[str, str], options: dict[str, Any], attrs: dict[str, Any], md: Any
) -> bool:
    """Takes the fences that are live, and leaves all others to the next format."""
    if "live" not in inputs:
        return False
    rest = {key: value for key, value in inputs.items() if key not in OURS}
    highlight_validator(language, rest, options, attrs, md)
    if attrs:
        raise SuperFencesException(f"a live cell takes live, exercise, title and hl_lines, not {', '.join(attrs)}")
    options |= {key: inputs[key] for key in OURS if key in inputs}
    return True


def fence(src: str, language: str, css_class: str, options: dict[str, Any], md: Any, **_: Any) -> str:
    """The block as the page's other blocks look, with what runs it."""
    name, checked = options.pop("live"), options.pop("exercise", "")
    title = options.get("title", name)
    try:
        if not name.isidentifier():
            raise ValueError(f"a cell's name is an identifier, not {name!r}")
        compile(src, name, "exec")
        one = exercise(checked) if checked else None
    except Exception as error:
        raise SuperFencesException(f"live cell {name!r}: {error}") from error
    return cell_html(name, title, _highlighted(src, options, md), one, lambda code: _highlighted(code, {}, md))


def _highlighted(src: str, options: dict[str, Any], md: Any) -> str:
    fences = md.preprocessors["fenced_code_block"]
    fences.get_hl_settings()
    shown = fences.highlight(src, "python", dict(options), md, classes=[], id_value="", attrs={})
    return str(shown)


def cell_html(name: str, title: str, block: str, one: Exercise | None, highlighted: Any) -> str:
    """A cell as HTML. Its buttons wait for the scripts; what the status may say stands with it."""
    words = {f"data_{key}": value for key, value in WORDS.items()}
    notes = {f"data_{key}": value for key, value in NOTES.items()}
    buttons = "".join(
        tag("button", text(label), type="button", data_does=does, title=hint, disabled=True, hidden=does in LATE)
        for does, (label, hint) in BUTTONS.items()
    )
    status = tag("span", text(WORDS["idle"]), role="status", class_="cell-status", **words)
    tools = tag("div", buttons, status, class_="cell-tools", role="group", aria_label=title, **HIDE)
    return tag(
        "div",
        tag(
            "code-cell",
            tag("div", block, class_="cell-code"),
            tag("p", class_="cell-note", role="status", **notes),
            tools,
            tag("p", text(KEYS), class_="cell-keys", **HIDE),
            tag("pre", class_="cell-output", hidden=True, tabindex="0", role="region", aria_label="What it printed"),
            tag("p", class_="cell-verdict", role="status") if one else "",
            tag("noscript", tag("p", text(NO_SCRIPT)), **HIDE),
            id=f"cell-{name}",
            data_label=EDITOR,
            data_exercise=one.name if one else None,
        ),
        _help_html(one, highlighted) if one else "",
        class_="cell",
    )


def _help_html(one: Exercise, highlighted: Any) -> str:
    folds = [(f"Hint {number}", tag("p", text(hint))) for number, hint in enumerate(one.hints, 1)]
    folds.append(("A solution", highlighted(one.solution)))
    return "".join(tag("details", tag("summary", name), inside, class_="cell-help", **HIDE) for name, inside in folds)
