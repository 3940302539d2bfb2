"""The model named on the line: a file, a folder with a config.json, stdin, a catalog key or a repository in it."""

from __future__ import annotations

import os
import re
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from snippets.catalog.configs import catalog_config, config_entries
from snippets.model_config.json_text import MAX_CHARACTERS, parse
from snippets.model_config.model_config import ConfigError, ModelConfig
from snippets.model_config.read import read_text
from snippets.planner.command.errors import UsageError
from snippets.planner.command.names import find_model, unknown_model
from snippets.planner.command.numbers import shown

CONFIG, QUANTIZATION = "config.json", "hf_quant_config.json"  # the second of NVIDIA's checkpoints
MAX_BYTES = 4 * MAX_CHARACTERS  # of UTF-8; the largest published config.json has less than 1 MiB
MODEL = "MODEL"
CACHED = re.compile(r"/models--([^/]+)/snapshots/[0-9a-f]{40}$")  # where Hugging Face's tools keep what they fetched


@dataclass(frozen=True)
class Input:
    """A model that was read."""

    config: ModelConfig
    name: str  # what `vllm serve` would be given
    guess: str = ""  # where the name is none that vLLM could load for sure: what it was made from


def read_model(given: str) -> Input:
    """The model of a path, `-`, or a name. Raises UsageError with a sentence."""
    if given == "-":
        return Input(_config(_text(_stdin(), "stdin"), None, "stdin"), MODEL, "a placeholder")
    path = Path(given)
    try:
        is_there = path.exists()
    except (OSError, ValueError) as error:  # a name longer than any file's, or with a null byte
        reason = (error.strerror if isinstance(error, OSError) else "") or "no file has such a name"
        raise UsageError(f"{shown(given)} cannot be read: {reason}.") from None
    if is_there:
        return _file(path)
    key = find_model(given)
    if key is None:
        raise UsageError(unknown_model(given))
    return Input(catalog_config(key), config_entries()[key].repository)


def note_of_guess(model: Input) -> str:
    """One sentence for the person who copies the command; empty where the name is the model's."""
    if not model.guess:
        return ""
    return f"In the command {model.name} is {model.guess}: put the model's repository or folder in its place."


def _file(path: Path) -> Input:
    file = path / CONFIG if path.is_dir() else path
    if path.is_dir() and not file.exists():
        raise UsageError(f"{path} is a folder without a {CONFIG}.")
    text = _text(_bytes(file), str(file))
    beside = file.parent / QUANTIZATION
    quantization = _text(_bytes(beside), str(beside)) if file.name == CONFIG and beside.is_file() else None
    if quantization is not None:
        _checked(quantization, str(beside))
    config = _config(text, quantization, str(file))
    return Input(config, str(path)) if path.is_dir() else Input(config, *_guessed(file))


def _guessed(file: Path) -> tuple[str, str]:
    """A name for the model of a lone file, and what it was made from; "" where vLLM loads that name."""
    if file.name == CONFIG and any(file.parent.glob("*.safetensors")):
        return str(file.parent), ""
    cached = CACHED.search(file.absolute().parent.as_posix())
    if file.name == CONFIG and cached:
        return cached[1].replace("--", "/"), ""
    if file.name == CONFIG:
        name, source = file.resolve().parent.name, "a guess from the folder's name"
    else:
        name, source = file.stem, "a guess from the file's name"
    says_nothing = not name or name.lower().startswith(("config", "-"))
    return (MODEL, "a placeholder") if says_nothing else (name, source)


def _stdin() -> bytes:
    if sys.stdin is None:
        raise UsageError("stdin is closed; pipe a config.json into it, or name a file.")
    try:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"stdin cannot be read: {error.strerror or error}.") from None


def _bytes(file: Path) -> bytes:
    """Of a regular file: a pipe may never open, a device never end."""
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):
            raise UsageError(f"{file} is not a regular file; pipe its text into stdin, with - for the model.")
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
        raise UsageError(_placed(error, name)) from None


def _checked(text: str, name: str) -> None:
    """Faults of the side file carry its own name."""
    try:
        parse(text)
    except ConfigError as error:
        raise UsageError(_placed(error, name)) from None


def _placed(error: ConfigError, name: str) -> str:
    """The message, which begins with line and column where it has them."""
    message = str(error)
    return f"{name}, l{message[1:]}" if message.startswith("Line ") else f"{name}: {message}"
