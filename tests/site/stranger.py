"""Another host, which writes down all that reaches it: requests of any kind, and connections that say nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Stranger(ThreadingHTTPServer):
    """`asked` holds a line for each request, `connected` counts connections."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []
        self.connected = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def process_request(self, request: object, client_address: object) -> None:
        self.connected += 1
        super().process_request(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: Stranger

    def _answer(self) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        body = b"postMessage('open'); self.said = 'open'"
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Allow-Headers", "*")
        self.send_header("Content-Type", "text/javascript")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_HEAD = do_OPTIONS = _answer

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def stranger() -> Iterator[Stranger]:
    """One that listens."""
    server = Stranger()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()
