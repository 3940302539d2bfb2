"""Serve site/ on this machine, at any free port, and build again when a source changes."""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
WATCHED = ("docs", "snippets", "live", "labs", "adr", "overrides", "tools", "mkdocs.yml")


class Handler(SimpleHTTPRequestHandler):
    """Static files with the types browsers insist on, and a sitemap that names the address being used."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".woff2": "font/woff2",
        ".py": "text/plain; charset=utf-8",
        ".ipynb": "application/x-ipynb+json",
    }

    def do_GET(self) -> None:
        # Instant navigation follows only links whose host and port stand in the sitemap.
        if urlsplit(self.path).path == "/sitemap.xml":
            self._sitemap()
        else:
            super().do_GET()

    def send_head(self) -> Any:
        if "\0" not in self.translate_path(self.path):
            return super().send_head()
        self.send_error(404)  # no file has such a name, and to ask for one raises ValueError
        return None

    def _sitemap(self) -> None:
        text = (Path(self.directory) / "sitemap.xml").read_text()
        built_for = text.split("<loc>", 1)[1].split("</loc>", 1)[0]
        body = text.replace(f"<loc>{built_for}", f"<loc>http://{self.headers['Host']}/").encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        page = Path(self.directory) / "404.html"
        if code != 404 or not page.exists():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """A reader who leaves in the middle of a page is no fault worth a traceback."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def start(site: Path, port: int) -> ThreadingHTTPServer:
    """A server for the folder; port 0, or a port that is taken, gives a free one."""
    handler = partial(Handler, directory=str(site))
    try:
        return Server(("127.0.0.1", port), handler)
    except OSError:
        return Server(("127.0.0.1", 0), handler)


def _state() -> dict[Path, float]:
    """Every source and when it was written; one that goes counts as a change too."""
    files = (path for name in WATCHED for path in (ROOT / name, *(ROOT / name).rglob("*")))
    return {path: path.stat().st_mtime for path in files if path.is_file()}


def _rebuild_on_change(site: Path, stop: threading.Event) -> None:
    seen = _state()
    while not stop.wait(0.5):
        if _state() != seen:
            print("A source changed, building …", flush=True)
            done = subprocess.run(["make", "--no-print-directory", "site", f"SITE={site}"], cwd=ROOT)
            print("Built: reload the page." if done.returncode == 0 else "The build failed: see above.", flush=True)
            seen = _state()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "site")
    parser.add_argument("--port", type=int, default=8000)
    args = parser.parse_args()
    server = start(args.site, args.port)
    stop = threading.Event()
    threading.Thread(target=_rebuild_on_change, args=(args.site, stop), daemon=True).start()
    print(f"The site is at http://127.0.0.1:{server.server_port}/ (Ctrl-C stops it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        stop.set()
        print()


if __name__ == "__main__":
    main()
