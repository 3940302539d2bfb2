"""Writes spec_answers.jsonl: random lines of layer specs with vLLM 0.26.0's answers, for `make test` to check by.

usage: make oracle-answers
Each line is [question, answer]; "log_lines": true is asked and not stored. Long ones are left out.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from asking import Oracle
from hypothesis import HealthCheck, Phase, given, settings
from spec_cases import Line, lines
from spec_compare import SCRIPT, outcome

WANTED = {"plans": 600, "errors": 240, "failed assertions": 100}
LONGEST = 1100  # characters of question and answer


def drawn(number: int) -> list[Line]:
    """Distinct lines, in the order in which Hypothesis makes them."""
    found: dict[str, Line] = {}

    @settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(lines())
    def keep(line: Line) -> None:
        found.setdefault(json.dumps(line), line)

    keep()
    return list(found.values())


def main(oracle_python: str) -> None:
    kept: Counter[str] = Counter()
    with Oracle([Path(oracle_python), SCRIPT]) as oracle:
        for line in drawn(4000):
            answer = oracle.ask(line)
            del line["log_lines"]
            text = json.dumps([line, answer], separators=(",", ":"), ensure_ascii=False)
            kind = outcome(answer)
            if len(text) <= LONGEST and kept[kind] < WANTED[kind]:
                kept[kind] += 1
                print(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
