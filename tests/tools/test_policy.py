"""The pages' Content-Security-Policy lists the theme's inline scripts, these and no others."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from urllib.parse import urljoin

from tools import policy

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / os.environ.get("SITE", "site")
PAGES = sorted(SITE.rglob("*.html"))


def test_the_site_is_built() -> None:
    assert PAGES, "run `make site` first"


def test_configuration_lists_the_inline_scripts_of_the_built_site() -> None:
    listed = re.findall(r'^    - "(sha256-.+)"$', (ROOT / "mkdocs.yml").read_text(), re.M)
    assert listed == policy.script_hashes(SITE), "run `make policy` after looking at what changed"


# What is allowed, written out: a rule that is loosened fails here, wherever it is written.
STRICT = {
    "default-src": {"'none'"},
    "script-src": {"'self'", "'wasm-unsafe-eval'"},
    "style-src": {"'self'"},
    "img-src": {"'self'", "data:"},
    "font-src": {"'self'"},
    "connect-src": {"'self'"},
    "manifest-src": {"'self'"},
    "worker-src": {"'self'", "blob:"},
    "object-src": {"'none'"},
    "base-uri": {"'none'"},
    "form-action": {"'self'"},
}


def read(policy_text: str) -> dict[str, set[str]]:
    """Sources by rule, without the hashes."""
    rules = (rule.split() for rule in policy_text.split(";"))
    return {name: {one for one in sources if not one.startswith("'sha256-")} for name, *sources in rules}


def of_page(page: Path) -> str:
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page.read_text(encoding="utf-8"))
    assert found, page
    return found[1]


def test_every_page_carries_the_strict_policy_before_anything_it_could_load() -> None:
    for page in PAGES:
        assert read(of_page(page)) == STRICT, page
        before = page.read_text(encoding="utf-8").partition('http-equiv="Content-Security-Policy"')[0]
        assert not re.search(r"<script|stylesheet|<img|preload", before), page
        assert '<meta name="referrer" content="no-referrer">' in before, page


def test_the_headers_say_what_the_pages_say_and_that_no_site_may_frame_them() -> None:
    written = SITE.joinpath("_headers").read_text()
    assert written.startswith("/*\n  Content-Security-Policy: ")
    said = written.partition("Content-Security-Policy: ")[2].partition("\n")[0]
    assert said == of_page(SITE / "index.html") + "; frame-ancestors 'none'"
    page = html.unescape(re.sub(r"<[^>]+>", "", SITE.joinpath("about/security/index.html").read_text()))
    assert f'add_header Content-Security-Policy "{said}" always;' in page
    for line in written.splitlines()[2:]:
        name, _, value = line.strip().partition(": ")
        assert f'add_header {name} "{value}" always;' in page


def test_each_allowance_beyond_the_site_itself_has_its_reason_on_the_page() -> None:
    page = (ROOT / "docs/about/security.md").read_text()
    for name, sources in STRICT.items():
        for source in sources - {"'self'", "'none'"}:
            assert f"\n| `{source if name == 'script-src' else f'{name} {source}'}` | " in page
    assert "\n| hashes of scripts | " in page


def test_security_and_privacy_are_one_click_from_every_page() -> None:
    for page in PAGES:
        link = re.search(r'href="([^"]*)">security and privacy</a>', page.read_text(encoding="utf-8"))
        assert link, page
        assert (
            urljoin(f"https://host.example/{page.relative_to(SITE)}", link[1]) == "https://host.example/about/security/"
        )


def test_only_scripts_that_run_inline_are_hashed(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        '<script>1</script><script src="a.js"></script><script type="application/json">{}</script>'
    )
    # The SHA-256 of "1" in base64.
    assert policy.script_hashes(tmp_path) == ["sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s="]
