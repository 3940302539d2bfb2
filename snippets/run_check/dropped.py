"""Whatever was dropped: a result file, a log, or a sentence that says why it is neither."""

from __future__ import annotations

from snippets.model_config.json_text import parse
from snippets.model_config.model_config import ConfigError
from snippets.run_check.from_log import of_start
from snippets.run_check.from_result import NotAResultError, read_result
from snippets.run_check.run import Dropped
from snippets.startup_log.read import read_log
from snippets.startup_log.start import NotALogError

WORDS = {
    "log": "start-up log",
    "version": " of vLLM {version}",
    "model": ", {model}",
    "broken": "This begins like a result file, and is no whole JSON. {fault}",
}


class UnreadableError(ValueError):
    """The text is neither; line and column count from 1, 0 when it has no place."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


def read(text: str) -> Dropped:
    """What a text holds. Raises UnreadableError."""
    fault: ConfigError | None = None
    if text.lstrip("\ufeff \t\r\n").startswith("{"):
        try:
            fields = parse(text)
        except ConfigError as error:
            fault = error  # a log may begin with a brace too
        else:
            try:
                return read_result(fields)
            except NotAResultError as error:
                raise UnreadableError(str(error)) from None
    try:
        start = read_log(text)
    except NotALogError as error:
        if fault is None:
            raise UnreadableError(str(error)) from None
        said = str(fault).partition(": ")[2] if str(fault).startswith("Line ") else str(fault)
        place = f"Line {fault.line}, column {fault.column}: {said}" if fault.line else said
        raise UnreadableError(WORDS["broken"].format(fault=place), fault.line, fault.column) from None
    title = WORDS["log"]
    title += WORDS["version"].format(version=start.version) if start.version else ""
    title += WORDS["model"].format(model=start.model) if start.model else ""
    return Dropped(title, (of_start(start),))
