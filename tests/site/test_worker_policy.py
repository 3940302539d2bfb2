"""Python runs under the page's policy: code in its worker cannot reach another host."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from conftest import Opens, Watch, live

TRY = """async (url) => {
  const socket = new Promise((resolve) => {
    try {
      const one = new WebSocket(url.replace('http', 'ws'));
      one.onopen = () => resolve('open');
      one.onerror = () => resolve('refused');
    } catch { resolve('refused'); }
  });
  const result = {
    fetch: await fetch(url, {mode: 'no-cors'}).then(() => 'open', () => 'refused'),
    socket: await socket,
    module: await import(url + 'a.mjs').then(() => 'open', () => 'refused'),
  };
  try { result.eval = new Function('return "open"')(); } catch { result.eval = 'refused'; }
  return result;
}"""


class Stranger(ThreadingHTTPServer):
    """Another host, which writes down what reaches it."""

    asked: list[str]


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append(self.path)
            self.send_response(204)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = Stranger(("127.0.0.1", 0), Handler)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_python_runs_in_one_worker_started_from_a_blob(site: str, opens: Opens) -> None:
    page = live(opens(site + "explore/kv-cache/"))
    assert [worker.url.split(":")[0] for worker in page.workers].count("blob") == 1


def test_code_in_the_worker_reaches_no_other_host(site: str, opens: Opens, watch: Watch, stranger: Stranger) -> None:
    watch.expected += ["Content Security Policy", "violates"]
    page = live(opens(site + "explore/kv-cache/"))
    worker = next(worker for worker in page.workers if worker.url.startswith("blob:"))
    found = worker.evaluate(TRY, f"http://127.0.0.1:{stranger.server_port}/")
    assert found == {"fetch": "refused", "socket": "refused", "module": "refused", "eval": "refused"}
    assert stranger.asked == []
