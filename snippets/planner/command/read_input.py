"""The model named on the line: a file, a folder with a config.json, stdin, a catalog key or a repository in it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from snippets.catalog.configs import catalog_config, config_entries
from snippets.model_config.model_config import ConfigError, ModelConfig
from snippets.model_config.read import read_text
from snippets.planner.command.errors import UsageError

QUANTIZATION = "hf_quant_config.json"
MAX_BYTES = 64 * 2**20  # the largest published config.json has less than 1 MiB


@dataclass(frozen=True)
class Input:
    """A model that was read."""

    config: ModelConfig
    name: str  # what `vllm serve` would be given


def read_model(given: str) -> Input:
    """The model of a path, `-`, or a name. Raises UsageError with a sentence."""
    if given == "-":
        return Input(_config(_text(sys.stdin.buffer.read(MAX_BYTES + 1), "stdin"), None, "stdin"), "MODEL")
    path = Path(given)
    if path.exists():
        return _file(path)
    for key, entry in config_entries().items():
        if given in (key, entry.repository):
            return Input(catalog_config(key), entry.repository)
    raise UsageError(_unknown(given))


def _file(path: Path) -> Input:
    file = path / "config.json" if path.is_dir() else path
    if path.is_dir() and not file.exists():
        raise UsageError(f"{path} is a folder without a config.json.")
    beside = file.parent / QUANTIZATION  # of NVIDIA's checkpoints
    text = _text(_bytes(file), str(file))
    quantization = _text(_bytes(beside), str(beside)) if file.name == "config.json" and beside.is_file() else None
    name = str(path) if path.is_dir() else file.resolve().parent.name
    return Input(_config(text, quantization, str(file)), name or "MODEL")


def _bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}.") from None


def _text(raw: bytes, name: str) -> str:
    if len(raw) > MAX_BYTES:
        raise UsageError(f"{name} has more than {MAX_BYTES // 2**20} MiB; a config.json has a few KiB.")
    if not raw.strip():
        raise UsageError(f"{name} is empty; a config.json is a JSON object.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not text in UTF-8; give the model's config.json, not its weights.") from None


def _config(text: str, quantization: str | None, name: str) -> ModelConfig:
    try:
        return read_text(text, quantization)
    except ConfigError as error:
        place = f", line {error.line}, column {error.column}" if error.line else ""
        raise UsageError(f"{name}{place}: {error}") from None


def _unknown(given: str) -> str:
    names = [name for key, entry in config_entries().items() for name in (key, entry.repository)]
    lowered = {name.lower(): name for name in names}
    near = [lowered[name] for name in get_close_matches(given.lower(), lowered, n=2, cutoff=0.5)]
    hint = f" Near it in the catalog: {' and '.join(near)}." if near else ""
    return f"{given!r} is neither a file nor a model of the catalog (--list-models).{hint}"
