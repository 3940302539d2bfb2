"""The page about speed says what was recorded, missed targets too, and nothing where nothing was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.benches import page
from tools.benches.row import Row

ROWS = [
    ("start", Row("First answer", 900, "ms", 5, "plain start", 3000, most_ratio=0.3)),
    ("pages", Row("Lighthouse: lesson", 0.93, "", 5, "the bare theme", 0.98, least=0.98, note="blocked 300 ms")),
]
RECORD = {
    "date": "2026-11-29",
    "machine": {"processor": "A chip", "cores": 2, "memory_gib": 23.5, "load_before": 0.1},
    "versions": {"Chromium": "156.0"},
    "rows": [{"part": part, **row.as_json()} for part, row in ROWS],
}


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "LATEST", tmp_path / "latest.json")
    page.LATEST.write_text(json.dumps(RECORD))


def test_date_machine_and_versions_stand_with_the_figures(recorded: None) -> None:
    said = page.provenance()
    assert all(one in said for one in ("2026-11-29", "2 cores (A chip)", "23.5 GiB", "load 0.1", "Chromium 156.0"))


def test_a_figure_stands_beside_its_yardstick_and_target(recorded: None) -> None:
    lines = page.tables().splitlines()
    assert "| First answer | 900 ms | plain start: 3,000 ms (0.30 of it) | at most 0.3 of it: met |" in lines
    missed = "| 0.930 | the bare theme: 0.980 | at least 0.980: **missed** |"
    assert f"| Lighthouse: lesson <small>(blocked 300 ms)</small> {missed}" in lines


def test_a_part_without_figures_has_no_heading(recorded: None) -> None:
    assert "## Until Python answers" in page.tables()
    assert "Building" not in page.tables()


def test_without_a_record_the_page_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "LATEST", tmp_path / "none.json")
    assert (page.provenance(), page.tables()) == (page.NOTHING, "")
