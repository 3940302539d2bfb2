"""Building a copy of the project: with nothing kept, with nothing changed, without running code; and its growth.

Builds of one kind take turns with those of the others. All three kinds build the same pages with the same plugins.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import yaml

from tools.benches.row import Row, middle

ROOT = Path(__file__).resolve().parents[2]
RUNS = 5
MOST_RATIO = 1.5
MOST_EDIT_S = 3
SYNTHETIC = (0, 60, 120)  # pages more than there are
MOST_GROWTH = 1.25  # seconds a page of the second lot, as a share of the first lot's
OFF = '''"""A hook in the place of tools/printed.py: no block runs."""
from markdown_exec._internal.formatters import python


def on_config(config):
    python._run_python = lambda code, **how: ""
    config.plugins["mkdocs-jupyter"].config["execute"] = False
'''
SYNTHETIC_PAGE = """# Page {number}

{text}

```python exec="1"
from snippets.kv_cache_size import kv_bytes_per_token
print("Bytes per token of {number} layers:", kv_bytes_per_token({number}, 8, 128, 2))
```

| layers | heads |
|---|---|
| {number} | 8 |

```python
print({number})
```
"""
TEXT = "\n\n".join(
    "A paragraph of some thirty words, so that a page has something to render: " + "word " * 16 for _ in range(20)
)


def copy(target: Path) -> Path:
    """The project without what is built, with the packages it has here."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listing.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    (target / "node_modules").symlink_to(ROOT / "node_modules")
    (target / "off.py").write_text(OFF)
    hooks = [
        line.strip()[2:] for line in (target / "mkdocs.yml").read_text().splitlines() if line.startswith("  - tools/")
    ]
    without = ["off.py" if hook == "tools/printed.py" else hook for hook in hooks if hook.endswith(".py")]
    (target / "off.yml").write_text(yaml.safe_dump({"INHERIT": "mkdocs.yml", "hooks": without}))
    return target


def seconds(folder: Path, *command: str) -> float:
    """How long a command takes."""
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return time.monotonic() - started


def pages(folder: Path, config: str = "mkdocs.yml") -> float:
    """Seconds for all pages; not strictly, since pages whose code did not run miss what links lead to."""
    return seconds(folder, "mkdocs", "build", "--quiet", "--config-file", config, "--site-dir", str(folder / "site"))


def forget(folder: Path, *kinds: str) -> None:
    """Take away what is kept."""
    for kind in kinds:
        shutil.rmtree(folder / ".cache" / kind, ignore_errors=True)


def kinds_of_builds(folder: Path) -> Iterator[Row]:
    """Cold, with nothing changed, and without execution."""
    everything = ("printed", "notebooks", "snapshot", "editor", "planner")
    forget(folder, *everything)
    whole, cold, same, off = [], [], [], []
    for _ in range(RUNS):
        forget(folder, *everything)
        whole.append(seconds(folder, "tools.build", "--site", "site"))
        forget(folder, "printed", "notebooks")
        cold.append(pages(folder))
        off.append(pages(folder, "off.yml"))
        same.append(pages(folder))
    beside = "without execution"
    yield Row(
        "Build of all pages, nothing changed", middle(same), "s", RUNS, beside, middle(off), most_ratio=MOST_RATIO
    )
    yield Row("Build of all pages, no result kept", middle(cold), "s", RUNS, beside, middle(off))
    note = "Python's memory, editor and planner.pyz made too"
    yield Row("Whole build, nothing kept", middle(whole), "s", RUNS, note=note)


def growth(folder: Path) -> Iterator[Row]:
    """Whether twice the pages cost twice the time."""
    config = (folder / "mkdocs.yml").read_text()
    times = {number: list[float]() for number in SYNTHETIC}
    for number in SYNTHETIC:
        for page in range(number):
            target = folder / "docs" / "synthetic" / f"page-{page:03}.md"
            target.parent.mkdir(exist_ok=True)
            target.write_text(SYNTHETIC_PAGE.format(number=page + 1, text=TEXT))
        pages(folder)
        for _ in range(RUNS):
            times[number].append(pages(folder))
    shutil.rmtree(folder / "docs" / "synthetic")
    (folder / "mkdocs.yml").write_text(config)
    none, some, many = (middle(times[number]) for number in SYNTHETIC)
    step = SYNTHETIC[1] - SYNTHETIC[0]
    first, second = ((after - before) / step * 1000 for before, after in ((none, some), (some, many)))
    yield Row(f"Build: a page more, of {SYNTHETIC[1]} to {SYNTHETIC[2]}", second, "ms", RUNS,
              f"of the first {SYNTHETIC[1]}", first, most_ratio=MOST_GROWTH)  # fmt: skip


def shown_after(file: Path, old: str, new: str, address: str) -> float:
    """Seconds from writing an edit to the server's sending it; the edit is taken back after that."""
    text = file.read_text()
    if old not in text:
        raise ValueError(f"{file.name} has no {old!r}")
    try:
        started = time.monotonic()
        file.write_text(text.replace(old, new))
        while time.monotonic() < started + 120:
            with suppress(OSError), urllib.request.urlopen(address) as answer:
                if "dited" in answer.read().decode():
                    return time.monotonic() - started
            time.sleep(0.02)
        raise TimeoutError(f"an edit of {file.name} was not shown within 120 s")
    finally:
        file.write_text(text)


def edits(folder: Path) -> Iterator[Row]:
    """`make serve` at work: an edit of a page, and one of a module."""
    command = [sys.executable, "-u", "-m", "tools.serve", "--site", "site", "--port", "0"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert server.stdout
    address = next(word for word in server.stdout.readline().split() if word.startswith("http"))
    builds = iter(lambda: server.stdout.readline() if server.stdout else "", "")

    def rested() -> None:
        """Taking the edit back is a change too: wait for all it leads to."""
        for line in builds:
            if line.startswith("Built") and not (folder / "site" / ".built").exists():
                continue
            if line.startswith(("Built", "Python's quick start")):
                break
        time.sleep(2.5)

    places = {
        "page": (folder / "docs/glossary.md", "# Glossary", "# Edited page", "glossary/"),
        "module": (folder / "snippets/widgets/how_many_fit.py", 'unit="tokens"', 'unit="edited"', ""),
    }
    time.sleep(3)
    try:
        for what, (file, old, new, page) in places.items():
            times = []
            for _ in range(RUNS):
                times.append(shown_after(file, old, new, address + page))
                rested()
            yield Row(f"Edit of a {what}, until the server sends it", middle(times), "s", RUNS, most=MOST_EDIT_S)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def rows(site: Path) -> Iterator[Row]:
    """All of it, in a copy that nobody edits."""
    os.environ |= {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        folder = copy(Path(place))
        seconds(folder, "tools.build", "--site", "site")
        yield from kinds_of_builds(folder)
        yield from growth(folder)
        seconds(folder, "tools.build", "--site", "site")
        yield from edits(folder)
