"""What static hosts do on the way to the reader, for the local server: pack text, and say how long a file is good."""

from __future__ import annotations

import gzip
import re
from functools import lru_cache
from pathlib import Path

TEXT = {".html", ".css", ".js", ".mjs", ".json", ".svg", ".txt", ".xml", ".py", ".ipynb", ".wasm", ".map"}
GZIP_LEVEL = 6  # what hosts commonly take
# A name with a hash or a version in it: what it names will never be another.
_LASTING = re.compile(
    r"/assets/(?:live-[0-9a-f]{12}/[^/]+|site-[0-9a-f]{12}\.css|python/[a-z.]+-[0-9a-f]{12}\.[a-z]+"
    r"|pyodide-[0-9.]+/[^/]+|stylesheets/[a-z]+\.[0-9a-f]{8}\.min\.css|javascripts/theme-[0-9a-f]{12}\.js)$"
)


def cache_control(path: str) -> str:
    """The header for a path of the site: kept for a year, or asked for again each time."""
    return "public, max-age=31536000, immutable" if _LASTING.search(path) else "no-cache"


@lru_cache(maxsize=512)
def _packed(file: Path, written_ns: int, size: int) -> bytes:
    return gzip.compress(file.read_bytes(), GZIP_LEVEL, mtime=0)


def packed(file: Path) -> bytes | None:
    """The file as gzip, made once for each version of it; None for what does not get smaller, or is no file."""
    if file.suffix not in TEXT or not file.is_file():
        return None
    stat = file.stat()
    return _packed(file, stat.st_mtime_ns, stat.st_size)
