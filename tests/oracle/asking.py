"""A running oracle to ask line by line, and the tally of a comparison."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

Answer = dict[str, Any]


class Oracle:
    """A script in the oracle's environment that answers one JSON line per JSON line."""

    def __init__(self, command: Sequence[str | Path]) -> None:
        self._process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, line: object) -> Answer:
        """Its answer. Raises RuntimeError when the process has ended."""
        stdin, stdout = self._pipes()
        stdin.write(json.dumps(line) + "\n")
        stdin.flush()
        answer = stdout.readline()
        if not answer:
            raise RuntimeError(f"the oracle ended at {json.dumps(line)}")
        found: Answer = json.loads(answer)
        return found

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def __enter__(self) -> Oracle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pipes()[0].close()
        self._process.wait(timeout=60)


@dataclass
class Tally:
    """What a comparison found."""

    name: str
    outcomes: Counter[str] = field(default_factory=Counter)  # "plan", "error", … → cases compared
    different: list[str] = field(default_factory=list)  # one text per case that differs

    @property
    def compared(self) -> int:
        return sum(self.outcomes.values())

    def report(self) -> str:
        parts = ", ".join(f"{number:,} {outcome}" for outcome, number in self.outcomes.most_common())
        return f"{self.name}: cases compared: {self.compared:,} ({parts}); different: {len(self.different)}"
