"""What every drawing is: a finding, the SVG drawn for one width, and the same data as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

Layout = Literal["wide", "narrow"]
LAYOUTS: tuple[Layout, ...] = ("wide", "narrow")
WIDTH_PX: dict[Layout, int] = {"wide": 680, "narrow": 320}


@dataclass(frozen=True)
class Table:
    """The numbers behind a drawing, for readers who cannot see it."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Figure:
    """One drawing. The finding is its title and its accessible name."""

    name: str  # unique on the page; ids inside the SVG start with it
    finding: str  # what the drawing shows, computed: "KV passes the weights at 53,829 tokens"
    svg: str
    detail: str = ""  # what to look for, after the finding
    table: Table = field(default_factory=lambda: Table((), ()))


Draw = Callable[[Layout], Figure]
"""A drawing still to be made for a width."""


def same_text(figures: Sequence[Figure]) -> bool:
    """Whether drawings of different widths say the same; the page prints their text once."""
    return len({(f.name, f.finding, f.detail, f.table) for f in figures}) == 1
