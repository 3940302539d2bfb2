"""`make bench`: everything promised about speed in one table, each figure beside its yardstick of the same run.

usage: python -m tools.bench [--site SITE] [--parts start,slider]
Parts: start, slider, weight, cells, pages, builds, planner. A run of all parts writes bench/latest.json, which
docs/about/speed.md shows. The status is 1 when a figure misses its target.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from tools import browser
from tools.benches.row import Row, number

ROOT = Path(__file__).resolve().parent.parent
LATEST = ROOT / "bench" / "latest.json"
PARTS = ("start", "slider", "weight", "cells", "pages", "builds", "planner")
HEAD = ("what", "value", "beside it", "of it", "target", "")


def processor() -> str:
    """The processor's name, where the system says it."""
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        found = None
    return found[1] if found else platform.processor() or platform.machine()


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    memory = round(pages / 2**30, 1)
    load = round(os.getloadavg()[0], 2)
    return {"processor": processor(), "cores": os.cpu_count(), "memory_gib": memory, "load_before": load}


def said(*command: str) -> str:
    """What a program says of its version."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def versions() -> dict[str, str]:
    """What the figures were measured with."""
    found = {"Chromium": re.sub(r"^\D*", "", said(browser.find("chromium"), "--version")).split()[0]}
    found |= {"Python": platform.python_version(), "Node": said("node", "--version").removeprefix("v")}
    for name in ("mkdocs", "mkdocs-material", "markdown-exec"):
        found[name] = metadata.version(name)
    for name in ("pyodide", "lighthouse"):
        found[name] = json.loads((ROOT / "node_modules" / name / "package.json").read_text())["version"]
    return found


def cells(row: Row) -> tuple[str, ...]:
    """A row as the table shows it."""
    beside = f"{row.beside} {number(row.yardstick, row.unit)}" if row.yardstick is not None else row.beside
    verdict = {True: "met", False: "MISSED", None: ""}[row.is_met]
    share = f"{row.ratio:.2f}" if row.ratio is not None else ""
    return row.what, number(row.value, row.unit), beside, share, row.target, verdict


def table(rows: Sequence[Row]) -> str:
    """All rows, in columns."""
    lines = [HEAD, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", type=Path, default=ROOT / "site")
    parser.add_argument("--parts", default=",".join(PARTS))
    args = parser.parse_args()
    parts = args.parts.split(",")
    if unknown := sorted(set(parts) - set(PARTS)):
        parser.error(f"no part is called {', '.join(unknown)}; there are {', '.join(PARTS)}")
    found = {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "versions": versions()}
    measured: list[tuple[str, Row]] = []
    for part in parts:
        started = time.monotonic()
        for row in import_module(f"tools.benches.{part}").rows(args.site.resolve()):
            measured.append((part, row))
            print(" | ".join(filter(None, cells(row))), flush=True)
        print(f"-- {part}: {time.monotonic() - started:.0f} s", flush=True)
    rows = [row for _, row in measured]
    print("\n" + table(rows))
    if set(parts) == set(PARTS):
        whole = found | {"rows": [{"part": part, **row.as_json()} for part, row in measured]}
        LATEST.parent.mkdir(exist_ok=True)
        LATEST.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    missed = [row.what for row in rows if row.is_met is False]
    if missed:
        print(f"\nMissed: {'; '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
