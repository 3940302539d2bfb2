"""Typed reading of a config's fields: every value is checked, every field that was used is remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from snippets.model_config.model_config import ConfigError

MAX_LAYERS = 4096  # several times the deepest published model; a larger number is a typing error
MAX_SIZE = 2**40
SHOWN = 40  # characters of a value that an error repeats


@dataclass
class Record:
    """What one reading used and assumed, shared by all its Fields."""

    used: dict[str, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)


def shown(value: object) -> str:
    """A value as an error repeats it: JSON's words, cut short. Never converts a huge number to decimal."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and value.bit_length() > 200:
        return "a number of more than 60 digits"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, Mapping):
        return "an object"
    text = f'"{value}"' if isinstance(value, str) else str(value)
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


@dataclass(frozen=True)
class Fields:
    """One JSON object of a config. `defaults` stand for absent fields, as the model's transformers class has them."""

    values: Mapping[str, object]
    record: Record
    path: str = ""  # dotted, "" at the top
    defaults: Mapping[str, object] = field(default_factory=dict)
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # transformers' attribute_map and kin

    def name(self, key: str) -> str:
        """The dotted name of a field."""
        return f"{self.path}.{key}" if self.path else key

    def error(self, key: str, message: str) -> ConfigError:
        """A ConfigError about one field, its dotted name in front."""
        return ConfigError(self.name(key), f"{self.name(key)} {message}")

    def note(self, sentence: str) -> None:
        """Say what stands for something absent."""
        self.record.notes[sentence] = None

    def key_of(self, key: str) -> str | None:
        """The name under which a field stands in the config (its own or an alias), or None."""
        return next((name for name in (key, *self.aliases.get(key, ())) if name in self.values), None)

    def has(self, key: str) -> bool:
        """Whether the config itself gives the field, null counted as absent."""
        found = self.key_of(key)
        return found is not None and self.raw(found) is not None

    def raw(self, key: str) -> object:
        """The value as it stands; None when absent and without a default. Null hides a default, as in transformers."""
        found = self.key_of(key)
        if found is None:
            return self.defaults.get(key)
        self.record.used[self.name(found)] = None
        return self.values[found]

    def integer(self, key: str, *, minimum: int = 1, maximum: int = MAX_SIZE) -> int:
        """A whole number that must be there (or have a default in the model's class)."""
        value = self.optional_integer(key, minimum=minimum, maximum=maximum)
        if value is None:
            state = "is null" if self.key_of(key) is not None else "is missing"
            raise self.error(key, f"{state}: a whole number is needed there.")
        return value

    def optional_integer(self, key: str, *, minimum: int = 1, maximum: int = MAX_SIZE) -> int | None:
        """A whole number, or None when it is absent or null."""
        value = self.raw(key)
        if value is None:
            return None
        shown_key = self.key_of(key) or key
        if isinstance(value, float) and value.is_integer() and abs(value) < MAX_SIZE:
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(shown_key, f"is {shown(value)}: a whole number is needed there.")
        if not minimum <= value <= maximum:
            allowed = f"at least {minimum}" if value < minimum else f"at most {maximum:,}"
            raise self.error(shown_key, f"is {shown(value)}: {allowed} is possible.")
        if self.key_of(key) is None:
            self.note(f"{self.name(key)} is absent: the model class's default {value} stands for it.")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """A true or false; `default` when absent or null."""
        value = self.raw(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.error(self.key_of(key) or key, f"is {shown(value)}: true or false is needed there.")
        return value

    def text(self, key: str) -> str | None:
        """A string, or None when absent or null."""
        value = self.raw(key)
        if value is not None and not isinstance(value, str):
            raise self.error(key, f"is {shown(value)}: a text is needed there.")
        return value

    def items(self, key: str, length: int | None = None) -> tuple[object, ...] | None:
        """A list, or None when absent or null; exactly `length` long where one is given."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise self.error(key, f"is {shown(value)}: a list is needed there.")
        if length is not None and len(value) != length:
            raise self.error(key, f"has {len(value)} entries, but there are {length} layers.")
        return tuple(value)

    def words(self, key: str, known: Iterable[str], length: int | None = None) -> tuple[str, ...] | None:
        """A list of known words, one per layer; an unknown one is refused by name."""
        values = self.items(key, length)
        if values is None:
            return None
        allowed = tuple(known)
        for index, value in enumerate(values):
            if value not in allowed:
                raise self.error(
                    f"{key}[{index}]", f"is {shown(value)}: this reader knows {', '.join(allowed)} for this model."
                )
        return tuple(str(value) for value in values)

    def integers(self, key: str, length: int | None = None, minimum: int = 0) -> tuple[int, ...] | None:
        """A list of whole numbers, or None."""
        values = self.items(key, length)
        if values is None:
            return None
        for index, value in enumerate(values):
            if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= MAX_SIZE:
                raise self.error(f"{key}[{index}]", f"is {shown(value)}: a whole number is needed there.")
        return tuple(value for value in values if isinstance(value, int))

    def blocks(self, key: str) -> tuple[Fields, ...] | None:
        """A list of objects, or None."""
        values = self.items(key)
        if values is None:
            return None
        found: list[Fields] = []
        for index, value in enumerate(values):
            if not isinstance(value, Mapping):
                raise self.error(f"{key}[{index}]", f"is {shown(value)}: an object is needed there.")
            # A list is carried whole, so what is read inside it needs no name of its own.
            found.append(Fields(value, Record(notes=self.record.notes), self.name(f"{key}[{index}]")))
        return tuple(found)

    def child(self, key: str, defaults: Mapping[str, object] | None = None) -> Fields | None:
        """A nested object, or None when absent or null."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.error(key, f"is {shown(value)}: an object is needed there.")
        return Fields(value, self.record, self.name(key), defaults or {})
