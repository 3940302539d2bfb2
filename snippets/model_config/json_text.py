"""JSON text to a dictionary, with the place of every fault and a guess at what was pasted instead of a config.json."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping

from snippets.model_config.model_config import ConfigError

MAX_CHARACTERS = 2 * 2**20  # a config.json is a few KB; the largest published ones are under 1 MB
MAX_DEPTH = 64  # of brackets; published configs nest about six deep
MAX_DIGITS = 400  # 1e308 written out has 309
BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)  # a string, closed or not, or a bracket
HOW = "Paste the config.json of a model, which starts with a brace."


def error_at(text: str, position: int, message: str) -> ConfigError:
    """A ConfigError with line and column, both from 1."""
    position = max(0, min(position, len(text)))
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return ConfigError("", f"Line {line}, column {column}: {message}", line, column)


def looks_like(text: str) -> str | None:
    """What a text that is not JSON looks like, as a sentence; None without a guess."""
    start = text.lstrip()[:4000]
    if not start:
        return f"There is no text. {HOW}"
    if start.startswith("GGUF") or "\x00" in start:
        return f"This looks like a binary file (GGUF or weights), not a config.json. {HOW}"
    if start.startswith("version https://git-lfs"):
        return f"This is a Git LFS pointer: the file itself was not downloaded. {HOW}"
    if re.match(r"(?i)<!doctype html|<html|<head|<body", start):
        return f"This looks like a web page, not a config.json. Use the raw file. {HOW}"
    if re.match(r"https?://\S+\s*$", start):
        return "This is an address. Nothing is fetched from here: open it and paste the text of the file."
    if re.match(r"[\w.-]+/[\w.-]+\s*$", start):
        return f"This looks like a model's name. Nothing is fetched from here. {HOW}"
    if re.match(r"[A-Za-z0-9_]+Config\s*[{(]", start):
        return "This looks like a printed transformers config. Paste from its first brace on, or the file itself."
    if start.startswith("---") or re.match(r"#{1,6} ", start) or "```" in start[:400]:
        return f"This looks like a README. {HOW}"
    if re.match(r"[\w_]+\s*:\s", start):
        return f"This looks like YAML, not JSON. {HOW}"
    return None


def _hint(text: str, position: int) -> str:
    """What to change at the place where JSON breaks."""
    here, before = text[position : position + 12], text[:position].rstrip()
    if re.match(r"(True|False|None)\b", here):
        word = here.split(",")[0].split()[0].rstrip("}],")
        json_word = {"True": "true", "False": "false", "None": "null"}.get(word, word)
        return f'"{word}" is Python; JSON writes {json_word}.'
    if here.startswith("'"):
        return "a single quote: JSON takes double quotes only (this looks like a printed Python dict)."
    if before.endswith(",") and here[:1] in ("}", "]", ""):
        return "a comma before a closing bracket: JSON allows none after the last entry."
    if here.startswith(("//", "/*", "#")):
        return "a comment: JSON has none."
    if not here:
        return "the text ends here, but a bracket or quote is still open: part of the file is missing."
    return ""


# json's own words for a fault, said plainly
PLAINLY = {
    "Extra data": "the object ended before this: only one may stand in the text.",
    "Invalid control character at": "a line break or tab inside a string: JSON writes it as \\n or \\t.",
    "Unterminated string starting at": "a quote opens here and never closes: part of the file is missing.",
    "Expecting ',' delimiter": "a comma or a closing bracket is missing before this.",
    "Expecting ':' delimiter": "a colon is missing before this.",
    "Expecting value": "a value is missing here.",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing here.",
}


class _TooLong(ValueError):
    """A number with more digits than any size has."""


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _TooLong(digits[:20])
    return int(digits)


def _check_depth(text: str) -> None:
    """Refuse deep nesting before the parser recurses into it."""
    depth = 0
    for match in BRACKETS.finditer(text):
        bracket = match.group()
        if bracket in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise error_at(text, match.start(), f"brackets nest more than {MAX_DEPTH} deep: no config.json does.")
        elif bracket in "]}":
            depth -= 1


def parse(text: str, repeated: list[str] | None = None) -> dict[str, object]:
    """The object a config.json holds. Bare Infinity and NaN pass, as in Python's json; of equal keys the last wins.

    Keys that stand twice in one object are added to `repeated`.
    Raises ConfigError with line and column where the text is not JSON, and a sentence where it is something else.
    """
    if len(text) > MAX_CHARACTERS:
        raise ConfigError("", f"The text has {len(text):,} characters: a config.json has a few thousand.", 1, 1)
    text = text.removeprefix("\ufeff")
    guess = looks_like(text)
    if guess is not None and not text.lstrip().startswith(("{", "[")):
        raise error_at(text, len(text) - len(text.lstrip()), guess)
    _check_depth(text)
    try:
        value = json.loads(text, parse_int=_whole, object_pairs_hook=lambda pairs: _pairs(pairs, repeated))
    except json.JSONDecodeError as error:
        plain = PLAINLY.get(error.msg, f"{error.msg[:1].lower()}{error.msg[1:]}.")
        raise error_at(text, error.pos, _hint(text, error.pos) or plain) from None
    except _TooLong as error:
        place = text.find(str(error))
        raise error_at(text, place, f"a number with more than {MAX_DIGITS} digits.") from None
    except (RecursionError, ValueError):
        raise error_at(text, 0, "the text could not be read as JSON.") from None
    return _object(text, value)


def _pairs(pairs: list[tuple[str, object]], repeated: list[str] | None) -> dict[str, object]:
    found = dict(pairs)
    if repeated is not None and len(found) != len(pairs):
        repeated.extend(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
    return found


def _object(text: str, value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return {str(key): item for key, item in value.items()}
    kind = "a list" if isinstance(value, list) else "one bare value"
    raise error_at(text, len(text) - len(text.lstrip()), f"the text holds {kind}, not an object. {HOW}")


def other_file(fields: Mapping[str, object]) -> str | None:
    """A sentence when the object is another file of a model's repository; None when it may be a config.json."""
    names = set(fields)
    if "weight_map" in names:
        return "This is a safetensors index (weight_map), which lists tensors. Paste config.json instead."
    if names & {"added_tokens_decoder", "tokenizer_class", "chat_template"} and not names & {
        "model_type",
        "hidden_size",
    }:
        return "This is a tokenizer_config.json. Paste config.json instead."
    if {"model", "added_tokens"} <= names or {"model", "pre_tokenizer"} <= names:
        return "This is a tokenizer.json. Paste config.json instead."
    if {"dim", "n_layers"} <= names and "model_type" not in names:
        return "This is params.json, Mistral's (or Meta's) own format. Paste the config.json of the same repository."
    if "quantization" in names and not names & {"model_type", "hidden_size", "architectures", "text_config"}:
        return "This is hf_quant_config.json. Paste config.json, and this file beside it."
    if names & {"do_sample", "temperature", "max_new_tokens"} and not names & {"model_type", "hidden_size"}:
        return "This is a generation_config.json. Paste config.json instead."
    if "peft_type" in names:
        return "This is a LoRA adapter_config.json. Paste the config.json of its base model."
    if names & {"image_processor_type", "feature_extractor_type", "processor_class"} and "model_type" not in names:
        return "This is a preprocessor_config.json. Paste config.json instead."
    if "_class_name" in names:
        return "This is a diffusers config: image models keep no KV cache in vLLM."
    return None
