"""The hashes of the inline scripts in a built site, which the pages' Content-Security-Policy must list.

`python -m tools.policy site` prints them; `--write` puts them into mkdocs.yml.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_RUNS = {None, "", "text/javascript", "module", "application/javascript"}


class _InlineScripts(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.scripts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag == "script" and "src" not in named and named.get("type") in _RUNS:
            self._inside = True
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._inside = False


def script_hashes(site: Path) -> list[str]:
    """SHA-256 of every inline script of every page, sorted, as a policy writes them without quotes."""
    found: set[str] = set()
    for page in site.rglob("*.html"):
        parser = _InlineScripts()
        parser.feed(page.read_text(encoding="utf-8"))
        for script in parser.scripts:
            found.add("sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode())
    return sorted(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    hashes = script_hashes(args.site)
    print("\n".join(hashes))
    if args.write:
        config = ROOT / "mkdocs.yml"
        lines = "".join(f'\n    - "{one}"' for one in hashes) or " []"
        text = re.sub(
            r"script_hashes:(?: \[\]|(?:\n    - .*)+)", lambda _: f"script_hashes:{lines}", config.read_text()
        )
        config.write_text(text)


if __name__ == "__main__":
    main()
