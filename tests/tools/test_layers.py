"""snippets/ runs anywhere Python runs, and its floors import downwards only."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "snippets").rglob("*.py"))
# Lowest first; a module that is not named stands on its folder's floor, a file of snippets/ itself on that of planner/.
FLOORS = [
    {"units", "kv_cache_size", "sources", "tiny_transformer"},
    {"model_config"},
    {"catalog"},
    {"planner"},
    {"sim"},
    {"draw"},
    {"widgets"},
    {"figures"},
]
PLANNER = FLOORS.index({"planner"})


def floor(parts: tuple[str, ...]) -> int:
    """The floor of a module given by its dotted name below snippets."""
    return next((i for i, names in enumerate(FLOORS) if parts and parts[0] in names), PLANNER)


def imported(path: Path) -> set[tuple[str, ...]]:
    """The modules a file imports, as parts of their dotted names; `from package import name` counts as both."""
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {tuple(alias.name.split(".")) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are written from the root"
            base = tuple((node.module or "").split("."))
            found |= {(*base, alias.name) for alias in node.names} if base == ("snippets",) else {base}
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_module_needs_only_the_standard_library(path: Path) -> None:
    others = {parts[0] for parts in imported(path)} - {"snippets"} - sys.stdlib_module_names
    assert others == set()


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_module_imports_from_its_own_floor_or_lower(path: Path) -> None:
    own = floor(path.relative_to(ROOT / "snippets").with_suffix("").parts)
    above = {".".join(parts) for parts in imported(path) if parts[0] == "snippets" and floor(parts[1:]) > own}
    assert above == set()
