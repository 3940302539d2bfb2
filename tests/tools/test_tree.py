"""What is committed speaks of no one's machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Put together here, so that this file does not find itself.
MACHINE = re.compile("|".join(("/" + "home/", "/" + "root/", "/" + "work/", "/" + "Users/", r"[A-Z]:\\" + "Users")))


def committed() -> list[Path]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for name in listing.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_holds_a_path_of_someones_machine() -> None:
    found = []
    for path in committed():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in MACHINE.finditer(text)]
    assert found == []


def test_what_the_build_makes_is_not_committed() -> None:
    made = [
        p
        for p in committed()
        if p.relative_to(ROOT).as_posix().startswith(("site/", "docs/assets/", "docs/decisions/"))
    ]
    assert made == []
