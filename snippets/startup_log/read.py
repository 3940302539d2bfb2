"""From the text of a log to what it says. A text of several starts is read to its last one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from snippets.startup_log import patterns
from snippets.startup_log.settings import READERS, SWITCHES, take
from snippets.startup_log.start import Line, NotALogError, Start

MOST_CHARACTERS = 20_000  # of a line: the engine's config line has some 8,000
MOST_LINES = 100_000
MOST_SHOWN = 240
WORDS = {
    "none": "No line of vLLM's start is in this text: it needs at least “Available KV cache memory: … GiB”, "
    "“GPU KV cache size: … tokens”, “Model loading took … GiB”, or the error that ended the start.",
    "starts": "The text holds {n} starts; the last one is read.",
    "long": "The first {n} lines are read.",
    "drafter": "A drafter (speculative decoding) is in the log. Its layers are not in the prediction.",
}
_NAMED = {name: patterns.named(name) for name in (*READERS, "max_seq_len")}
_NEGATED = {name: patterns.negated(name) for name in SWITCHES}
# A line without any of these says nothing that is looked for: a server's log has thousands of them.
_TELLING = (
    *("GiB", " GB", "KV cache size", "tokens per request", " blocks", "num_gpu_blocks", "LLM engine", "vLLM "),
    *("vllm serve", "--", "'model", "model='", "_size=", "dtype=", "max_model_len", "seq_len", "seq len", "model len"),
    *("gpu_memory_utilization", "Using ", "block size to", "max_num_batched_tokens", "memory"),
)
_SILENT = ("throughput:", "HTTP/1", "Received request", "Added request")  # lines of a server that is running
_NOT_A_COUNT = frozenset({"auto", "-1", "None"})  # of max_model_len: decided later in the log


class _Reader:
    """One start as it is read."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {"weights_gib": [], "available_gib": []}
        self.given: dict[str, object] = {}
        self.lines: list[Line] = []

    @property
    def has_memory(self) -> bool:
        """Whether anything is known that a later start would print again."""
        return len(self.found) > 2 or any(self.found.values())

    def line(self, number: int, text: str) -> None:
        """Take what a line says."""
        before = (len(self.lines), repr(self.found), repr(self.given))
        self._sizes(text)
        self._counts(text)
        self._settings(text)
        self._words(text)
        if before[1:] != (repr(self.found), repr(self.given)):
            self.lines.append(Line(number, text[:MOST_SHOWN]))

    def _sizes(self, text: str) -> None:
        for name, variants in patterns.PER_RANK.items():
            for variant in variants:
                if (match := variant.search(text)) and not ("Actual usage" in match[0] and self.found[name]):
                    self.found[name].append(float(match[1]))
        for name, variants in patterns.GIB_SIZES.items():
            for variant in variants:
                if match := variant.search(text):
                    self.found[name] = float(match[match.re.groups])
        if match := patterns.TOTAL_WITH_FREE.search(text):
            self.found["free_gib"] = float(match[1])

    def _counts(self, text: str) -> None:
        for name, pattern in patterns.COUNTS.items():
            if match := pattern.search(text):
                self.found[name] = int(match[1].replace(",", ""))
        if match := patterns.CONCURRENCY.search(text):
            self.given["max_model_len"] = match[1].replace(",", "")
            self.found["max_concurrency"] = float(match[2])

    def _settings(self, text: str) -> None:
        for name, pattern in _NAMED.items():
            for named in pattern.finditer(text):
                value = next(group for group in named.groups() if group)
                own = "max_model_len" if name == "max_seq_len" else name
                if not (own == "max_model_len" and value in _NOT_A_COUNT):
                    self.given[own] = value.rstrip(",")
        for name, pattern in _NEGATED.items():
            if match := pattern.search(text):
                self.given[name] = "false" if match[1] else "true"
        for name, pattern in patterns.ALONE.items():
            if match := pattern.search(text):
                self.given["max_model_len" if name == "refused_len" else name] = match[1]

    def _words(self, text: str) -> None:
        for name, pattern in (
            ("version", patterns.VERSION),
            ("model", patterns.MODEL),
            ("attention_backend", patterns.BACKEND),
        ):
            if (match := pattern.search(text)) and not (name == "model" and self.found.get("model")):
                self.found[name] = match[1].rstrip(").,")
        if patterns.DRAFTER.search(text):
            self.found["has_drafter"] = True
        if patterns.ON_CPU.search(text):
            self.found["is_cpu"] = True
        for pattern in patterns.REFUSALS:
            if match := pattern.search(text):
                self.found["refusal"] = match[0].strip()

    def start(self) -> Start:
        """What was read."""
        settings, notes = take(self.given)
        found: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in self.found.items()
        }
        drafter = (WORDS["drafter"],) if found.get("has_drafter") else ()
        return Start(settings=settings, lines=tuple(self.lines), notes=(*notes, *drafter), **found)


_SAYS_MEMORY = ("weights_gib", "available_gib", "kv_tokens", "gpu_blocks", "max_concurrency", "refusal")


def read_log(text: str) -> Start:
    """The last start in a text. Raises NotALogError where no line of a start is in it."""
    starts, reader = 1, _Reader()
    lines = re.split(r"\r\n|\n|\r|\\n", text, maxsplit=MOST_LINES)
    for number, raw in enumerate(lines[:MOST_LINES], 1):
        if not any(word in raw for word in _TELLING) or any(word in raw for word in _SILENT):
            continue
        line = _clean(raw)
        if patterns.BEGINS.search(line) and reader.has_memory and any(map(reader.found.get, _SAYS_MEMORY)):
            starts, reader = starts + 1, _Reader()
        reader.line(number, line)
    found = reader.start()
    if not any(getattr(found, name) not in (None, (), "") for name in _SAYS_MEMORY):
        raise NotALogError(WORDS["none"])
    more = [WORDS["starts"].format(n=starts)] * (starts > 1) + [WORDS["long"].format(n=f"{MOST_LINES:,}")] * (
        len(lines) > MOST_LINES
    )
    return replace(found, notes=(*more, *found.notes))


def _clean(line: str) -> str:
    """Without colours and characters that show nothing, cut to a length that a line of vLLM may have."""
    return "".join(c if c.isprintable() else " " for c in patterns.COLOUR.sub("", line[:MOST_CHARACTERS])).strip()
