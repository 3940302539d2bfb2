"""Build the site: what the pages load, then the pages, aside; a build that fails leaves the site that is there.

usage: python -m tools.build --site SITE [--standby]
With --standby it loads what never changes and waits for a line: `quick` builds without a snapshot that would have to be
made first, which a page does without (Python starts the slower way); anything else builds all. Such a quick site is not
marked as built, so that `make site` builds it again.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
import time
from pathlib import Path

# Nothing of this project: a builder that stands by would keep it as it was.
READY = [
    "mkdocs.__main__",
    "mkdocs.commands.build",
    "mkdocs_jupyter.plugin",
    "markdown_exec.mkdocs_plugin",
    "material.plugins.search.plugin",
    "pymdownx.superfences",
    "pymdownx.inlinehilite",
    "latex2mathml.converter",
]
MARK = ".built"


def stand_by() -> str:
    """Load the builder, and wait for what to build; nothing when the one who would say so has gone."""
    for name in READY:
        importlib.import_module(name)
    return sys.stdin.readline().strip()


def build(site: Path, quick: bool) -> None:
    """Build into the folder. Raises SystemExit with the builder's status when it fails."""
    from click import ClickException
    from mkdocs.__main__ import cli

    from tools import assets

    began = time.time()
    whole = assets.main(quick=quick)
    aside = site.with_name(f"{site.name}.new")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        cli(["build", "--strict", "--site-dir", str(aside)], standalone_mode=False)
    except ClickException as error:
        error.show()
        raise SystemExit(1) from error
    shutil.rmtree(site, ignore_errors=True)
    aside.rename(site)
    if whole:
        mark = site / MARK
        mark.touch()
        os.utime(mark, (began, began))  # what changed since is not in it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=Path("site"))
    parser.add_argument("--standby", action="store_true")
    args = parser.parse_args()
    order = stand_by() if args.standby else "whole"
    if order:
        build(args.site, order == "quick")


if __name__ == "__main__":
    main()
