"""The browser's modules as the site publishes them: each entry is one minified file, so that a page waits for one
answer of its host and not for a chain of thirty. The same sources give the same bytes.
"""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

from tools import kept

ROOT = Path(__file__).resolve().parent.parent
LIVE = ROOT / "live"
ESBUILD = ROOT / "node_modules" / ".bin" / "esbuild"
# What every page loads, the two workers, and the code editor, which loads when somebody edits.
ENTRIES = ("main.mjs", "worker.mjs", "cell_worker.mjs", "editor/editor.mjs")
APART = ("./paths.mjs", "./editor.mjs")  # written at build; loaded on use


def _bundle(entry: str) -> bytes:
    command = [str(ESBUILD), str(LIVE / entry), "--bundle", "--format=esm", "--minify", "--target=es2022"]
    command += ["--charset=utf8", "--log-level=warning", *(f"--external:*{name[1:]}" for name in APART)]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout


def bundles() -> dict[str, bytes]:
    """The modules by file name; kept until a source or a package changes."""
    made_from = kept.digest_of([*kept.files_in(["live"]), Path(__file__), ROOT / "package-lock.json"])
    folder = kept.folder("modules", made_from)
    return {Path(entry).name: kept.kept(folder / Path(entry).name, partial(_bundle, entry)) for entry in ENTRIES}
