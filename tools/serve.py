"""Serve site/ on this machine, at any free port, and build again when a source changes."""

from __future__ import annotations

import argparse
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tools import rebuild, transfer

ROOT = Path(__file__).resolve().parent.parent


class Handler(SimpleHTTPRequestHandler):
    """Static files with the types browsers insist on, and a sitemap that names the address being used."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".woff2": "font/woff2",
        ".py": "text/plain; charset=utf-8",
        ".ipynb": "application/x-ipynb+json",
    }

    _is_found = True

    def do_GET(self) -> None:
        # Instant navigation follows only links whose host and port stand in the sitemap.
        if urlsplit(self.path).path == "/sitemap.xml":
            self._sitemap()
        elif not self._send_packed():
            super().do_GET()

    def _send_packed(self) -> bool:
        """Send text packed to a browser that takes it; False leaves the answer to others."""
        file = Path(self.translate_path(urlsplit(self.path).path))
        if urlsplit(self.path).path.endswith("/"):
            file /= "index.html"
        if "gzip" not in self.headers.get("Accept-Encoding", "") or (body := transfer.packed(file)) is None:
            return False
        written = self.date_time_string(int(file.stat().st_mtime))
        is_known = self.headers.get("If-Modified-Since") == written
        self.send_response(304 if is_known else 200)
        self.send_header("Content-Type", self.guess_type(file))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Vary", "Accept-Encoding")
        self.send_header("Last-Modified", written)
        if not is_known:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if not is_known:
            self.wfile.write(body)
        return True

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
        self._is_found = False
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
        self.send_header("Cache-Control", transfer.cache_control(self.path) if self._is_found else "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    """A reader who leaves in the middle of a page is no fault worth a traceback."""

    request_queue_size = 128  # one more than that waits a second for its second try

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "site")
    parser.add_argument("--port", type=int, default=8000)
    args = parser.parse_args()
    server = start(args.site, args.port)
    stop = threading.Event()
    watching = threading.Thread(target=rebuild.watch, args=(args.site, stop), daemon=True)
    watching.start()
    print(f"The site is at http://127.0.0.1:{server.server_port}/ (Ctrl-C stops it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        stop.set()
        watching.join()
        print()


if __name__ == "__main__":
    main()
