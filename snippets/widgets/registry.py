"""Widgets and questions by name, and the one function the browser's worker calls.

A widget is found by convention: `snippets/widgets/<name>.py` holds `WIDGET`, whose name is `<name>`.
A question is found in the `QUESTIONS` tuple of any module in `snippets/widgets/questions/`.
Neither is imported before it is asked for.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from snippets import widgets as _package
from snippets.widgets.declare import Widget
from snippets.widgets.parts import texts
from snippets.widgets.question import Question, grade
from snippets.widgets.run import read_state, run, to_json


def names() -> tuple[str, ...]:
    """Names of all widgets, sorted. Imports every module beside this one."""
    modules = sorted(info.name for info in pkgutil.iter_modules(_package.__path__))
    return tuple(name for name in modules if hasattr(import_module(f"{_package.__name__}.{name}"), "WIDGET"))


@cache
def widget(name: str) -> Widget:
    """The widget of that name. Raises ValueError naming the widgets there are."""
    module = f"{_package.__name__}.{name}"
    if not name.isidentifier() or find_spec(module) is None or not hasattr(import_module(module), "WIDGET"):
        raise ValueError(f"There is no widget {name!r}; there are: {', '.join(names())}.")
    found = import_module(module).WIDGET
    if not isinstance(found, Widget) or found.name != name:
        raise ValueError(f"snippets/widgets/{name}.py must define WIDGET = Widget(name={name!r}, …).")
    return found


@cache
def questions() -> Mapping[str, Question]:
    """All questions by name, in the order of their modules. Raises ValueError for a name used twice."""
    found: dict[str, Question] = {}
    package = import_module(f"{_package.__name__}.questions")
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        for one in import_module(f"{package.__name__}.{module}").QUESTIONS:
            if one.name in found:
                raise ValueError(f"Two questions are named {one.name!r}; the second is in questions/{module}.py.")
            found[one.name] = one
    return found


def question(name: str) -> Question:
    """The question of that name. Raises ValueError naming the questions there are."""
    if name not in questions():
        raise ValueError(f"There is no question {name!r}; there are: {', '.join(questions())}.")
    return questions()[name]


def _kept(request: Mapping[str, Any]) -> Mapping[str, str]:
    try:
        return texts.whole(request["kept"])
    except texts.ForgottenError:  # what stood before is a help, not a need
        return {}


def _view(request: Mapping[str, Any], state: Mapping[str, str], kept: Mapping[str, str]) -> Mapping[str, object]:
    shown = run(widget(request["widget"]), state, kept, request["layout"], request.get("seen", ()))
    return shown | {"accepted": texts.short(shown["accepted"])}


def _file(request: Mapping[str, Any], state: Mapping[str, str], kept: Mapping[str, str]) -> Mapping[str, object]:
    one = widget(request["widget"])
    download = next(download for download in one.downloads if download.name == request["file"])
    name, text = download.make(read_state(one, state, kept)[0])
    return {"name": name, "mime": download.mime, "text": text}


def _reply(request: Mapping[str, Any]) -> Mapping[str, object]:
    if "keep" in request:
        texts.keep(request["keep"], request["text"])
        return {}
    if "question" in request:
        return grade(question(request["question"]), request["typed"])
    try:
        state = texts.whole(request["state"])
    except texts.ForgottenError:
        return {"forgotten": True}
    return (_file if "file" in request else _view)(request, state, _kept(request))


def answer(request_json: str) -> str:
    """The reply to one message of the page, as JSON. A fault of ours becomes `{"failed": what happened}`."""
    try:
        return to_json(_reply(json.loads(request_json)))
    except Exception as error:
        return to_json({"failed": f"{type(error).__name__}: {error}"})
