"""A program shown on a page, run where the page is read: its name in, what it prints out."""

from __future__ import annotations

import platform
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO

PROGRAMS = ("kv_cache_size",)
"""Modules of snippets/ with a `main()` that pages offer to run."""


def run_program(name: str) -> dict[str, str]:
    """What the program prints, and the Python it ran in. Raises ValueError naming the programs there are."""
    if name not in PROGRAMS:
        raise ValueError(f"There is no program {name!r}; there are: {', '.join(PROGRAMS)}.")
    printed = StringIO()
    with redirect_stdout(printed):
        import_module(f"snippets.{name}").main()
    return {"printed": printed.getvalue(), "python": f"Python {platform.python_version()}"}
