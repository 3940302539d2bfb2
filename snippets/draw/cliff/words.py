"""What the memory cliff says: every word in it, its finding, and its numbers as a table."""

from __future__ import annotations

from math import ceil

from snippets.draw.cliff.frame import Cliff
from snippets.draw.figure import Table
from snippets.draw.scale import memory_text, ratio_text
from snippets.units import count, short_tokens

WORDS = {
    "finding": "KV passes the weights at {tokens} tokens",
    "finding first": "KV is larger than the weights from the first token on",
    "finding never": "KV stays below the weights up to {tokens} tokens",
    "detail": "with {requests}, or at {crossing_requests} of {tokens}.",
    "detail never": "with {requests}. {crossing_requests} of {tokens} would pass them.",
    "flat": "Every layer has a window: from {tokens} tokens on the cache stops growing.",
    "bend": "The layers with a window are full at {tokens} tokens; from there on only the others grow.",
    "one request": "1 request",
    "requests": "{n} requests",
    "one token": "1 token",
    "tokens": "{n} tokens",
    "here": "you are here",
    "above": " ↑",
    "equal": "equal at {tokens} tokens",
    "weights": "weights {memory}",
    "kv": "KV of {requests}",
    "kv leaves": "to {memory} at {tokens}",
    "kv ends": "{memory} at {tokens}",
    "kv flat": "flat from {tokens} tokens",
    "one gpu": "1 GPU",
    "gpus": "{n} GPUs",
    "gpu above": "1 GPU ↑",
    "memory axis": "GiB",
    "token axis": "context of each request, tokens (log scale)",
    "table here": "{tokens}, where you are",
    "table equal": "{tokens}, the first at or above the weights",
}
SHORT = WORDS | {"here": "here", "equal": "equal at {tokens}"}
TABLE_HEAD = ("context, tokens", "KV cache", "KV ÷ weights", "GPUs for both")
TABLE_TOKENS = (1024, 8192, 65536, 2**20)


def _many(n: int, one: str, many: str) -> str:
    return WORDS[one] if n == 1 else WORDS[many].format(n=count(n))


def requests(n: int) -> str:
    """1 request, 8 requests."""
    return _many(n, "one request", "requests")


def tokens(n: int) -> str:
    """1 token, 8,192 tokens."""
    return _many(n, "one token", "tokens")


def gpus(n: int) -> str:
    """1 GPU, 2 GPUs."""
    return _many(n, "one gpu", "gpus")


def finding(cliff: Cliff) -> str:
    """What the drawing shows."""
    if cliff.crossing is None:
        return WORDS["finding never"].format(tokens=count(cliff.limit))
    if cliff.crossing == 1:
        return WORDS["finding first"]
    return WORDS["finding"].format(tokens=count(cliff.crossing))


def detail(cliff: Cliff) -> str:
    """For how many requests the finding holds, and what sliding windows do."""
    said = WORDS["detail never" if cliff.crossing is None else "detail"].format(
        requests=requests(cliff.batch),
        crossing_requests=requests(cliff.crossing_batch),
        tokens=tokens(cliff.seq_len),
    )
    if cliff.window is None:
        return said
    return f"{said} {WORDS['flat' if cliff.flat else 'bend'].format(tokens=count(cliff.window))}"


def kv_goes(cliff: Cliff, leaves: bool) -> str:
    """Where the curve goes: how much at the last context, or from where on it is flat."""
    if cliff.flat and cliff.window:
        return WORDS["kv flat"].format(tokens=count(cliff.window))
    last = memory_text(cliff.kv_bytes(cliff.limit))
    return WORDS["kv leaves" if leaves else "kv ends"].format(memory=last, tokens=short_tokens(cliff.limit))


def table(cliff: Cliff) -> Table:
    """The curve in numbers: round contexts, where the reader is, and the crossing."""
    contexts = sorted({*TABLE_TOKENS, cliff.seq_len, *([cliff.crossing] if cliff.crossing else [])})
    rows = []
    for context in contexts:
        kv = cliff.kv_bytes(context)
        named = "table here" if context == cliff.seq_len else "table equal" if context == cliff.crossing else ""
        shown = WORDS[named].format(tokens=count(context)) if named else count(context)
        needed = ceil((kv + cliff.weight_bytes) / cliff.gpu_bytes)
        rows.append((shown, memory_text(kv), ratio_text(kv / cliff.weight_bytes), count(needed)))
    return Table(TABLE_HEAD, tuple(rows))
