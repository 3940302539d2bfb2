"""The local server answers as the pages need it."""

from __future__ import annotations

import gzip
import socket
import struct
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from tools import serve, transfer

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


def get_bytes(server: ThreadingHTTPServer, path: str, **headers: str) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", server.server_port)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    return answer, answer.read()


def get(server: ThreadingHTTPServer, path: str) -> tuple[HTTPResponse, str]:
    answer, body = get_bytes(server, path)
    return answer, body.decode()


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


def test_text_goes_packed_to_a_browser_that_takes_it(server: ThreadingHTTPServer) -> None:
    for path in ("/", "/a.mjs", "/a.wasm", "/a.mjs?again"):
        answer, body = get_bytes(server, path, Accept_Encoding="gzip, br")
        assert (answer.status, answer.getheader("Content-Encoding")) == (200, "gzip")
        assert gzip.decompress(body) == b"x"
        assert answer.getheader("Content-Length") == str(len(body))
    assert answer.getheader("Content-Type") == "text/javascript"


def test_what_is_packed_already_or_was_not_asked_for_packed_goes_as_it_is(server: ThreadingHTTPServer) -> None:
    assert get_bytes(server, "/a.woff2", Accept_Encoding="gzip")[0].getheader("Content-Encoding") is None
    answer, body = get_bytes(server, "/a.mjs")
    assert (answer.getheader("Content-Encoding"), body) == (None, b"x")


def test_a_changed_file_is_packed_anew_and_a_known_one_is_not_sent_again(
    server: ThreadingHTTPServer, tmp_path: Path
) -> None:
    answer, _ = get_bytes(server, "/a.mjs", Accept_Encoding="gzip")
    known = answer.getheader("Last-Modified") or ""
    again, body = get_bytes(server, "/a.mjs", Accept_Encoding="gzip", If_Modified_Since=known)
    assert (again.status, body) == (304, b"")
    (tmp_path / "a.mjs").write_text("other")
    assert gzip.decompress(get_bytes(server, "/a.mjs", Accept_Encoding="gzip")[1]) == b"other"


@pytest.mark.parametrize(
    ("path", "lasting"),
    [
        ("/assets/live-0123456789ab/main.mjs", True),
        ("/below/assets/site-0123456789ab.css", True),
        ("/assets/python/python-0123456789ab.bin", True),
        ("/assets/pyodide-314.0.7/pyodide.asm.wasm", True),
        ("/assets/javascripts/theme-0123456789ab.js", True),
        ("/assets/javascripts/workers/search.a7633da7.min.js", False),  # mended here: its hash is of the theme's own
        ("/assets/python/empty.zip", False),
        ("/search/search_index.json", False),
        ("/", False),
    ],
)
def test_only_what_has_a_hash_in_its_name_is_kept_for_long(path: str, lasting: bool) -> None:
    assert ("immutable" in transfer.cache_control(path)) == lasting


def test_a_missing_file_with_a_hash_is_not_kept(server: ThreadingHTTPServer) -> None:
    answer, _ = get(server, "/assets/live-0123456789ab/gone.mjs")
    assert (answer.status, answer.getheader("Cache-Control")) == (404, "no-cache")
