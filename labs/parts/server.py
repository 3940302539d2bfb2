"""The OpenAI server as a process of its own, started and ended by the lab."""

from __future__ import annotations

import socket
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from parts.child import Group
from parts.flags import serve_command
from parts.stop import Stop


def check_port(port: int) -> None:
    """Is the port free? Asked before anything is loaded."""
    with socket.socket() as asked:
        asked.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            asked.bind(("127.0.0.1", port))
        except OSError as error:
            raise Stop(f"port {port} is taken: end the program that holds it, or pass another --port") from error


# Run by its module, as the console script may not be on PATH. The command line wants the version of a package `vllm`;
# the CPU build's has another name, and is told from others by "cpu" in its version.
COMMAND_LINE = """
from importlib import metadata
asked = metadata.version
def version(name):
    try:
        return asked(name)
    except metadata.PackageNotFoundError:
        return asked(name + "-cpu") + "+cpu"
metadata.version = version
from vllm.entrypoints.cli.main import main
main()
"""


def vllm_command(*words: str) -> list[str]:
    """`vllm WORDS...` with the Python that runs the lab; -u, so that its lines are read as they are printed."""
    return [sys.executable, "-u", "-c", COMMAND_LINE, *words]


def start_server(model: str, given: dict[str, Any], port: int, log: Path, debug: bool = False) -> Group:
    """`vllm serve`, to be used in a `with` block; returns at once, `wait_until_ready` waits for its answer."""
    import shlex

    check_port(port)
    words = shlex.split(serve_command(model, given))[1:]
    return Group(vllm_command(*words, "--host", "127.0.0.1", "--port", str(port)), log, debug)


def wait_until_ready(server: Group, model: str, port: int, patience: float = 900) -> float:
    """Seconds until the server answered /health; Stop when it ended instead, or never answered."""
    start = time.monotonic()
    while time.monotonic() < start + patience:
        if server.process.poll() is not None:
            raise Stop(server.why_it_ended(model))
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
                if reply.status == 200:
                    return round(time.monotonic() - start, 1)
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise Stop(f"the server did not answer within {patience:.0f} s (log: {server.log})")
