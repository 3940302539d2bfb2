"""Settings that a log or a result names, as the planner takes them; what is out of bounds is refused with a note."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from snippets.planner.settings.dtypes import KV_CACHE_DTYPES
from snippets.startup_log.start import Setting

DTYPES = ("auto", "bfloat16", "float16", "float32")
WORDS = {
    "refused": "{name} = {value} is left out: it takes {allowed}.",
    "whole": "a whole number from 1 to {most}",
    "share": "a share above 0 and at most 1",
    "yes": "true or false",
    "one of": "one of vLLM's",
}


class _OutOfBoundsError(ValueError):
    """The value is not one that vLLM could have started with; the message says what is allowed."""


def _whole(most: int) -> Callable[[str], Setting]:
    def read(text: str) -> Setting:
        digits = text.replace(",", "")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= 12 and 1 <= int(digits) <= most):
            raise _OutOfBoundsError(WORDS["whole"].format(most=f"{most:,}"))
        return int(digits)

    return read


def _share(text: str) -> Setting:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise _OutOfBoundsError(WORDS["share"])
    return value


def _switch(text: str) -> Setting:
    if text.lower() not in ("true", "false"):
        raise _OutOfBoundsError(WORDS["yes"])
    return text.lower() == "true"


def _dtype(text: str) -> Setting:
    name = {"half": "float16", "float": "float32"}.get(text.removeprefix("torch."), text.removeprefix("torch."))
    if name not in DTYPES:
        raise _OutOfBoundsError(WORDS["one of"])
    return name


def _kv_dtype(text: str) -> Setting:
    if text not in KV_CACHE_DTYPES:
        raise _OutOfBoundsError(WORDS["one of"])
    return text


READERS: Mapping[str, Callable[[str], Setting]] = {
    "max_model_len": _whole(16 * 2**20),
    "gpu_memory_utilization": _share,
    "max_num_seqs": _whole(65536),
    "max_num_batched_tokens": _whole(2**21),
    "block_size": _whole(8192),
    "kv_cache_dtype": _kv_dtype,
    "dtype": _dtype,
    "tensor_parallel_size": _whole(64),
    "pipeline_parallel_size": _whole(32),
    "data_parallel_size": _whole(64),
    "decode_context_parallel_size": _whole(16),
    "num_gpu_blocks_override": _whole(10**9),
    "enforce_eager": _switch,
    "enable_prefix_caching": _switch,
    "enable_chunked_prefill": _switch,
    "enable_expert_parallel": _switch,
    "disable_hybrid_kv_cache_manager": _switch,
}
SWITCHES = tuple(name for name, read in READERS.items() if read is _switch)


def take(given: Mapping[str, object]) -> tuple[dict[str, Setting], tuple[str, ...]]:
    """The settings that are known here, and a note for each that cannot be; others are passed over."""
    found: dict[str, Setting] = {}
    notes: list[str] = []
    for name, value in given.items():
        if name not in READERS or value is None or value == "None":
            continue
        text = str(value)[:200]
        try:
            found[name] = READERS[name](text)
        except _OutOfBoundsError as error:
            notes.append(WORDS["refused"].format(name=name, value=text[:40], allowed=error))
    return found, tuple(notes)
