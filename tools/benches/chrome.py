"""Chromium with a profile of its own, and waiting for its pages."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import BrowserContext, Page, sync_playwright

from tools import browser

WAIT_S = 90


@contextmanager
def profile() -> Iterator[BrowserContext]:
    """A browser that has never run; what it keeps lasts until it closes."""
    with (
        tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder,
        sync_playwright() as running,
    ):
        context = running.chromium.launch_persistent_context(
            folder,
            executable_path=browser.find("chromium"),
            args=[*browser.QUIET],
            viewport={"width": 1280, "height": 900},
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
