"""Put what the pages load, and no page is written in, under docs/assets: Pyodide, our modules, fonts, labs, decisions.

Everything it writes is ignored by git and made from the sources again when they change.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zipfile
from pathlib import Path

from tools import editor, fonts, kept, planner_pyz, policy, snapshot

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
ASSETS = DOCS / "assets"
MODULES = ROOT / "node_modules"
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
ZIP_TIME = (1980, 1, 1, 0, 0, 0)
EMPTY_ZIP = b"PK\x05\x06" + bytes(18)  # stands for the standard library, which a snapshot already holds in use


def _write(target: Path, content: bytes) -> None:
    """Write only what changed, so that a second build finds nothing to do."""
    if not target.exists() or target.read_bytes() != content:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def snippets_archive() -> bytes:
    """snippets/ as a zip with fixed times: the same sources give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted((ROOT / "snippets").rglob("*")):
            if path.suffix in {".py", ".json"}:
                info = zipfile.ZipInfo(path.relative_to(ROOT).as_posix(), ZIP_TIME)
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, path.read_bytes())
    return buffer.getvalue()


def pyodide() -> str:
    """Copy Pyodide into a folder named by its version and return that folder's name."""
    package = json.loads((MODULES / "pyodide" / "package.json").read_text())
    folder = f"pyodide-{package['version']}"
    for name in PYODIDE_FILES:
        _write(ASSETS / folder / name, (MODULES / "pyodide" / name).read_bytes())
    return folder


def _fill(folder: Path, files: dict[str, bytes]) -> None:
    """Let a folder hold these files and no others."""
    for name, content in files.items():
        _write(folder / name, content)
    for old in folder.iterdir():
        if old.name not in files:
            old.unlink()


def packed_wasm() -> bytes:
    """Pyodide's WebAssembly as gzip, for hosts that do not pack on the way."""
    whole = (MODULES / "pyodide" / "pyodide.asm.wasm").read_bytes()
    return kept.one("wasm", kept.digest(whole), lambda: gzip.compress(whole, 9, mtime=0))


def live(pyodide_folder: str, quick: bool) -> bool:
    """The browser modules, what Python starts from, named by hash, and where they find each other.

    When quick, a snapshot is taken only where it is kept already; whether there is one.
    """
    archive = snippets_archive()
    memory = None if quick and not snapshot.is_kept(archive) else snapshot.snapshot(archive)
    name = f"snippets-{hashlib.sha256(archive).hexdigest()[:12]}.zip"
    wasm = packed_wasm()
    wasm_name = f"packed-{hashlib.sha256(wasm).hexdigest()[:12]}.wasm"
    starts = {name: archive, "empty.zip": EMPTY_ZIP, wasm_name: wasm}
    beside = "../python/"
    checked = None
    if memory:
        starts[memory.name] = memory.packed
        checked = {"name": beside + memory.name, "integrity": memory.integrity, "bytes": memory.memory_bytes}
    _fill(ASSETS / "python", starts)
    paths = {"PYODIDE": f"../{pyodide_folder}/", "EMPTY": f"{beside}empty.zip", "SNIPPETS": beside + name}
    python = {"SNAPSHOT": checked, "LOCK": snapshot.lock(), "WASM": beside + wasm_name}
    text = "".join(f"export const {key} = {json.dumps(value)};\n" for key, value in {**paths, **python}.items())
    modules = {module.name: module.read_bytes() for module in sorted((ROOT / "live").glob("*.mjs"))}
    _fill(ASSETS / "live", modules | {"paths.mjs": text.encode(), "editor.mjs": editor.bundle()})
    return memory is not None


def font_files() -> None:
    """The two fonts, cut once: they change only with their packages or with tools/fonts.py."""
    cuts = {
        "inter.woff2": (fonts.text_font, MODULES / "inter-ui/variable/InterVariable.woff2"),
        "noto-sans-math.woff2": (
            fonts.math_font,
            MODULES / "@fontsource/noto-sans-math/files/noto-sans-math-latin-400-normal.woff2",
        ),
    }
    for name, (cut, source) in cuts.items():
        key = hashlib.sha256(source.read_bytes() + (ROOT / "tools/fonts.py").read_bytes()).hexdigest()
        target, stamp = ASSETS / "fonts" / name, ASSETS / "fonts" / f".{name}.key"
        if not target.exists() or not stamp.exists() or stamp.read_text() != key:
            target.parent.mkdir(parents=True, exist_ok=True)
            cut(source, target)
            stamp.write_text(key)


def licences() -> None:
    """The fonts' licence and the editor's ask that their text goes with them."""
    texts = {"inter.txt": "inter-ui/LICENSE.txt", "noto-sans-math.txt": "@fontsource/noto-sans-math/LICENSE"}
    texts["codemirror.txt"] = "@codemirror/view/LICENSE"
    for name, source in texts.items():
        _write(ASSETS / "licences" / name, (MODULES / source).read_bytes())


def copies() -> None:
    """Labs as downloads, decisions as pages."""
    for lab in sorted((ROOT / "labs").glob("*.py")):
        _write(DOCS / "labs" / lab.name, lab.read_bytes())
    pages = {path.name for path in (ROOT / "adr").glob("*.md")}
    for name in sorted(pages):
        _write(DOCS / "decisions" / name, (ROOT / "adr" / name).read_bytes())
    for old in (DOCS / "decisions").glob("*.md"):
        if old.name not in pages:
            old.unlink()


def planner() -> bytes:
    """planner.pyz, made anew only when one of its sources changed."""
    sources = kept.files_in(["snippets", "tools/planner_pyz.py"])
    return kept.one("planner", kept.digest_of(sources), planner_pyz.archive)


def main(quick: bool = False) -> bool:
    """Make all of it; whether nothing was left out to be quick."""
    if not MODULES.exists():
        raise SystemExit("node_modules is missing: run `make site`, which installs it")
    whole = live(pyodide(), quick)
    font_files()
    licences()
    _write(ASSETS / "planner.pyz", planner())
    _write(DOCS / "_headers", policy.headers_file().encode())
    copies()
    return whole


if __name__ == "__main__":
    main()
