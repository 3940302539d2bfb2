"""The builder is the pinned one, uses nothing its successor would skip silently, and stops at a page that fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


class _AnyTag(yaml.SafeLoader):
    """Reads the structure and ignores what !ENV and !!python/name stand for."""


_AnyTag.add_multi_constructor("", lambda loader, suffix, node: suffix)
SETTINGS = yaml.load(CONFIG, Loader=_AnyTag)


def build(page: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Build one page, and what its hooks look for, with the site's own configuration."""
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text(page)
    for needed in ("stylesheets", "assets/live"):
        (folder / "docs" / needed).parent.mkdir(exist_ok=True)
        (folder / "docs" / needed).symlink_to(ROOT / "docs" / needed)
    config = folder / "mkdocs.yml"
    changed = {
        "INHERIT": str(ROOT / "mkdocs.yml"),
        "docs_dir": "docs",
        "site_dir": "site",
        "nav": ["index.md"],
        "extra_css": [],
        "extra_javascript": [],
        "theme": {"custom_dir": str(ROOT / "overrides")},
        "hooks": [str(ROOT / hook) for hook in SETTINGS.get("hooks", [])],
    }
    config.write_text(yaml.safe_dump(changed))
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config)]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    )


@pytest.mark.parametrize(("package", "version"), [("mkdocs", "1.6.1"), ("mkdocs-material", "9.8.2")])
def test_builder_is_pinned_to_the_version_the_decision_names(package: str, version: str) -> None:
    decision = (ROOT / "adr" / "0003-mkdocs-and-material.md").read_text(encoding="utf-8")
    assert f"{package} {version}" in decision
    assert re.search(rf"^{package}=={re.escape(version)} ", (ROOT / "requirements/site.lock").read_text(), re.M)


def test_notebooks_and_the_hooks_that_the_decision_names_are_all_that_the_successor_lacks() -> None:
    plugins = {plugin if isinstance(plugin, str) else next(iter(plugin)) for plugin in SETTINGS["plugins"]}
    assert plugins <= {"search", "markdown-exec", "mkdocs-jupyter"}
    decision = (ROOT / "adr" / "0003-mkdocs-and-material.md").read_text(encoding="utf-8")
    assert set(SETTINGS["hooks"]) == set(re.findall(r"`(tools/\w+\.py)`", decision))


def test_site_address_and_repository_come_from_the_environment() -> None:
    assert re.search(r"^site_url: !ENV \[SITE_URL, ", CONFIG, re.M)
    assert re.search(r"^repo_url: !ENV \[REPO_URL, ", CONFIG, re.M)


def test_make_builds_strictly_and_not_quietly() -> None:
    assert re.search(r"^\t\$\(PY\) -m tools\.build --site", (ROOT / "Makefile").read_text(), re.M)
    given = re.findall(r"cli\(\[(.*?)\]", (ROOT / "tools" / "build.py").read_text())
    assert [re.findall(r'"(.*?)"', one) for one in given] == [["build", "--strict", "--site-dir"]]


def test_sound_page_is_built(tmp_path: Path) -> None:
    done = build("# Page\n\n`#!fig 56 KiB = kib(kv_bytes_per_token(QWEN2_5_7B))`\n", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "56 KiB" in (tmp_path / "site" / "index.html").read_text()


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ('```python exec="1"\nraise ValueError("planted")\n```\n', "planted"),
        ("`#!fig 57 KiB = kib(kv_bytes_per_token(QWEN2_5_7B))`\n", "56 KiB"),
        ("`#!cite 96.3 % = no-such-source`\n", "no-such-source"),
        ("[nowhere](no-such-page.md)\n", "no-such-page.md"),
        ('```python exec="1"\nprint(len(open("README.md").read()))\n```\n', "add it to SOURCES"),
    ],
    ids=["failing code", "wrong figure", "unknown source", "dead link", "a file that kept results know nothing of"],
)
def test_build_stops_at(page: str, complaint: str, tmp_path: Path) -> None:
    done = build(f"# Page\n\n{page}", tmp_path)
    assert done.returncode != 0
    assert complaint in done.stdout + done.stderr


def test_a_link_to_the_repository_asks_no_other_host_for_its_stars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPO_URL", "https://github.com/owner/name")
    built = build("# A page\n", tmp_path)
    assert built.returncode == 0, built.stderr
    page = (tmp_path / "site" / "index.html").read_text()
    assert 'href="https://github.com/owner/name"' in page
    assert 'data-md-component="source"' not in page  # the theme's script calls the host's API for it
