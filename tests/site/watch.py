"""What goes wrong on the pages of a test."""

from __future__ import annotations

from dataclasses import dataclass, field

from playwright.sync_api import ConsoleMessage, Page


@dataclass
class Watch:
    """What went wrong on the pages of a test; `expected` is text that may stand in it."""

    wrong: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)

    def follow(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.wrong.append(f"{page.url}: {error}"))
        page.on("console", lambda message: self._console(page, message))
        page.on("request", lambda request: self._request(page, request.url))

    def _console(self, page: Page, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"{page.url}: {message.text}")

    def _request(self, page: Page, url: str) -> None:
        if not url.startswith(("http://127.0.0.1:", "blob:", "data:")):
            self.wrong.append(f"{page.url} asks for {url}")

    def check(self) -> None:
        assert [text for text in self.wrong if not any(known in text for known in self.expected)] == []
