"""Does a result have the form that result.schema.json states? Reads as much of JSON Schema as that file uses."""

from __future__ import annotations

import json
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

_TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}


@cache
def schema() -> dict[str, Any]:
    """The schema of a result."""
    raw = pkgutil.get_data("snippets.lab_results", "result.schema.json")  # from inside a zip too, as in the browser
    if raw is None:
        raise FileNotFoundError("snippets/lab_results/result.schema.json")
    found: dict[str, Any] = json.loads(raw)
    return found


def _is(value: Any, name: str) -> bool:
    """JSON's types: true is no number, though it is an int in Python."""
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def _faults(value: Any, rule: dict[str, Any], place: str) -> Iterator[str]:
    if "$ref" in rule:
        rule = schema()["$defs"][rule["$ref"].removeprefix("#/$defs/")]
    kinds = [rule["type"]] if isinstance(rule.get("type"), str) else rule.get("type", [])
    if kinds and not any(_is(value, kind) for kind in kinds):
        yield f"{place} is {json.dumps(value)[:60]}; it must be {' or '.join(kinds)}"
        return
    if "const" in rule and value != rule["const"]:
        yield f"{place} is {value!r}; it must be {rule['const']!r}"
    if "enum" in rule and value not in rule["enum"]:
        yield f"{place} is {value!r}; it must be one of {', '.join(map(repr, rule['enum']))}"
    if isinstance(value, str) and not re.search(rule.get("pattern", ""), value):
        yield f"{place} is {value!r}, which does not match {rule['pattern']}"
    if _is(value, "number") and value < rule.get("minimum", value):
        yield f"{place} is {value}; it must be {rule['minimum']} or more"
    if isinstance(value, dict):
        yield from _object_faults(value, rule, place)
    if isinstance(value, list):
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            yield f"{place} has {len(value)} items; it must have {rule.get('minItems', 'any number')}"
        for i, item in enumerate(value):
            yield from _faults(item, rule.get("items", {}), f"{place}[{i}]")


def _object_faults(value: dict[str, Any], rule: dict[str, Any], place: str) -> Iterator[str]:
    known, other = rule.get("properties", {}), rule.get("additionalProperties", {})
    for name in rule.get("required", ()):
        if name not in value:
            yield f"{place} lacks {name}"
    for name, item in value.items():
        if name not in known and other is False:
            yield f"{place} has {name}, which this schema does not know"
        else:
            yield from _faults(item, known.get(name, other), f"{place}.{name}")


def faults(result: Any) -> list[str]:
    """What is wrong with a result, one sentence each; empty for a good one."""
    found = list(_faults(result, schema(), "result"))
    if found:
        return found
    for i, setting in enumerate(result["settings"]):
        for name, series in setting["series"].items():
            width = len(series["columns"])
            if any(len(row) != width for row in series["rows"]):
                found.append(f"result.settings[{i}].series.{name} has a row that is not {width} wide")
    return found
