"""The code editor of cells, bundled into one module. The same sources give the same bytes."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "live" / "editor" / "editor.mjs"
ESBUILD = ROOT / "node_modules" / ".bin" / "esbuild"
KEPT = ROOT / ".cache" / "editor"


def _made_from() -> str:
    parts = (SOURCE, Path(__file__), ROOT / "package-lock.json")
    return hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()[:16]


def bundle() -> bytes:
    """One minified module that needs no other; kept until its source or a package changes."""
    kept = KEPT / f"{_made_from()}.mjs"
    if not kept.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        for old in KEPT.iterdir():
            old.unlink()
        command = [str(ESBUILD), str(SOURCE), "--bundle", "--format=esm", "--minify", "--target=es2022"]
        made = subprocess.run(
            [*command, "--charset=utf8", "--log-level=warning"], cwd=ROOT, check=True, capture_output=True
        )
        new = kept.with_suffix(".new")
        new.write_bytes(made.stdout)
        new.rename(kept)
    return kept.read_bytes()
