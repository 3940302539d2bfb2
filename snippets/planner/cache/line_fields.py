"""Reading one JSON object field by field, with errors that name the field by its path: `layers[2].window`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import cast

LARGEST = 2**63 - 1
NOTES = {"id", "name", "case", "note", "comment"}  # carried along, never read


class LineError(ValueError):
    """A line that is not of the form; the message begins with the field."""


class Fields:
    """The fields of one object. Every getter raises LineError for a value of another type or out of range."""

    def __init__(self, value: object, path: str, known: Collection[str]) -> None:
        if not isinstance(value, Mapping):
            raise LineError(f"{path or 'the line'} is {_shown(value)}; it must be a JSON object")
        unknown = [key for key in value if key not in known and key not in NOTES]
        if unknown:
            raise LineError(
                f"{self._join(path, str(unknown[0]))} is not a field of this form; known are {', '.join(known)}"
            )
        self.values = value
        self.path = path

    @staticmethod
    def _join(path: str, name: str) -> str:
        return f"{path}.{name}" if path else name

    def at(self, name: str) -> str:
        """The path of one field."""
        return self._join(self.path, name)

    def need(self, name: str) -> object:
        """The raw value. Raises LineError where it is missing."""
        if name not in self.values:
            raise LineError(f"{self.at(name)} is missing")
        return self.values[name]

    def integer(self, name: str, default: int | None = None, least: int = 0) -> int:
        """A whole number from `least` on; without a default it must be there."""
        if default is not None and name not in self.values:
            return default
        return whole(self.need(name), self.at(name), least)

    def maybe_integer(self, name: str, least: int = 0) -> int | None:
        """A whole number, or None where it is missing or null."""
        return None if self.values.get(name) is None else self.integer(name, least=least)

    def flag(self, name: str) -> bool:
        """true or false; false where it is missing."""
        value = self.values.get(name, False)
        if not isinstance(value, bool):
            raise LineError(f"{self.at(name)} is {_shown(value)}; it must be true or false")
        return value

    def text(self, name: str, default: str, choices: Collection[str]) -> str:
        """One of `choices`."""
        value = self.values.get(name, default)
        if not isinstance(value, str) or value not in choices:
            raise LineError(f"{self.at(name)} is {_shown(value)}; it must be one of {', '.join(choices)}")
        return value

    def items(self, name: str) -> list[object]:
        """A list."""
        value = self.need(name)
        if not isinstance(value, list):
            raise LineError(f"{self.at(name)} is {_shown(value)}; it must be a list")
        return cast("list[object]", value)


def whole(value: object, path: str, least: int) -> int:
    """`value` as an int; 1e10 is one too. Raises LineError for anything else, and outside `least` to 2^63 - 1."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise LineError(f"{path} is {_shown(value)}; it must be a whole number")
    if not least <= value <= LARGEST:
        raise LineError(f"{path} is {_shown(value)}; it must be from {least} to 2^63 - 1")
    return value


def _shown(value: object) -> str:
    """A value in an error, short."""
    if isinstance(value, int) and abs(value) > LARGEST:
        return "a number beyond 2^63"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
