"""The three standard streams as a good command treats them: closed, full or cut short, they end it in a sentence."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import TextIO

from snippets.planner.command.errors import UsageError

NO_ANSWER = 2
INTERRUPTED, READER_LEFT = 130, 141  # 128 + SIGINT, 128 + SIGPIPE: what a shell reports of other commands
MAX_LINE_BYTES = 8 * 2**20


def guarded(run: Callable[[], int]) -> int:
    """The exit code of `run`, which reads and writes; what ends it early stands on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without → or × shows an escape
    try:
        if sys.stdout is None:
            raise UsageError("stdout is closed: there is nowhere to print to.")
        code = _exit_code(run)
        sys.stdout.flush()
        return code
    except UsageError as error:
        say(str(error))
        return NO_ANSWER
    except BrokenPipeError:  # the reader, such as head, has enough
        _give_up(sys.stdout)
        return READER_LEFT
    except OSError as error:
        say(f"stdout cannot be written: {error.strerror or error}.")
        _give_up(sys.stdout)
        return NO_ANSWER
    except KeyboardInterrupt:
        return INTERRUPTED


def _exit_code(run: Callable[[], int]) -> int:
    try:
        return run()
    except SystemExit as end:  # argparse's --help
        return end.code if isinstance(end.code, int) else 0


def out(text: str) -> None:
    """Write to stdout now, so that a fault shows here and not at the interpreter's end."""
    sys.stdout.write(text)
    sys.stdout.flush()


def say(text: str) -> None:
    """A line on stderr, if there is one."""
    try:
        if sys.stderr is not None:
            print(text, file=sys.stderr, flush=True)
    except OSError:
        _give_up(sys.stderr)


def _give_up(stream: TextIO) -> None:
    """What is still buffered goes nowhere, or the interpreter complains about it at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return


def stdin_lines() -> Iterator[bytes]:
    """Lines of stdin, each of bounded length. Raises UsageError."""
    if sys.stdin is None:
        raise UsageError("stdin is closed; pipe lines of JSON into it.")
    number = 0
    try:
        while line := sys.stdin.buffer.readline(MAX_LINE_BYTES + 1):
            number += 1
            if len(line) > MAX_LINE_BYTES:
                raise UsageError(f"Line {number} of stdin has more than {MAX_LINE_BYTES // 2**20} MiB.")
            yield line
    except OSError as error:
        raise UsageError(f"stdin cannot be read: {error.strerror or error}.") from None
