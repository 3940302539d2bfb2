"""What takes long to make is kept under .cache, by the hash of everything it is made from. Time plays no part."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".cache"
STATES = 4  # of the sources whose results stay


def digest(*parts: bytes) -> str:
    """Sixteen hex digits for these bytes in this order."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()[:16]


def files_in(places: Iterable[str], root: Path = ROOT) -> list[Path]:
    """Files under these folders, and these files, in order; without what Python writes beside its sources."""
    found = [
        path for place in places for path in ((root / place).rglob("*") if (root / place).is_dir() else [root / place])
    ]
    return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)


def digest_of(files: Iterable[Path], root: Path = ROOT) -> str:
    """One digest for names and contents of files, and for the Python that reads them."""
    named = (part for path in files for part in (path.relative_to(root).as_posix().encode(), path.read_bytes()))
    return digest(sys.version.encode(), *named)


def kept(target: Path, make: Callable[[], bytes]) -> bytes:
    """The bytes that a file of the cache holds; made when there is none. A build that dies leaves no half of it."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(f"{target.name}.new")
        new.write_bytes(make())
        new.replace(target)
    return target.read_bytes()


def one(kind: str, key: str, make: Callable[[], bytes]) -> bytes:
    """The one thing of its kind that this key stands for. A few older ones stay, for the way back to another branch."""
    found = kept(CACHE / kind / key, make)
    os.utime(CACHE / kind / key)
    only_newest(CACHE / kind, STATES)
    return found


def folder(kind: str, key: str) -> Path:
    """The same for many things under one key: a folder for them."""
    found = CACHE / kind / key
    found.mkdir(parents=True, exist_ok=True)
    os.utime(found)
    only_newest(CACHE / kind, STATES)
    return found


def only_newest(folder: Path, number: int) -> None:
    """Forget all but the entries of a folder that were used last."""
    entries = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True) if folder.exists() else []
    for old in entries[number:]:
        if old.is_dir():
            shutil.rmtree(old, ignore_errors=True)
        else:
            old.unlink(missing_ok=True)
