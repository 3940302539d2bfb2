"""The system's Chromium, and the built site served for it."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright

from tools import serve

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
WAIT_S = 90


def path() -> str:
    """Where Chromium is. Raises SystemExit when there is none."""
    found = next((found for name in NAMES if (found := shutil.which(name))), None)
    if found is None:
        raise SystemExit("no Chromium on the path: run `make chromium`")
    return found


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Address of a folder, as static hosts serve it: packed, with names that last kept by the browser."""
    server = serve.start(folder, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@contextmanager
def profile() -> Iterator[BrowserContext]:
    """A browser that has never run; what it keeps lasts until it closes."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder,
        sync_playwright() as running,
    ):
        context = running.chromium.launch_persistent_context(
            folder, executable_path=path(), args=QUIET, viewport={"width": 1280, "height": 900}
        )
        yield context
        context.close()


def until(page: Page, expression: str) -> Any:
    """Wait until JavaScript gives something true. The pages' policy forbids Playwright's own waiting."""
    end = time.monotonic() + WAIT_S
    while not (value := page.evaluate(expression)):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {WAIT_S} s at {page.url}: {expression}")
        page.wait_for_timeout(5)
    return value


def live(page: Page) -> None:
    """Wait until every widget of the page has answered."""
    until(
        page,
        """[...document.querySelectorAll('serving-widget')].map((one) => {
          one.dispatchEvent(new Event('pointerenter'));
          return one.answered && one.settled;
        }).every(Boolean)""",
    )
