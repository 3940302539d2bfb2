"""The one error of these answers: a question that cannot be answered, and the input at fault."""

from __future__ import annotations


class AnswerError(ValueError):
    """An input outside what the question allows; `field` names it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def at_least(field: str, value: float, least: float) -> None:
    """Refuse a value below `least`, by name."""
    if not value >= least:
        raise AnswerError(field, f"{field} is {value!r}; it must be {least} or more")
