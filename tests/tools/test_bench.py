"""What `make bench` says of a figure, and what it is compared with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools import bench
from tools.benches import start
from tools.benches.row import Row, number, p95


def test_p95_is_the_95th_of_100() -> None:
    assert p95([float(value) for value in range(100, 0, -1)]) == 95


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(812.4, "ms", "812 ms"), (0.615, "ms", "0.615 ms"), (239_145, "bytes", "239,145 bytes"), (0, "ms", "0 ms")],
)
def test_a_value_is_written_to_three_digits(value: float, unit: str, text: str) -> None:
    assert number(value, unit) == text


@pytest.mark.parametrize(
    ("row", "met"),
    [
        (Row("a", 900, "ms", 5, "plain", 3000, most_ratio=0.3), True),
        (Row("a", 901, "ms", 5, "plain", 3000, most_ratio=0.3), False),
        (Row("a", 900, "ms", 5, most_ratio=0.3), False),  # nothing to be a share of
        (Row("a", 0.96, "", 5, "bare theme", 0.97, least=0.97), False),
        (Row("a", 8.1, "ms", 200, most=8), False),
        (Row("a", 8, "ms", 200, most=8), True),
        (Row("a", 8, "ms", 200), None),
    ],
)
def test_a_figure_meets_what_is_asked_of_it(row: Row, met: bool | None) -> None:
    assert row.is_met is met


def test_the_table_shows_value_yardstick_share_and_target() -> None:
    text = bench.table([Row("Start", 900, "ms", 5, "plain", 3000, most_ratio=0.3)])
    assert re.split(" {2,}", text.splitlines()[1]) == [
        "Start",
        "900 ms",
        "plain 3,000 ms",
        "0.30",
        "at most 0.3 of it",
        "met",
    ]


def test_the_fences_page_asks_no_other_host(tmp_path: Path) -> None:
    page = (start.fence_site(tmp_path) / "index.html").read_text()
    scripts = re.findall(r"<script src=\"(.*?)\"", page)
    assert {"pyodide/pyodide.js", "assets/_markdown_exec_pyodide.js"} <= set(scripts)
    assert not any(re.match(r"(?:\w+:)?//", one) for one in scripts)
