"""Work in a process of its own, so that its end frees the card; its output is read line by line and kept in a log."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from parts.cards import used_mib, wait_until_free
from parts.startup import startup_message
from parts.stop import Stop, explain, known_failure

LIBC = ctypes.CDLL(None)
Tell = Callable[[str, Any], None]
Task = Callable[[dict[str, Any], Tell], dict[str, Any]]


def end_with_the_lab() -> None:
    """In a new process, before its command: when the lab is killed, so is this one."""
    LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Group:
    """A command and every process it starts. Leaving the `with` block ends them all, whatever happened."""

    def __init__(self, command: Sequence[str], log: Path, debug: bool = False, pass_fds: Sequence[int] = ()) -> None:
        self.lines: list[str] = []  # start-up messages
        self.tail: list[str] = []  # the last lines of any kind, for a failure that nobody foresaw
        self.log, self.debug = log, debug
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            pass_fds=pass_fds,
            start_new_session=True,  # Ctrl-C reaches the lab alone, which then ends the whole group
            preexec_fn=end_with_the_lab,
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        quiet_until = 0.0
        with self.log.open("a", encoding="utf-8") as kept:
            for line in self.process.stdout:
                kept.write(line)
                kept.flush()
                self.tail = [*self.tail[-199:], line]
                message = startup_message(line)
                if message:
                    self.lines.append(message)
                if message or self.debug:
                    print(f"  {line.rstrip() if self.debug else message}", flush=True)
                elif "%|" in line and time.monotonic() > quiet_until:  # the bar of a download, now and then
                    quiet_until = time.monotonic() + 15
                    print(f"  {line.strip()[:100]}", flush=True)

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not leave half of them running
        try:
            self.end()
        finally:
            signal.signal(signal.SIGINT, handler)

    def end(self, patience: float = 15) -> None:
        """Ask the group to end, wait, then force it. Nothing of it is left afterwards."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, sign)
            until = time.monotonic() + patience
            while self._alive() and time.monotonic() < until:
                time.sleep(0.05)
        self.reader.join(5)

    def _alive(self) -> bool:
        self.process.poll()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                state, _, group = stat.read_text().rpartition(")")[2].split()[:3]
                if group == str(self.process.pid) and state not in "ZX":  # the dead may wait long to be collected
                    return True
        return False

    def why_it_ended(self, model: str) -> str:
        """One sentence for a process that ended without a word."""
        self.reader.join(5)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        status = self.process.returncode
        if status == -signal.SIGKILL:
            return f"the engine's process was killed, as Linux does when main memory runs out (log: {self.log})"
        raised = "".join(line for line in self.tail if re.search(r"Error\b|Exception\b|error:", line))
        if known := known_failure(raised, model):
            return known
        how = f"signal {-status} ({signal.Signals(-status).name})" if status and status < 0 else f"status {status}"
        return f"the engine's process ended with {how} (log: {self.log})"


def ask_child(task: str, given: dict[str, Any], log: Path, heard: Tell) -> tuple[dict[str, Any], list[str]]:
    """Run one of the lab's tasks in a process of its own; returns what it returned, and the start-up lines.

    What the task tells on the way goes to `heard(kind, data)`; ("say", text) is printed. Its failure is raised as Stop.
    """
    read, write = os.pipe()
    told: queue.Queue[tuple[str, Any] | None] = queue.Queue()

    def listen() -> None:
        with os.fdopen(read, encoding="utf-8") as lines:
            for line in lines:
                told.put(tuple(json.loads(line)))
        told.put(None)

    command = [sys.executable, str(Path(__file__).resolve()), "--child", task, str(write)]
    used = used_mib()
    with Group(command, log, bool(given.get("debug")), [write]) as group:
        os.close(write)
        threading.Thread(target=listen, daemon=True).start()
        assert group.process.stdin
        with contextlib.suppress(BrokenPipeError), group.process.stdin as pipe:
            pipe.write(json.dumps(given))
        while True:
            try:
                message = told.get(timeout=0.5)
            except queue.Empty:
                if group.process.poll() is None or not told.empty():
                    continue
                message = None
            if message is None:
                raise Stop(group.why_it_ended(given.get("model", "the model")), group.lines)
            kind, data = message
            if kind == "done":
                break
            if kind == "stop":
                raise Stop(data, group.lines)
            if kind == "say":
                print(data, flush=True)
            else:
                heard(kind, data)
        with contextlib.suppress(subprocess.TimeoutExpired):
            group.process.wait(20)  # an engine that ends by itself leaves the card tidier than one that is ended
    wait_until_free(used)
    return data, group.lines


def be_child(tasks: dict[str, Task], task: str, write: str) -> int:
    """The other end of `ask_child`, in the new process."""
    os.set_inheritable(int(write), False)
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # the engine in this process: exact bytes can be read from it
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    given = json.load(sys.stdin)
    with os.fdopen(int(write), "w", encoding="utf-8") as pipe:

        def tell(kind: str, data: Any) -> None:
            print(json.dumps([kind, data]), file=pipe, flush=True)

        try:
            tell("done", tasks[task](given, tell))
            return 0
        except Exception as error:
            if not isinstance(error, Stop):
                traceback.print_exc()  # into the log
            tell("stop", explain(error, given.get("model", "the model")))
            return 1
