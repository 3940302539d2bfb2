"""The pages' Content-Security-Policy, read from mkdocs.yml: as headers for hosts that take them, and the hashes in it.

`python -m tools.policy site` prints the hashes of a built site's inline scripts; `--write` puts them into mkdocs.yml.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / "mkdocs.yml"
_RUNS = {None, "", "text/javascript", "module", "application/javascript"}
# What a page's own head cannot say.
_FRAMES = "frame-ancestors 'none'"
_OTHER_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}


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


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml as far as it is plain data."""


_Loader.add_multi_constructor("", lambda loader, suffix, node: None)


@cache
def _extra() -> Mapping[str, Any]:
    extra: Mapping[str, Any] = yaml.load(CONFIG.read_text(encoding="utf-8"), Loader=_Loader)["extra"]
    return extra


def rules() -> dict[str, str]:
    """What is allowed, by rule, without the hashes."""
    return dict(_extra()["policy"])


def content() -> str:
    """The policy as the pages carry it."""
    said = rules()
    said["script-src"] = " ".join([said["script-src"], *(f"'{one}'" for one in _extra()["script_hashes"])])
    return "; ".join(f"{name} {sources}" for name, sources in said.items())


def headers() -> dict[str, str]:
    """What a host should send with every file, by header: the pages' policy, and what their head cannot say."""
    return {"Content-Security-Policy": f"{content()}; {_FRAMES}", **_OTHER_HEADERS}


def headers_file() -> str:
    """`_headers`, which Netlify, Cloudflare Pages and others read at the root of a site."""
    return "\n".join(["/*", *(f"  {name}: {value}" for name, value in headers().items()), ""])


def nginx() -> str:
    """The same for nginx, to stand in a `server` block."""
    return "\n".join(f'add_header {name} "{value}" always;' for name, value in headers().items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    hashes = script_hashes(args.site)
    print("\n".join(hashes))
    if args.write:
        lines = "".join(f'\n    - "{one}"' for one in hashes) or " []"
        text = re.sub(
            r"script_hashes:(?: \[\]|(?:\n    - .*)+)", lambda _: f"script_hashes:{lines}", CONFIG.read_text()
        )
        CONFIG.write_text(text)


if __name__ == "__main__":
    main()
