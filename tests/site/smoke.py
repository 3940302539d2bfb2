"""Both browsers over the built site; `python tests/site/smoke.py SITE` writes what the page about browsers says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree

from tools import browser, serve

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "docs" / "about" / "browsers.json"
KINDS = {"chrome": "chromium", "firefox": "firefox"}  # the driver's names, and ours
LIMIT_S = 300


@dataclass(frozen=True)
class Smoke:
    """A browser's name and version, each check with what went wrong, and the paths that the host was asked for."""

    browser: str
    done: list[dict[str, Any]]
    asked: list[str]


def kinds_of_page(site: Path) -> list[str]:
    """The last page of each folder of the site, home, and the page for what is missing."""
    places = [one.text or "" for one in ElementTree.parse(site / "sitemap.xml").iter() if one.tag.endswith("loc")]
    paths = [place.removeprefix(places[0]) for place in places]
    folders = dict.fromkeys(path.partition("/")[0] for path in paths)
    return [[path for path in paths if path.partition("/")[0] == folder][-1] for folder in folders] + ["404.html"]


def run(kind: str, site: Path) -> Smoke:
    """Drive one browser over a site of its own address."""
    asked: list[str] = []

    class Noting(serve.Handler):
        def do_GET(self) -> None:
            asked.append(urlsplit(self.path).path[1:])
            super().do_GET()

    server = serve.Server(("127.0.0.1", 0), partial(Noting, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    driver = [
        "node",
        str(Path(__file__).with_suffix(".mjs")),
        kind,
        browser.find(KINDS[kind]),
        address,
        *kinds_of_page(site),
    ]
    environment = os.environ | {"CHROMIUM_FLAGS": " ".join(browser.QUIET)}
    with subprocess.Popen(
        driver, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin and running.stdout
        limit = threading.Timer(LIMIT_S, running.kill)
        limit.start()
        said = running.stdout.readline()
        server.shutdown()
        server.server_close()
        if said == "offline?\n":
            running.stdin.write("stopped\n")
            running.stdin.flush()
            said = running.stdout.readline()
        limit.cancel()
    return Smoke(asked=asked, **json.loads(said))


def main() -> None:
    site = Path(sys.argv[1])
    smokes = [run(kind, site) for kind in KINDS]
    if failed := [check for smoke in smokes for check in smoke.done if check["wrong"]]:
        raise SystemExit(f"nothing written, since a check failed: {json.dumps(failed, indent=1)}")
    record = {
        "date": datetime.now(UTC).date().isoformat(),
        "browsers": [smoke.browser.replace("/", " ") for smoke in smokes],
        "checks": [check["name"] for check in smokes[0].done],
    }
    RECORD.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
