"""The planner: its page from a change to the answer, and 10,000 plans beside vLLM's own planning code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tools import browser
from tools.benches import chrome, planner_page, plans
from tools.benches.row import Row, middle

ROOT = Path(__file__).resolve().parents[2]

RUNS = 3


def rows(site: Path) -> Iterator[Row]:
    """A figure for each control, one for a pasted config, one for the plans."""
    with browser.served(site) as address, chrome.profile() as context:
        page = context.new_page()
        for name, times in planner_page.answers(page, f"{address}tools/planner/").items():
            yield Row(f"Planner: answer after {name}", middle(times), "ms", len(times), "the slowest", max(times))
        longest = planner_page.pasted(page)
        note = "0: below 50 ms"
        yield Row("Planner: page stands still for a pasted config of 100 KB", longest, "ms", 1, note=note)
    questions = list(plans.lines())
    oracle = ROOT / os.environ.get("ORACLE_ENV", ".cache/oracle") / "bin" / "python"
    theirs = plans.vllms(questions, oracle) if oracle.is_file() else None
    beside, ratio = ("vLLM's own planning code", plans.BAR) if theirs else ("", None)
    note = "CPU time, slowest run" if theirs else "vLLM's own code was not run: `make oracle` builds its environment"
    what = f"{len(questions):,} plans of {len(plans.MODELS)} mixed models"
    yield Row(what, plans.ours(questions), "s", RUNS, beside, theirs, most_ratio=ratio, note=note)
