"""What a page of each kind loads before its reader does anything, as a static host sends it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools import browser
from tools.benches import chrome
from tools.benches.row import Row

PAGES = {
    "Home": "",
    "A lesson": "lessons/kv-cache/",
    "An explorer": "explore/kv-cache/",
    "The planner": "tools/planner/",
    "A lab": "labs/serve-kv/",
    "A notebook": "notebooks/with-and-without-the-cache/",
    "An interview question": "interview/kv-cache-throughput-ceiling/",
    "The glossary": "glossary/",
}
MOST_BYTES = 350_000


def loaded(address: str) -> tuple[int, int]:
    """Bytes over the wire, headers too, and requests, until the page stands still."""
    sizes: list[float] = []
    with chrome.profile() as context:
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Network.enable")

        def finished(event: dict[str, Any]) -> None:
            sizes.append(event["encodedDataLength"])

        session.on("Network.loadingFinished", finished)
        page.goto(address, wait_until="networkidle")
        page.wait_for_timeout(1000)
        return int(sum(sizes)), len(sizes)


def rows(site: Path) -> Iterator[Row]:
    """One page of each kind."""
    with browser.served(site) as address:
        for kind, path in PAGES.items():
            sent, requests = loaded(address + path)
            yield Row(f"{kind}: sent before the reader does anything", sent, "bytes", 1, most=MOST_BYTES,
                      note=f"{requests} requests")  # fmt: skip
