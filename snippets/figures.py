"""Figures in prose: the text a reader sees, and the expression that must print exactly that text."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from snippets import kv_cache_size, units

_SEPARATOR = " = "


class FigureError(ValueError):
    """A figure whose expression fails or prints something else."""


def parse(source: str) -> tuple[str, str]:
    """Split `56 KiB = kib(…)` at its first " = " into text and expression."""
    text, separator, expression = source.strip().partition(_SEPARATOR)
    if not separator or not text.strip() or not expression.strip():
        raise FigureError(f"a figure is written TEXT{_SEPARATOR}EXPRESSION, not {source!r}")
    return text.strip(), expression.strip()


def _public(module: ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


def names() -> dict[str, Any]:
    """Every name an expression may use. Formatters of `units` win over helpers of the same name."""
    found: dict[str, Any] = {}
    for module in (kv_cache_size, units):
        found |= _public(module)
    return found


def evaluate(expression: str) -> str:
    """The text an expression prints."""
    try:
        return str(eval(expression, {"__builtins__": __builtins__, **names()}))
    except Exception as error:
        raise FigureError(f"{expression}: {type(error).__name__}: {error}") from error


def check(text: str, expression: str) -> None:
    """Raise FigureError unless the expression prints the text."""
    made = evaluate(expression)
    if made != text:
        raise FigureError(f"the page says {text!r}, but {expression} makes {made!r}")
