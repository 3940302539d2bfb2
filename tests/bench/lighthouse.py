"""Lighthouse on three kinds of page, beside the bare theme with the same text in the same run, for `make bench`.

`python tests/bench/lighthouse.py [SITE [RUNS]]` prints a table and, as its last line, JSON. Both are served packed, as
static hosts do. The bare theme is this project's pages without overrides, style sheets, scripts or policy.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from tools import serve  # noqa: E402

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
KINDS = {"lesson": "lessons/kv-cache/", "explorer": "explore/kv-cache/", "tool": "tools/planner/"}
ENOUGH = 0.95
HOOKS = ("printed.py", "notebook.py")
BARE = """INHERIT: {root}/mkdocs.yml
docs_dir: {root}/docs
theme: {{ custom_dir: {empty} }}
extra_css: []
extra_javascript: []
hooks: [{hooks}]
"""

Scores = dict[str, dict[str, list[Any]]]


def chromium() -> str | None:
    """The system's browser."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The address of a folder, while it is needed."""
    server = serve.start(site, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


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
    command = ["node", "tests/bench/lighthouse.mjs", str(runs), ",".join(categories), *addresses]
    environment = os.environ | {"CHROMIUM": chromium() or ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    scores: Scores = json.loads(done.stdout.splitlines()[-1])
    return scores


def performance(site: Path, runs: int = 5) -> dict[str, dict[str, dict[str, float]]]:
    """Medians by kind of page, ours and the bare theme's, in turn: {kind: {"ours" | "bare": {figure: median}}}."""
    with tempfile.TemporaryDirectory() as folder, served(site) as ours, served(build_bare(Path(folder))) as bare:
        addresses = [base + path for path in KINDS.values() for base in (ours, bare)]
        found = run(addresses, runs, "performance")
        return {
            kind: {
                who: {name: round(median(values), 3) for name, values in found[base + path].items()}
                for who, base in (("ours", ours), ("bare", bare))
            }
            for kind, path in KINDS.items()
        }


def main(site: str = "site", runs: str = "5") -> int:
    if chromium() is None:
        print("Lighthouse was not run: no Chromium on the path (`make chromium`)")
        return 0
    found = performance(ROOT / site, int(runs))
    print(f"Lighthouse performance, mobile, served packed, medians of {runs}, beside the bare theme in the same run:")
    for kind, both in found.items():
        for who, figures in both.items():
            first, largest = figures["first-contentful-paint"], figures["largest-contentful-paint"]
            blocked = figures["total-blocking-time"]
            paints = f"first paint {first:.0f} ms, largest {largest:.0f} ms"
            print(f"  {kind}, {who}: {figures['performance']:.2f}; {paints}, blocked {blocked:.0f} ms")
    print(json.dumps(found))
    enough = [both["ours"]["performance"] >= max(ENOUGH, both["bare"]["performance"]) for both in found.values()]
    return 0 if all(enough) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
