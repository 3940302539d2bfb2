"""An exercise: what the learner's names are checked for, with a message that says what is off.

`snippets/exercises/NAME.py` holds it as `EXERCISE`; a page shows the code it starts from in a cell of that name.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import Any

MOST = 10**18  # bytes: a number beyond it is no size, and may be too long to print


class OffError(Exception):
    """What is off about an answer: a sentence or two for the learner."""


@dataclass(frozen=True)
class Exercise:
    """`check` gets the names that the learner's code defines; it returns praise, or raises OffError."""

    name: str
    hints: tuple[str, ...]  # opened one by one, each saying more
    solution: str
    check: Callable[[Mapping[str, Any]], str]


def exercise(name: str) -> Exercise:
    """The exercise of that name. Raises ValueError where there is none."""
    module = f"snippets.exercises.{name}"
    if not name.isidentifier() or find_spec(module) is None:
        raise ValueError(f"There is no exercise {name!r}: it would be snippets/exercises/{name}.py.")
    found = import_module(module).EXERCISE
    if not isinstance(found, Exercise) or found.name != name:
        raise ValueError(f"snippets/exercises/{name}.py must define EXERCISE = Exercise(name={name!r}, …).")
    return found


def grade(one: Exercise, names: Mapping[str, Any]) -> dict[str, object]:
    """Whether the code does what was asked, and what to say. What it prints meanwhile is not shown."""
    with redirect_stdout(StringIO()):
        try:
            return {"passed": True, "message": one.check(names)}
        except OffError as off:
            return {"passed": False, "message": f"Not yet. {off}"}


def function(names: Mapping[str, Any], name: str) -> Callable[..., Any]:
    """The learner's function of that name."""
    found = names.get(name)
    if found is None:
        raise OffError(f"There is no function {name} any more: the check looks for one of that name.")
    if not callable(found):
        raise OffError(f"{name} is {found!r}, not a function: keep its def line.")
    return found  # type: ignore[no-any-return]


def call(learners: Callable[..., Any], about: str, *arguments: Any) -> Any:
    """What the learner's function returns; an error of it becomes a message. `about` says for what: "for OPT-13B"."""
    name = getattr(learners, "__name__", "the function")
    try:
        return learners(*arguments)
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<cell>"]
        place = f" in line {lines[-1]}" if lines else ""
        what = "".join(traceback.format_exception_only(error)).strip()
        raise OffError(f"{name} stops{place} {about}: {what}.") from None


def whole_number(value: Any, name: str, about: str) -> int:
    """The value, where it is a whole number; a float that is one counts."""
    if value is None:
        raise OffError(f"{name} returns None {about}: a function without a return line does that.")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise OffError(f"{name} returns {value!r} {about}: a number of bytes is asked for.")
    if isinstance(value, float) and not value.is_integer():
        raise OffError(f"{name} returns {value!r} {about}: bytes come whole. Use // where a division has to be.")
    if abs(value) > MOST:
        raise OffError(f"{name} returns more bytes than there are {about}.")
    return int(value)
