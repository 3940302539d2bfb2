"""The site as an app that works without network: its icons and manifest, and the service worker with the list of what a
reader's browser keeps; a hook of the site.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

from tools import icons, transfer

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "live" / "offline" / "service_worker.mjs"
WORKER = "service-worker.js"
MANIFEST = "manifest.webmanifest"
PAGE = "about/offline/index.html"
SEARCH = "search/search_index.json"
PLACES = ("ALL_MEGABYTES", "PYTHON_MEGABYTES")  # on that page, for what only a finished build knows
# What no page loads: notes to hosts, maps for who debugs the theme, packed twins, search in languages without spaces.
LEFT_OUT = {"_headers", WORKER, "sitemap.xml.gz"}
LEFT_OUT_ENDINGS = {".map", ".gz", ".br"}
LEFT_OUT_FOLDER = "assets/javascripts/lunr/"
WRITTEN_BY_HOSTS = {"sitemap.xml"}  # tools/serve.py puts its own address in
ICONS = {
    "icon-192.png": (192, "any"),
    "icon-512.png": (512, "any"),
    "icon-maskable-192.png": (192, "maskable"),
    "icon-maskable-512.png": (512, "maskable"),
}
TOUCH_ICON = "images/icon-180.png"


@dataclass(frozen=True)
class Kept:
    """A file of the copy. `hash` is empty where a host may write the file anew, `lasting` is of names with a hash."""

    hash: str
    size_bytes: int
    lasting: bool


def manifest(config: MkDocsConfig) -> str:
    """What makes the site an app; every address in it is relative, so that it holds below any path."""
    name = config.site_name
    return json.dumps(
        {
            "name": name,
            "short_name": name.split(",")[0],
            "description": config.site_description,
            "lang": "en",
            "start_url": "./",
            "scope": "./",
            "display": "standalone",
            "background_color": "#ffffff",
            "theme_color": "#ffffff",
            "icons": [
                {"src": f"images/{file}", "sizes": f"{size}x{size}", "type": "image/png", "purpose": purpose}
                for file, (size, purpose) in ICONS.items()
            ],
        },
        indent=1,
    )


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by MkDocs before any page is written: add the manifest and the icons."""
    files.append(File.generated(config, MANIFEST, content=manifest(config)))
    for file, (size, purpose) in ICONS.items():
        drawn = icons.maskable(size) if purpose == "maskable" else icons.png(size)
        files.append(File.generated(config, f"images/{file}", content=drawn))
    files.append(File.generated(config, TOUCH_ICON, content=icons.maskable(180)))
    return files


def kept_files(site: Path) -> dict[str, Kept]:
    """All that the copy holds, by path below the root; a page goes by its folder, as browsers ask for it."""
    found = {}
    for file in sorted(site.rglob("*")):
        name = file.relative_to(site).as_posix()
        if not file.is_file() or name in LEFT_OUT or file.suffix in LEFT_OUT_ENDINGS or name.startswith("."):
            continue
        if name.startswith(LEFT_OUT_FOLDER):
            continue
        content = file.read_bytes()
        digest = "sha256-" + base64.b64encode(hashlib.sha256(content).digest()).decode()
        path = name.removesuffix("index.html") if file.name == "index.html" else name
        lasting = "immutable" in transfer.cache_control(f"/{name}")
        found[path] = Kept("" if name in WRITTEN_BY_HOSTS else digest, len(content), lasting)
    return found


def worker(files: dict[str, Kept]) -> str:
    """The service worker, with what it keeps above it. Browsers compare its bytes: another build is another worker."""
    said = {path: {"hash": kept.hash, "lasting": kept.lasting} for path, kept in files.items()}
    build = hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12]
    head = json.dumps({"id": build, "files": said}, separators=(",", ":"))
    return f"const BUILD = {head};\n{SOURCE.read_text(encoding='utf-8')}"


def _is_python(path: str) -> bool:
    return path.startswith(("assets/pyodide-", "assets/python/"))


def megabytes(files: dict[str, Kept], *, only_python: bool = False) -> str:
    """What the copy takes in the browser, unpacked, in MB (10^6 bytes)."""
    whole = sum(kept.size_bytes for path, kept in files.items() if _is_python(path) or not only_python)
    return f"{whole / 1e6:.0f} MB"


@event_priority(-100)  # the search's own files must be there
def on_post_build(config: MkDocsConfig) -> None:
    """Called by MkDocs after the build: say how much is kept, then list it with hashes."""
    site = Path(config.site_dir)
    if (site / PAGE).exists():
        files = kept_files(site)
        said = dict(zip(PLACES, (megabytes(files), megabytes(files, only_python=True)), strict=True))
        for file in (site / PAGE, site / SEARCH):
            text = file.read_text(encoding="utf-8")
            for place, size in said.items():
                if place not in text:
                    raise PluginError(f"{file.relative_to(site)} has no {place}: docs/about/offline.md must say it")
                text = text.replace(place, size)
            file.write_text(text, encoding="utf-8")
    (site / WORKER).write_text(worker(kept_files(site)), encoding="utf-8")
