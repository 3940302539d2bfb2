"""Lighthouse's performance score of three kinds of page, beside the bare theme with the same text, in turns.

Both are served packed, as static hosts do. The bare theme is this project's pages without overrides, style sheets,
scripts or policy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from tools import browser
from tools.benches.row import Row

ROOT = Path(__file__).resolve().parents[2]
KINDS = {"lesson": "lessons/kv-cache/", "explorer": "explore/kv-cache/", "tool": "tools/planner/"}
ENOUGH = 0.95
RUNS = 5
HOOKS = ("printed.py", "notebook.py")
BARE = """INHERIT: {root}/mkdocs.yml
docs_dir: {root}/docs
theme: {{ custom_dir: {empty} }}
extra_css: []
extra_javascript: []
hooks: [{hooks}]
"""

Scores = dict[str, dict[str, list[Any]]]


def build_bare(folder: Path) -> Path:
    """The same pages with the theme alone."""
    (folder / "empty").mkdir()
    config, site = folder / "mkdocs.yml", folder / "site"
    hooks = ", ".join(f"{ROOT}/tools/{name}" for name in HOOKS if (ROOT / "tools" / name).exists())
    config.write_text(BARE.format(root=ROOT, empty=folder / "empty", hooks=hooks))
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--quiet",
        "--config-file",
        str(config),
        "--site-dir",
        str(site),
    ]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=True)
    return site


def run(addresses: list[str], runs: int, *categories: str) -> Scores:
    """What Lighthouse says of each address, run by run. Raises CalledProcessError when it cannot say."""
    command = ["node", "tools/benches/lighthouse.mjs", str(runs), ",".join(categories), *addresses]
    environment = os.environ | {"CHROMIUM": browser.find("chromium"), "CHROMIUM_FLAGS": " ".join(browser.QUIET)}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    scores: Scores = json.loads(done.stdout.splitlines()[-1])
    return scores


def performance(site: Path, runs: int) -> dict[str, dict[str, dict[str, float]]]:
    """Medians by kind of page, ours and the bare theme's, in turn: {kind: {"ours" | "bare": {figure: median}}}."""
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.served(site) as ours,
        browser.served(build_bare(Path(folder))) as bare,
    ):
        addresses = [base + path for path in KINDS.values() for base in (ours, bare)]
        found = run(addresses, runs, "performance")
        return {
            kind: {
                who: {name: round(median(values), 3) for name, values in found[base + path].items()}
                for who, base in (("ours", ours), ("bare", bare))
            }
            for kind, path in KINDS.items()
        }


def rows(site: Path) -> Iterator[Row]:
    """A median for each kind of page."""
    for kind, both in performance(site, RUNS).items():
        score, bare = both["ours"]["performance"], both["bare"]["performance"]
        what = f"Lighthouse performance, mobile: {kind}"
        blocked = both["ours"]["total-blocking-time"]
        note = f"first paint {both['ours']['first-contentful-paint']:.0f} ms, blocked {blocked:.0f} ms"
        yield Row(what, score, "", RUNS, "the bare theme", bare, least=max(ENOUGH, bare), note=note)
