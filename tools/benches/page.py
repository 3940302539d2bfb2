"""bench/latest.json as Markdown, for docs/about/speed.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.benches.row import Row, number

LATEST = Path(__file__).resolve().parents[2] / "bench" / "latest.json"
NOTHING = "No measurement is recorded: `make bench` writes one."
PARTS = {
    "start": "Until Python answers",
    "slider": "While a slider is dragged",
    "weight": "Before the reader does anything",
    "cells": "A program that does not end",
    "pages": "Lighthouse",
    "builds": "Building the site",
    "planner": "The planner",
}


def _record() -> Any:
    return json.loads(LATEST.read_text(encoding="utf-8")) if LATEST.exists() else None


def provenance() -> str:
    """When, where and with what it was measured."""
    record = _record()
    if record is None:
        return NOTHING
    at, tools = record["machine"], record["versions"]
    listed = ", ".join(f"{name} {version}" for name, version in tools.items())
    return (
        f"Measured on {record['date']} on one machine: {at['cores']} cores ({at['processor']}), "
        f"{at['memory_gib']:g} GiB of memory, load {at['load_before']:g} before the run. {listed}."
    )


def _lines(rows: list[Row]) -> Iterator[str]:
    yield "| what | measured | beside it, in the same run | target |"
    yield "|---|--:|---|---|"
    for row in rows:
        beside = row.beside
        if row.yardstick is not None:
            share = f" ({row.ratio:.2f} of it)" if row.most_ratio is not None and row.ratio is not None else ""
            beside = f"{row.beside}: {number(row.yardstick, row.unit)}{share}"
        target = {True: f"{row.target}: met", False: f"{row.target}: **missed**", None: ""}[row.is_met]
        what = f"{row.what} <small>({row.note})</small>" if row.note else row.what
        yield f"| {what} | {number(row.value, row.unit)} | {beside} | {target} |"


def tables() -> str:
    """A heading and a table for each part."""
    record = _record()
    if record is None:
        return ""
    text = []
    for part, heading in PARTS.items():
        rows = [
            Row(**{key: value for key, value in one.items() if key != "part"})
            for one in record["rows"]
            if one["part"] == part
        ]
        if rows:
            text += [f"## {heading}", "", *_lines(rows), ""]
    return "\n".join(text)
