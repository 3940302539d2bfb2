"""The pages' Content-Security-Policy lists the theme's inline scripts, these and no others."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tools import policy

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / os.environ.get("SITE", "site")
PAGES = sorted(SITE.rglob("*.html"))


def test_the_site_is_built() -> None:
    assert PAGES, "run `make site` first"


def test_configuration_lists_the_inline_scripts_of_the_built_site() -> None:
    listed = re.findall(r'^    - "(sha256-.+)"$', (ROOT / "mkdocs.yml").read_text(), re.M)
    assert listed == policy.script_hashes(SITE), "run `make policy` after looking at what changed"


def test_every_page_carries_the_policy() -> None:
    for page in PAGES:
        content = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page.read_text(encoding="utf-8"))
        assert content, page
        rules = dict(rule.strip().split(" ", 1) for rule in content[1].split(";"))
        assert "'unsafe-inline'" not in content[1], page
        assert "'unsafe-eval'" not in content[1], page
        assert {rules[name] for name in ("default-src", "style-src", "connect-src")} == {"'self'"}, page


def test_only_scripts_that_run_inline_are_hashed(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        '<script>1</script><script src="a.js"></script><script type="application/json">{}</script>'
    )
    # The SHA-256 of "1" in base64.
    assert policy.script_hashes(tmp_path) == ["sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s="]
