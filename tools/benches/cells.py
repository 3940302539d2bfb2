"""Stopping a reader's endless loop: until it says so, and until another program has printed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tools.benches import chrome
from tools.benches.row import Row, middle

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "bench"))
import stop_cell

MOST_STOP_MS = 500
MOST_USABLE_MS = 2000


def rows(site: Path) -> Iterator[Row]:
    """Two figures of the same loops."""
    with chrome.served(site) as address, chrome.profile() as context:
        stopped, usable = stop_cell.measure(context.new_page(), address)
    for what, times, most in (
        ("stopped", stopped, MOST_STOP_MS),
        ("stopped, and another program has printed", usable, MOST_USABLE_MS),
    ):
        name = f"Endless loop in a cell: {what}"
        yield Row(name, middle(times), "ms", len(times), "the slowest", max(times), most=most)
