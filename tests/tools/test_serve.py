"""The local server answers as the pages need it."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tools import serve

SITEMAP = "<urlset><url><loc>https://example.org/</loc></url><url><loc>https://example.org/a/</loc></url></urlset>"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    for name in ("index.html", "a.mjs", "a.wasm", "a.woff2", "a.py", "a.ipynb"):
        (tmp_path / name).write_text("x")
    (tmp_path / "404.html").write_text("nothing here")
    (tmp_path / "sitemap.xml").write_text(SITEMAP)
    running = serve.start(tmp_path, 0)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


def get(server: ThreadingHTTPServer, path: str) -> tuple[HTTPResponse, str]:
    connection = HTTPConnection("127.0.0.1", server.server_port)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer, answer.read().decode()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.mjs", "text/javascript"),  # a module script with another type is refused by browsers
        ("a.wasm", "application/wasm"),  # compiled while it streams only with this type
        ("a.woff2", "font/woff2"),
        ("a.py", "text/plain; charset=utf-8"),
        ("a.ipynb", "application/x-ipynb+json"),
    ],
)
def test_file_is_served_with_its_type(server: ThreadingHTTPServer, name: str, kind: str) -> None:
    assert get(server, f"/{name}")[0].getheader("Content-Type") == kind


def test_sitemap_names_the_address_in_use(server: ThreadingHTTPServer) -> None:
    here = f"http://127.0.0.1:{server.server_port}/"
    assert get(server, "/sitemap.xml")[1] == SITEMAP.replace("https://example.org/", here)


def test_missing_page_is_the_sites_own_with_status_404(server: ThreadingHTTPServer) -> None:
    answer, body = get(server, "/nowhere/")
    assert (answer.status, body) == (404, "nothing here")


@pytest.mark.parametrize("path", ["/%00", "/a%00.mjs", "/%00/"])
def test_a_name_that_no_file_can_have_is_missing_too(
    server: ThreadingHTTPServer, path: str, capfd: pytest.CaptureFixture[str]
) -> None:
    answer, body = get(server, path)
    assert (answer.status, body) == (404, "nothing here")
    assert capfd.readouterr().err == ""


def test_a_reader_who_leaves_in_the_middle_is_no_fault(
    server: ThreadingHTTPServer, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "large.py").write_bytes(bytes(50_000_000))
    before = threading.active_count()
    reader = socket.create_connection(("127.0.0.1", server.server_port))
    reader.sendall(b"GET /large.py HTTP/1.0\r\n\r\n")
    assert reader.recv(10)
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing resets the connection
    reader.close()
    while threading.active_count() > before:  # until its thread is done
        time.sleep(0.01)
    assert capfd.readouterr().err == ""


def test_nothing_is_cached_while_writing(server: ThreadingHTTPServer) -> None:
    assert get(server, "/index.html")[0].getheader("Cache-Control") == "no-cache"


def test_taken_port_gives_a_free_one(server: ThreadingHTTPServer, tmp_path: Path) -> None:
    other = serve.start(tmp_path, server.server_port)
    assert other.server_port != server.server_port
    other.server_close()
