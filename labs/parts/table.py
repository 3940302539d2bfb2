"""A small table for the terminal."""

from __future__ import annotations


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """The first column to the left, the others to the right, two spaces between."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines
    )
