"""The code editor of cells, bundled into one module. The same sources give the same bytes."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tools import kept

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "live" / "editor" / "editor.mjs"
ESBUILD = ROOT / "node_modules" / ".bin" / "esbuild"


def _bundle() -> bytes:
    command = [str(ESBUILD), str(SOURCE), "--bundle", "--format=esm", "--minify", "--target=es2022"]
    return subprocess.run(
        [*command, "--charset=utf8", "--log-level=warning"], cwd=ROOT, check=True, capture_output=True
    ).stdout


def bundle() -> bytes:
    """One minified module that needs no other; kept until its source or a package changes."""
    return kept.one("editor", kept.digest_of([SOURCE, Path(__file__), ROOT / "package-lock.json"]), _bundle)
