"""Run labs as a reader would, each as a file of its own, and read what they found. Standard library only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from snippets.lab_results.schema import faults

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60  # seconds a lab gets to end its engine after it was interrupted


@dataclass(frozen=True)
class Ran:
    """What came of one lab."""

    lab: str
    status: int
    seconds: float
    result: dict[str, Any] | None
    faults: list[str]

    @property
    def checks(self) -> list[tuple[str, ...]]:
        """Lab, setting, invariant, predicted, measured, equal."""
        settings = self.result["settings"] if self.result else []
        return [
            (self.lab, one["name"], c["invariant"], *map(shown, (c["predicted"], c["measured"], c["equal"])))
            for one in settings
            for c in one["checks"]
        ]

    @property
    def skipped(self) -> list[str]:
        """What was left out, by name and with the reason."""
        found = []
        for one in self.result["settings"] if self.result else []:
            reasons = [one["skipped"]] if one["skipped"] else []
            reasons += [note.removeprefix("skipped: ") for note in one["notes"] if note.startswith("skipped: ")]
            found += [f"{self.lab}, {one['name']}: {reason}" for reason in reasons]
        return found

    @property
    def failed(self) -> list[str]:
        """Why this run does not count as good; empty when it does."""
        found = [] if self.status == 0 else [f"{self.lab} ended with status {self.status}"]
        if self.result is None:
            return [*found, *(f"{self.lab}: {fault}" for fault in self.faults or ["no result was left"])]
        found += [
            f"{' · '.join(row[:3])}: {row[3]} predicted, {row[4]} measured" for row in self.checks if row[5] == "NO"
        ]
        if not self.checks:
            found.append(f"{self.lab} checked nothing")
        return found


def shown(value: Any) -> str:
    """A value of a check for a table."""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, list):
        return " to ".join(map(shown, value))
    if isinstance(value, float):
        return f"{value:,.0f}" if value.is_integer() else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def run_lab(
    python: str, lab: str, argv: list[str], folder: Path, seconds: float, environment: dict[str, str] | None = None
) -> Ran:
    """Run it in `folder`, at most so long; then it is interrupted as by Ctrl-C, and keeps what it has."""
    out = folder / f"{lab}.result.json"
    command = [python, str(ROOT / "labs" / f"{lab}.py"), "--out", out.name, *argv]
    start = time.monotonic()
    with subprocess.Popen(command, cwd=folder, env=environment or dict(os.environ)) as process:
        try:
            status = process.wait(seconds)
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as why:
            process.send_signal(signal.SIGINT)
            try:
                status = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
            if isinstance(why, KeyboardInterrupt):
                raise
    took = round(time.monotonic() - start, 1)
    try:
        result = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Ran(lab, status, took, None, [])
    wrong = faults(result)
    return Ran(lab, status, took, None if wrong else result, wrong)


def table(rows: list[tuple[str, ...]]) -> str:
    """Columns side by side, to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def report(ran: list[Ran]) -> int:
    """Print invariants, what was skipped and what failed; the status to end with."""
    rows = [row for one in ran for row in one.checks]
    print("\n" + table([("lab", "setting", "invariant", "predicted", "measured", "equal"), *rows]))
    for title, found in (
        ("Skipped", [line for one in ran for line in one.skipped]),
        ("Failed", [line for one in ran for line in one.failed]),
    ):
        if found:
            print(f"\n{title}:", *found, sep="\n  ")
    bad = sum(bool(one.failed) for one in ran)
    equal = sum(row[5] == "yes" for row in rows)
    print(f"\n{equal} of {len(rows)} invariants hold; {len(ran) - bad} of {len(ran)} labs ran as they should")
    return 1 if bad else 0
