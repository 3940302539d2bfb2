"""Lighthouse's performance score of three kinds of page, beside the bare theme with the same text, in turns."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tools.benches.row import Row

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "bench"))
import lighthouse

RUNS = 5


def rows(site: Path) -> Iterator[Row]:
    """A median for each kind of page."""
    for kind, both in lighthouse.performance(site, RUNS).items():
        score, bare = both["ours"]["performance"], both["bare"]["performance"]
        what = f"Lighthouse performance, mobile: {kind}"
        blocked = both["ours"]["total-blocking-time"]
        note = f"first paint {both['ours']['first-contentful-paint']:.0f} ms, blocked {blocked:.0f} ms"
        yield Row(what, score, "", RUNS, "the bare theme", bare, least=max(lighthouse.ENOUGH, bare), note=note)
