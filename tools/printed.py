"""What the Python blocks of the pages print is kept; the site's hook around markdown-exec.

A block runs again when its code or any file of SOURCES changed. One that reads another file of the project stops the
build: its kept result would not know when that file changes. Blocks with a session share variables and always run.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from markdown_exec._internal.formatters import python as executor
from mkdocs.config.defaults import MkDocsConfig
from pymdownx.superfences import SuperFencesException

from tools import kept

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    "bench",
    "snippets",
    "tools",
    "labs",
    "docs/glossary.md",
    "docs/about/browsers.json",
    "mkdocs.yml",
    "requirements/site.lock",
)
ENVIRONMENT = ("SITE_URL", "REPO_URL")  # what blocks may read of it
BESIDE = (".venv", ".cache", "node_modules")  # the environment, which requirements/site.lock stands for
_READS = ("open", "os.listdir", "os.scandir")


def outside(place: str) -> str:
    """The file of the project that is none of SOURCES, as it is called there; empty for any other file."""
    path = Path(os.path.abspath(place))
    if not path.is_relative_to(ROOT) or "__pycache__" in path.parts:
        return ""
    name = path.relative_to(ROOT)
    known = (name.parts[:1] and name.parts[0] in BESIDE) or any(name.is_relative_to(source) for source in SOURCES)
    return "" if known else name.as_posix()


class Watch:
    """Notes which files of the project are read while a block runs, and are none of SOURCES."""

    def __init__(self) -> None:
        self.running = False
        self.listens = False
        self.found: set[str] = set()

    def _event(self, event: str, given: tuple[Any, ...]) -> None:
        if self.running and event in _READS and isinstance(given[0], str | os.PathLike):
            self.found.add(outside(os.fspath(given[0])))

    @contextmanager
    def over(self, code: str) -> Iterator[None]:
        """Watch a run. After it raises SuperFencesException, which no fence swallows, for a file outside SOURCES."""
        if not self.listens:
            sys.addaudithook(self._event)  # there is no way to take one away again
            self.listens = True
        self.running, self.found = True, set()
        try:
            yield
        finally:
            self.running = False
        if others := sorted(self.found - {""}):
            raise SuperFencesException(
                f"a Python block reads {', '.join(others)}, of which its kept result knows nothing: "
                f"add it to SOURCES in tools/printed.py\n\n{code}"
            )


_watch = Watch()
_run = executor._run_python


class Results:
    """Runs blocks, or knows what they print."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, code: str, **how: Any) -> str:
        """As markdown-exec runs it; a block that fails is not kept."""
        if how.get("session"):
            return _run(code, **how)

        def printed() -> bytes:
            with _watch.over(code):
                return _run(code, **how).encode()

        asked = json.dumps([code, how, os.getcwd(), os.environ.get("COLUMNS")], sort_keys=True)
        return kept.kept(self.folder / kept.digest(asked.encode()), printed).decode()


def on_config(config: MkDocsConfig) -> None:
    """Let markdown-exec ask here first."""
    read = "\0".join(os.environ.get(name, "") for name in ENVIRONMENT)
    key = kept.digest(read.encode(), kept.digest_of(kept.files_in(SOURCES)).encode())
    executor._run_python = Results(kept.folder("printed", key)).run  # type: ignore[assignment]
