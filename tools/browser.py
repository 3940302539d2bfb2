"""The system's browsers, and a folder served for them as static hosts serve it: for tests and measurements."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools import serve

COMMANDS = {"chromium": ("chromium", "chromium-browser", "google-chrome"), "firefox": ("firefox-esr", "firefox")}
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync")  # fmt: skip


def find(browser: str) -> str:
    """Path of a browser's program. Raises FileNotFoundError with the way out."""
    found = next((path for name in COMMANDS[browser] if (path := shutil.which(name))), None)
    if found is None:
        raise FileNotFoundError(f"no {COMMANDS[browser][0]} on the path: run `make {browser}`, or install it")
    return found


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder, while it is needed."""
    server = serve.start(folder, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
