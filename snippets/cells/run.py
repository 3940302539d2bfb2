"""Run a cell: the reader's own program, in a module of its own, with the errors that concern the reader.

What it prints goes where Python prints. The value of a last line that is an expression comes back as its repr.
"""

from __future__ import annotations

import ast
import io
import json
import linecache
import platform
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, ModuleType
from typing import Any, NoReturn

from snippets.cells.exercise import exercise, grade

FILE = "<cell>"
NO_INPUT = 'a cell cannot ask for input while it runs; write the value into the code, as in name = "Ada"'


class _NoInput(io.TextIOBase):
    """Standard input of a cell: whoever reads from it is told what to do instead."""

    def _refuse(self, size: int | None = -1, /) -> NoReturn:
        raise EOFError(NO_INPUT)

    read = readline = _refuse


@contextmanager
def _own_main(module: ModuleType) -> Iterator[None]:
    """The cell is `__main__` while it runs; what it does to the standard streams ends with it."""
    kept = sys.modules.get("__main__"), sys.stdin, sys.stdout, sys.stderr
    sys.modules["__main__"], sys.stdin = module, _NoInput()
    try:
        yield
    finally:
        main, sys.stdin, sys.stdout, sys.stderr = kept
        sys.stdout.flush()  # fails where the cell closed it: this Python is spoiled, and is to be replaced
        sys.stderr.flush()
        if main is not None:
            sys.modules["__main__"] = main


def _compiled(source: str) -> tuple[CodeType, CodeType | None]:
    """All of it but a last line that is an expression, and that expression."""
    tree = ast.parse(source, FILE)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    body = compile(tree, FILE, "exec", dont_inherit=True)
    if not isinstance(last, ast.Expr):
        return body, None
    return body, compile(ast.Expression(last.value), FILE, "eval", dont_inherit=True)


def _keep_own(shown: traceback.TracebackException) -> None:
    """Cut a traceback, and those it follows from, to the lines of the cell."""
    own = [frame for frame in shown.stack or () if frame.filename == FILE]
    shown.stack = traceback.StackSummary.from_list(own) if own else None  # type: ignore[assignment]
    for before in (shown.__cause__, shown.__context__, *(shown.exceptions or ())):
        if before is not None:
            _keep_own(before)


def traceback_of(error: BaseException) -> str:
    """The error as Python prints it, without the lines that are not the reader's."""
    shown = traceback.TracebackException.from_exception(error)
    _keep_own(shown)
    return "".join(shown.format())


def run_cell(source: str, exercise_name: str = "") -> dict[str, Any]:
    """Run the source. `error` is a traceback, `value` a repr, both "" for none; `graded` is there for exercises.

    Code that ends with an error, or by `sys.exit`, is not graded.
    """
    module = ModuleType("__main__")
    linecache.cache[FILE] = (len(source), None, source.splitlines(keepends=True), FILE)
    result: dict[str, Any] = {"value": "", "error": "", "python": f"Python {platform.python_version()}"}
    with _own_main(module):
        try:
            body, last = _compiled(source)
            exec(body, vars(module))
            value = eval(last, vars(module)) if last else None
            result["value"] = "" if value is None else repr(value)
        except SystemExit as ended:
            result["error"] = "" if ended.code in (None, 0) else f"SystemExit: {ended.code}\n"
        except BaseException as error:
            result["error"] = traceback_of(error)
        else:
            if exercise_name:
                result["graded"] = grade(exercise(exercise_name), vars(module))
    return result


def run_cell_json(source: str, exercise_name: str) -> str:
    """The same, as JSON for the page."""
    return json.dumps(run_cell(source, exercise_name))
