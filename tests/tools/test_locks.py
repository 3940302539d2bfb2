"""A fresh clone installs exactly what was tested, from whichever index the machine uses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
NPM = json.loads((ROOT / "package-lock.json").read_text())["packages"]


def requirements(lock: Path) -> list[str]:
    """Each requirement of a lock file on one line, with its hashes."""
    return [line for line in lock.read_text().replace("\\\n", " ").splitlines() if line.strip() and line[0] != "#"]


def test_there_are_locks_for_the_site_the_tests_and_the_audit() -> None:
    assert [lock.stem for lock in LOCKS] == ["audit", "site", "test"]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda p: p.name)
def test_lock_names_no_index_and_no_address(lock: Path) -> None:
    assert not re.search(r"index-url|find-links|trusted-host|://", lock.read_text())


@pytest.mark.parametrize("lock", LOCKS, ids=lambda p: p.name)
def test_every_package_is_pinned_and_hashed(lock: Path) -> None:
    loose = [one for one in requirements(lock) if not re.match(r"[\w.\[\]-]+==\S+ .*--hash=sha256:[0-9a-f]{64}", one)]
    assert loose == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda p: p.name)
def test_lock_holds_what_its_input_asks_for(lock: Path) -> None:
    asked = re.findall(r"^(\w[\w-]*)(?:\[\w+\])?(?:==(\S+))?", lock.with_suffix(".in").read_text().lower(), re.M)
    held = {(match[1], match[2]) for one in requirements(lock) if (match := re.match(r"([\w-]+)\S*?==(\S+)", one))}
    missing = [(name, pin) for name, pin in asked if not any(name == n and pin in ("", v) for n, v in held)]
    assert missing == []


def test_npm_lock_names_no_address_and_hashes_every_package() -> None:
    packages = {name: entry for name, entry in NPM.items() if name}
    assert packages
    assert [name for name, entry in packages.items() if "resolved" in entry or "integrity" not in entry] == []


def test_npm_runs_no_package_script_on_install() -> None:
    assert "ignore-scripts=true" in (ROOT / ".npmrc").read_text().splitlines()
