"""From opening a page to Python's first answer: from the kept memory, the plain way, and a Pyodide fence's.

Each run has a profile of its own and opens its page twice, cold and warm; the ways take turns. The fence is
markdown-exec's, built with its own code and the same Pyodide. Its editor, its highlighter and the micropip wheel it
loads come from other hosts and are no part of this project: stand-ins of a few lines take their places, so the real
fence is slower than shown.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import yaml

from tools import browser
from tools.benches import chrome
from tools.benches.row import Row, middle

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = ROOT / "node_modules" / "pyodide"
PAGE = "explore/kv-cache/"
RUNS = 5
MOST_SHARE = 0.30

WIDGET = """(() => {
  const look = setInterval(() => {
    const one = document.querySelector('serving-widget');
    if (!one || !('answered' in one)) return;
    if (!window.asked) { window.asked = true; one.dispatchEvent(new Event('pointerenter')); }
    if (one.answered) { window.firstAnswer = performance.now(); clearInterval(look); }
  }, 4);
})()"""
FENCE = """(() => {
  const look = setInterval(() => {
    const run = document.querySelector('[id$=--run]');
    if (!run?.onclick) return;
    if (!window.asked) { window.asked = true; run.click(); }
    if (document.querySelector('[id$=--output]').textContent.includes('42')) {
      window.firstAnswer = performance.now();
      clearInterval(look);
    }
  }, 4);
})()"""
STAND_INS = """
const nothing = () => {};
window.ace = { edit: (id) => ({
  getValue: () => document.getElementById(id).textContent, setTheme: nothing, setOption: nothing, resize: nothing,
  session: { setMode: nothing },
}) };
window.hljs = { highlightElement: nothing };
"""


def without_memory(site: Path, target: Path) -> Path:
    """The site, with no snapshot to start from."""
    shutil.copytree(site, target)
    paths = next(target.glob("assets/live-*/paths.mjs"))
    text, changed = re.subn(r"(?m)^(export const SNAPSHOT) = .*$", r"\1 = null;", paths.read_text())
    assert changed == 1
    paths.write_text(text)
    return target


def _wheel() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as wheel:
        wheel.writestr("micropip.py", "")
        wheel.writestr("micropip-0.dist-info/METADATA", "Metadata-Version: 2.1\nName: micropip\nVersion: 0\n")
        wheel.writestr("micropip-0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("micropip-0.dist-info/RECORD", "")
    return buffer.getvalue()


def fence_site(folder: Path) -> Path:
    """A page of the bare theme with one Pyodide fence, everything it loads beside it."""
    docs, site = folder / "docs", folder / "site"
    pyodide = docs / "pyodide"
    shutil.copytree(PYODIDE, pyodide, ignore=shutil.ignore_patterns("*.map", "*.html", "*.ts", "*.md"))
    (pyodide / "stand_ins.js").write_text(STAND_INS)
    lock, wheel = json.loads((pyodide / "pyodide-lock.json").read_text()), _wheel()
    lock["packages"]["micropip"]["sha256"] = hashlib.sha256(wheel).hexdigest()
    (pyodide / "pyodide-lock.json").write_text(json.dumps(lock))
    (pyodide / lock["packages"]["micropip"]["file_name"]).write_bytes(wheel)
    scripts = "".join(f'<script src="pyodide/{name}"></script>\n' for name in ("stand_ins.js", "pyodide.js"))
    themes = "".join(f'<link title="{name}" rel="alternate stylesheet" href="" disabled>' for name in ("light", "dark"))
    (docs / "index.md").write_text(f'# A fence\n\n{scripts}{themes}\n\n```pyodide assets="no"\nprint(6 * 7)\n```\n')
    settings = {
        "site_name": "A fence",
        "theme": {"name": "material", "font": False},
        "plugins": [{"markdown-exec": {"languages": ["pyodide"], "ansi": "off"}}],
        "markdown_extensions": ["pymdownx.superfences", "md_in_html"],
    }
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings))
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(site)]
    subprocess.run(command, cwd=folder, check=True)
    return site


def answered_after(address: str, script: str) -> list[float]:
    """Milliseconds to the first answer, in a new profile and then once more in the same."""
    found = []
    with chrome.profile() as context:
        for _ in ("cold", "warm"):
            page = context.new_page()
            page.add_init_script(script)
            page.goto(address)
            found.append(float(chrome.until(page, "window.firstAnswer")))
            page.wait_for_load_state("networkidle")
            page.close()
    return found


def rows(site: Path) -> Iterator[Row]:
    """Three ways, cold and warm."""
    times: dict[str, list[list[float]]] = {"memory": [], "plain": [], "fence": []}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        plain, fence = without_memory(site, Path(folder, "plain")), Path(folder, "fence")
        fence.mkdir()
        with (
            browser.served(site) as quick_at,
            browser.served(plain) as plain_at,
            browser.served(fence_site(fence)) as fence_at,
        ):
            for _ in range(RUNS):
                times["memory"].append(answered_after(quick_at + PAGE, WIDGET))
                times["plain"].append(answered_after(plain_at + PAGE, WIDGET))
                times["fence"].append(answered_after(fence_at, FENCE))
    for turn, name in enumerate(("cold", "warm")):
        quick, slow, other = (middle([run[turn] for run in times[way]]) for way in ("memory", "plain", "fence"))
        what = f"Python's first answer, {name}, from the kept memory"
        yield Row(what, quick, "ms", RUNS, "plain start", slow, most_ratio=MOST_SHARE)
        note = "the fence without its editor, highlighter and micropip"
        yield Row(what, quick, "ms", RUNS, "markdown-exec's Pyodide fence", other, note=note)
