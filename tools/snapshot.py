"""Python's memory after its first answers, as a file the browser starts from: made once for the same sources.

Two snapshots of the same sources differ in a few bytes, so the file is named by its own hash and kept by its sources'.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools import kept

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "tools" / "snapshot.mjs"
PYODIDE = ROOT / "node_modules" / "pyodide"
GZIP_LEVEL = 6  # level 9 saves one part in a hundred and takes six times as long


@dataclass(frozen=True)
class Snapshot:
    """The compressed memory, and what a browser checks before it trusts it."""

    packed: bytes
    memory_bytes: int

    @property
    def name(self) -> str:
        """File name, by content. No `.gz`: some hosts would unpack such a file on the way."""
        return f"python-{hashlib.sha256(self.packed).hexdigest()[:12]}.bin"

    @property
    def integrity(self) -> str:
        """As `fetch` takes it."""
        return "sha256-" + base64.b64encode(hashlib.sha256(self.packed).digest()).decode()


def _made_from(archive: bytes) -> str:
    return kept.digest(archive, SCRIPT.read_bytes(), (PYODIDE / "pyodide.asm.wasm").read_bytes())


def _make(archive: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "snippets.zip"), Path(folder, "memory.bin")
        source.write_bytes(archive)
        subprocess.run(["node", SCRIPT, source, target], cwd=ROOT, check=True)
        return target.read_bytes()


def is_kept(archive: bytes) -> bool:
    """Whether the snapshot is there already; making it takes seconds."""
    return (kept.CACHE / "snapshot" / _made_from(archive)).exists()


def snapshot(archive: bytes) -> Snapshot:
    """The snapshot with this archive of snippets/ imported; kept, and made anew when a source of it changed."""
    packed = kept.one("snapshot", _made_from(archive), lambda: gzip.compress(_make(archive), GZIP_LEVEL, mtime=0))
    return Snapshot(packed, len(gzip.decompress(packed)))


def lock() -> str:
    """What Pyodide wants to know of its packages, without the packages: the page loads none."""
    return json.dumps({"info": json.loads((PYODIDE / "pyodide-lock.json").read_text())["info"], "packages": {}})
