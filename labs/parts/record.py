"""The result file: written after each finished setting, so that a lab that was killed goes on where it stopped."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parts.stop import Stop

SCHEMA = 2
FOUND: dict[str, Any] = {  # what a setting may hold besides its name, model and arguments
    "shape": None,
    "start_seconds": None,
    "startup_lines": [],
    "predicted": {},  # name: number(...)
    "measured": {},  # name: number(...), or a text
    "series": {},  # name: {"columns": [[name, unit], ...], "rows": [[...], ...]}
    "checks": [],  # check(...)
    "notes": [],
    "skipped": None,  # the reason, where the setting cannot run here
}


def number(value: Any, unit: str) -> dict[str, Any]:
    """A measured or predicted number with its unit; a range is number([low, high], unit)."""
    return {"value": value, "unit": unit}


def check(invariant: str, predicted: Any, measured: Any, unit: str = "") -> dict[str, Any]:
    """Something that must hold exactly; [low, high] as the prediction holds for anything between."""
    if isinstance(predicted, list):
        equal = measured is not None and predicted[0] <= measured <= predicted[1]
    else:
        equal = predicted == measured
    return {"invariant": invariant, "predicted": predicted, "measured": measured, "unit": unit, "equal": equal}


class Record:
    """A lab's result, on disk after each setting."""

    def __init__(self, out: str, lab: str, lab_version: int, vllm: str, box: dict[str, Any], quick: bool) -> None:
        self.path = Path(out)
        head = {
            "schema": SCHEMA,
            "lab": lab,
            "lab_version": lab_version,
            "date": time.strftime("%Y-%m-%d"),
            "quick": quick,
            "versions": {"vllm": vllm, **box["versions"]},
            "card": box["card"],
        }
        self.data: dict[str, Any] = head | {"settings": []}
        if self.path.exists():
            self._resume(head)

    def _resume(self, head: dict[str, Any]) -> None:
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            same = all(kept[key] == head[key] for key in ("schema", "lab", "lab_version", "quick", "versions"))
            same = same and kept["card"]["name"] == head["card"]["name"]
            self.data["settings"] = kept["settings"]
        except (ValueError, KeyError, TypeError):
            same = False
        if not same:
            raise Stop(
                f"{self.path} holds a result of another kind (lab, version, card or --quick differ): choose another "
                "--out, or move it away"
            )

    def done(self, name: str, model: str, given: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any] | None:
        """The finished setting of that name, model, engine arguments and lab's own arguments, if there is one."""
        same = self._same(name, model, given, asked)
        return next((one for one in self.data["settings"] if same(one) and not one["skipped"]), None)

    @staticmethod
    def _same(name: str, model: str, given: dict[str, Any], asked: dict[str, Any]) -> Callable[[dict[str, Any]], bool]:
        wanted = json.loads(json.dumps((name, _shown(model), given, asked)))  # as it reads from the file
        return lambda one: [one["name"], one["model"], one["engine_args"], one["asked"]] == wanted

    def add(self, name: str, model: str, given: dict[str, Any], asked: dict[str, Any], **found: Any) -> dict[str, Any]:
        """Keep a finished setting, or one that is `skipped` with the reason, and write the file."""
        if unknown := found.keys() - FOUND:
            raise TypeError(f"a setting holds no {', '.join(unknown)}")
        same = self._same(name, model, given, asked)
        others = [one for one in self.data["settings"] if not same(one)]  # what was skipped before may be measured now
        made = {"name": name, "model": _shown(model), "engine_args": given, "asked": asked, **FOUND, **found}
        self.data["settings"] = [*others, made]
        self.save()
        return made

    def save(self) -> None:
        """Write a file beside it and put that in its place, so that no reader finds half a result."""
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            new.write_text(json.dumps(self.data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            os.replace(new, self.path)
        except OSError as error:
            raise Stop(
                f"the result could not be written to {self.path} ({error.strerror}): choose another --out"
            ) from error


def _shown(model: str) -> str:
    """A folder goes by its own name: nobody's paths belong in a result."""
    return Path(model).name if Path(model).is_dir() else model


CHECKS_HEAD = ("setting", "invariant", "predicted", "measured", "equal")


def checks_table(settings: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Setting, invariant, predicted, measured, equal: one row for each check."""

    def show(value: Any) -> str:
        if isinstance(value, list):
            return " to ".join(map(show, value))
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float):
            return f"{value:,.0f}" if value.is_integer() else f"{value:,.2f}"
        return f"{value:,}" if isinstance(value, int) else str(value)

    return [
        (one["name"], c["invariant"], show(c["predicted"]), show(c["measured"]), "yes" if c["equal"] else "NO")
        for one in settings
        for c in one["checks"]
    ]
