"""Lines of vLLM's log that say where the memory went, and the numbers in them."""

from __future__ import annotations

import re

LOG_PREFIX = re.compile(r"^(?:\([^)]*\) )*(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]*\] ")
STARTUP_LINE = re.compile(
    r"(Model loading took|Estimated CUDA graph memory|Graph capturing finished|Available KV cache memory|"
    r"GPU KV cache size|Maximum concurrency for|Free memory on device|Explicitly set|Auto set|Using max model len|"
    r"Using \S+ attention backend|Using \S+ backend|Setting kv cache block size|Chunked prefill is enabled|"
    r"Overriding num_gpu_blocks|init engine)"
)


def startup_message(line: str) -> str | None:
    """The message of a line worth keeping, without time, file and process; None for any other line."""
    message = LOG_PREFIX.sub("", line.strip())
    return message if STARTUP_LINE.match(message) else None


def logged_number(lines: list[str], words: str) -> float | None:
    """The number printed after these words (a regular expression), when they were printed."""
    found = re.search(words + r"\s*([\d,]+(?:\.\d+)?)", "\n".join(lines))
    return float(found[1].replace(",", "")) if found else None


def logged_backend(lines: list[str]) -> str | None:
    """The attention backend as the log names it."""
    found = re.search(r"Using (?:AttentionBackendEnum\.)?(\S+?) (?:attention )?backend", "\n".join(lines))
    return found[1] if found else None
