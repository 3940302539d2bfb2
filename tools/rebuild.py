"""Build again when a source changes, for `make serve`: at once what can be seen, then what was put off."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from tools.build import MARK

ROOT = Path(__file__).resolve().parent.parent
WATCHED = ("docs", "snippets", "live", "labs", "adr", "overrides", "tools", "bench", "mkdocs.yml")
BUILDER = ROOT / "tools" / "build.py"
LOOK_S = 0.2

State = dict[Path, float]


def is_made(path: Path) -> bool:
    """Whether a build writes the file, so that its change is no news."""
    name = path.relative_to(ROOT).as_posix()
    copied = name.startswith("docs/labs/") and name.endswith(".py")
    return copied or name == "docs/_headers" or name.startswith(("docs/assets/", "docs/decisions/")) or ".pyc" in name


def state() -> State:
    """Every source and when it was written; one that goes counts as a change too."""
    found: State = {}
    for name in WATCHED:  # bench is there once it was measured
        for path in (ROOT / name, *(ROOT / name).rglob("*")):
            if not is_made(path) and path.is_file():
                found[path] = path.stat().st_mtime
    return found


class Builder:
    """Builds in processes that have loaded what never changes before they are needed."""

    def __init__(self, site: Path) -> None:
        self.site = site
        self.waiting = self._stand_by()

    def _stand_by(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tools.build", "--site", str(self.site), "--standby"]
        return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, text=True, start_new_session=True)

    def begin(self, order: str) -> subprocess.Popen[str]:
        """Let the process that waits begin."""
        process = self.waiting
        assert process.stdin
        process.stdin.write(f"{order}\n")
        process.stdin.close()
        return process

    def another(self) -> None:
        """Have one waiting again."""
        end(self.waiting)
        self.waiting = self._stand_by()


def end(process: subprocess.Popen[str]) -> None:
    """End a build with all it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def watch(site: Path, stop: threading.Event) -> None:
    """Build on every change until told to stop. A change ends what a former one put off."""
    builder, seen = Builder(site), state()
    whole: subprocess.Popen[str] | None = None
    while not stop.wait(LOOK_S):
        if whole and whole.poll() is not None:
            print(
                "Python's quick start is there again." if whole.returncode == 0 else "It failed: see above.", flush=True
            )
            whole = None
            builder.another()
        now = state()
        changed = {path for path, _ in now.items() ^ seen.items()}
        if not changed:
            continue
        seen = now
        print("A source changed, building …", flush=True)
        if whole or BUILDER in changed:
            end(builder.waiting)
            whole = None
            builder.another()
        began = time.monotonic()
        status = builder.begin("quick").wait()
        took = time.monotonic() - began
        print(f"Built in {took:.1f} s: reload the page." if status == 0 else "The build failed: see above.", flush=True)
        builder.another()
        if status == 0 and not (site / MARK).exists():
            print("Until Python's memory is made anew, Python starts the slower way.", flush=True)
            whole = builder.begin("whole")
    end(builder.waiting)
