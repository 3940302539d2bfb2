"""The freedoms that vLLM's parser takes (utils/argparse_utils.py FlexibleArgumentParser.parse_args), undone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from snippets.planner.command.errors import UsageError


def normalised(words: Sequence[str]) -> list[str]:
    """Without `vllm serve`, with dashes for underscores, -O3 spelled out and dotted keys gathered as JSON."""
    rest = iter(words[2:] if list(words[:2]) == ["vllm", "serve"] else words)
    cleaned: list[str] = []
    gathered: dict[str, dict[str, object]] = {}
    for word in rest:
        name, equals, value = word.partition("=")
        if word.startswith("-O") and not word.startswith("--"):
            cleaned += ["--optimization-level", *([word[2:].lstrip("=")] if word != "-O" else [])]
        elif name.startswith("--") and "." in name:
            flag, *keys = name.split(".")
            _put(gathered.setdefault(_dashes(flag), {}), keys, value if equals else _next(rest, name))
        elif word.startswith("--"):
            cleaned.append(_dashes(name) + equals + value)
        else:
            cleaned.append(word)
    for flag, fields in gathered.items():
        cleaned += [flag, json.dumps(fields)]
    return cleaned


def _dashes(name: str) -> str:
    return name.replace("_", "-")


def _next(words: Iterator[str], name: str) -> str:
    for word in words:
        return word
    raise UsageError(f"{name} needs a value.")


def _put(fields: dict[str, object], keys: Sequence[str], text: str) -> None:
    """Set a nested key; the value is JSON where it can be read as such, and a list behind a +."""
    *above, last = keys
    for key in above:
        inner = fields.setdefault(key, {})
        if not isinstance(inner, dict):
            raise UsageError(f"{'.'.join(keys)} has a value of its own already.")
        fields = inner
    if last.endswith("+"):
        fields[last[:-1]] = text.split(",")
        return
    try:
        fields[last] = json.loads(text)
    except ValueError:
        fields[last] = text
