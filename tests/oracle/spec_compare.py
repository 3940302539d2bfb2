"""Random layer specs: what vLLM's planning code answers, and what ours does. Equal means equal."""

from __future__ import annotations

import json
from pathlib import Path

from asking import Answer, Oracle, Tally
from hypothesis import HealthCheck, Phase, given, settings
from spec_cases import Line, lines

from snippets.planner.cache.spec_lines import answer

SCRIPT = Path(__file__).with_name("spec_oracle.py")
CASES = 15_000  # drawn; those that Hypothesis repeats are asked and counted once


def outcome(theirs: Answer) -> str:
    """What kind of answer vLLM gave."""
    if "raises" in theirs:
        return "failed assertions"
    return "errors" if "error" in theirs else "plans"


def agrees(theirs: Answer, ours: Answer) -> bool:
    """Every key equal. Where vLLM only fails an assertion we refuse, in our own words."""
    return "error" in ours if "raises" in theirs else ours == theirs


def compare(oracle_python: Path, cases: int = CASES) -> Tally:
    """Ask both about random lines until one differs (then the smallest such line is found) or all are asked."""
    tally = Tally("layer specs")
    seen: set[str] = set()
    with Oracle([oracle_python, SCRIPT]) as oracle:

        @settings(
            max_examples=cases,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(lines())
        def ask_both(line: Line) -> None:
            text = json.dumps(line)
            if text in seen:
                return
            theirs, ours = oracle.ask(line), answer(line)
            seen.add(text)
            tally.outcomes[outcome(theirs)] += 1
            assert agrees(theirs, ours), f"{text}\n  vLLM: {json.dumps(theirs)}\n  ours: {json.dumps(ours)}"

        try:
            ask_both()
        except AssertionError as difference:
            tally.different.append(str(difference))
    return tally
