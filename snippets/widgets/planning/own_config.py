"""A pasted config.json: read once, refused with its place, and in a link only the fields that were used."""

from __future__ import annotations

import json
from functools import lru_cache
from urllib.parse import quote

from snippets.model_config.model_config import ConfigError, ModelConfig
from snippets.model_config.read import read_text
from snippets.model_config.reduce import reduce
from snippets.widgets.declare import TextError

MOST_IN_LINK = 2000  # characters of the address
NOT_IN_LINK = "paste-again"
WORDS = {
    "again": "The config.json was too long for the link: paste it again.",
    "place": "Line {line}, column {column}: {message}",
}


@lru_cache(8)
def own_config(typed: str) -> ModelConfig:
    """The config. Raises TextError with the place where it has one."""
    if typed.strip().startswith(NOT_IN_LINK):
        raise TextError(WORDS["again"])
    try:
        return read_text(typed)
    except ConfigError as error:
        message = str(error)
        if error.line and not message.startswith("Line "):
            message = WORDS["place"].format(line=error.line, column=error.column, message=message)
        raise TextError(message, error.line, error.column) from None


def check_config(typed: str) -> None:
    """Nothing, or a config. Raises TextError."""
    if typed.strip():
        own_config(typed)


@lru_cache(8)
def in_link(typed: str) -> str | None:
    """The fields that the reader used, as JSON; None where that is too long for a link."""
    if not typed.strip():
        return ""
    short = json.dumps(reduce(own_config(typed)), separators=(",", ":"))  # ASCII: half a character has no UTF-8
    return short if len(quote(short, safe="-_.!~*'()")) <= MOST_IN_LINK else None
