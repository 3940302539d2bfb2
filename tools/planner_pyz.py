"""Build planner.pyz: the planner as one file that Python 3.11+ runs with nothing installed.

`python -m tools.planner_pyz OUT.pyz`. The same sources give the same bytes: entries are sorted and carry no time.
"""

from __future__ import annotations

import ast
import io
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENTRY = "snippets.planner.command.run"
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
SHEBANG = b"#!/usr/bin/env python3\n"
# Old Pythons must be able to read this one; all other modules need 3.11.
MAIN = """\
import sys

if sys.version_info < (3, 11):
    sys.exit("planner.pyz needs Python 3.11 or newer; this is " + sys.version.split()[0])

from snippets.planner.command.run import main

sys.exit(main())
"""


def _file(name: str) -> Path | None:
    """The file of a dotted module name; None for what is not a module of ours."""
    base = ROOT.joinpath(*name.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.split(".")[0] == "snippets"}


def needed_files() -> list[Path]:
    """The modules that the command imports, their packages, and the data beside them."""
    waiting, seen = [ENTRY], set[Path]()
    while waiting:
        parts = waiting.pop().split(".")
        for end in range(1, len(parts) + 1):
            path = _file(".".join(parts[:end]))
            if path is not None and path not in seen:
                seen.add(path)
                waiting += sorted(_imported(path))
    data = {file for path in seen for file in path.parent.glob("*.json")}
    return sorted(seen | data)


def archive() -> bytes:
    """planner.pyz."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        entries = {"__main__.py": MAIN.encode()}
        entries |= {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in needed_files()}
        for name, content in sorted(entries.items()):
            info = zipfile.ZipInfo(name, ZIP_TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(info, content)
    return SHEBANG + buffer.getvalue()


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tools.planner_pyz OUT.pyz")
    Path(sys.argv[1]).write_bytes(archive())


if __name__ == "__main__":
    main()
