"""max_model_len: what was typed, what the model allows, what is in force."""

from __future__ import annotations

import re

from snippets.model_config.model_config import ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError

DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
MOST_DIGITS = 40  # a number of hundreds is infinite as a float

SCALED = ("linear", "dynamic", "yarn")  # rope types that Transformers takes only with a factor

ALIASES = ("original_max_position_embeddings", "n_positions", "seq_length")  # attribute_map of the config classes
NO_KEY = "default"  # the config names no length: vLLM takes any (config/model.py:2186)


def parse_human_int(text: str, field: str = "value") -> int:
    """An integer with vLLM's suffixes: 8k is 8,000, 8K is 8,192, 1.5k is 1,500 (utils/argparse_utils.py:29).

    A decimal before a binary suffix is refused, as vLLM refuses it.
    """
    value = text.strip()
    if len(value) > MOST_DIGITS:
        raise EngineArgsError(field, f"{field} has {len(value):,} characters; no size has more than {MOST_DIGITS}")
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kKmMgGtT])", value)
    if match is None:
        try:
            return int(value)
        except ValueError:
            raise EngineArgsError(
                field, f"{field} must be a whole number such as 8192, 8k or 8K; got {text!r}"
            ) from None
    number, suffix = match.groups()
    if suffix in DECIMAL:
        return int(float(number) * DECIMAL[suffix])
    if "." in number:
        raise EngineArgsError(
            field,
            f"Decimals are not allowed with binary suffixes like {suffix}. "
            f"Did you mean to use {number}{suffix.lower()} instead?",
        )
    return int(number) * BINARY[suffix]


def parse_max_model_len(text: str) -> int | str | None:
    """What stands behind --max-model-len: a number, "auto" (also -1), or None for an empty text."""
    value = text.strip()
    if not value:
        return None
    if value == "-1" or value.lower() == "auto":
        return "auto"
    length = parse_human_int(value, "max_model_len")
    if length < 1:
        raise EngineArgsError("max_model_len", f"max_model_len must be a positive integer, got {length}")
    return length


def resolve_max_model_len(config: ModelConfig, args: EngineArgs) -> tuple[int, str]:
    """The length in force before any auto-fit, and why (config/model.py:2152 _get_and_verify_max_len)."""
    _check_rope(config)
    asked = args.max_model_len
    if asked == "auto" and config.max_model_len_key == NO_KEY:
        raise EngineArgsError(
            "max_model_len",
            "max_model_len must be a positive integer, got int: -1. Example: max_model_len=2048. This config names no "
            "length for vLLM to start from.",
        )
    if asked is None or asked == "auto":
        length = config.default_max_model_len or config.max_model_len
        why = "shrunk later to what fits" if asked == "auto" else "not given"
        return (
            length,
            f"{why}: the model's own length, from {config.max_model_len_key or 'the default of 2,048'} \
(config/model.py:2231)",
        )
    if not isinstance(asked, int) or asked < 1:
        raise EngineArgsError("max_model_len", f"max_model_len must be a positive integer, got {asked!r}")
    if asked > config.max_model_len and config.max_model_len_key != NO_KEY:
        declared = config.text_fields.get("model_max_length")
        if not isinstance(declared, int) or asked > declared:
            raise EngineArgsError("max_model_len", _too_long(config, asked, declared))
    return asked, "given"


def _check_rope(config: ModelConfig) -> None:
    """The length is multiplied with the factor; without one Transformers ends the start (modeling_rope_utils.py)."""
    for name in ("rope_parameters", "rope_scaling"):
        rope = config.text_fields.get(name)
        if not isinstance(rope, dict):
            continue
        nested = [value for value in rope.values() if isinstance(value, dict)]
        for one in nested or [rope]:
            kind = one.get("rope_type") or one.get("type")
            if kind in SCALED and "factor" not in one:
                raise EngineArgsError(
                    name, f"Missing required keys in `rope_parameters` for 'rope_type'='{kind}': {{'factor'}}"
                )


def _too_long(config: ModelConfig, asked: int, declared: object) -> str:
    """vLLM's words (config/model.py:2254)."""
    return (
        f"User-specified max_model_len ({asked}) is greater than the derived max_model_len "
        f"({_key_as_vllm_prints(config)}={_as_vllm_prints(config)} or model_max_length={declared} in model's "
        "config.json). To allow overriding this maximum, set the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1. "
        "VLLM_ALLOW_LONG_MAX_MODEL_LEN must be used with extreme caution. If the model uses relative position encoding "
        "(RoPE), positions exceeding derived_max_model_len lead to nan. If the model uses absolute position encoding, "
        "positions exceeding derived_max_model_len will cause a CUDA array out-of-bounds error."
    )


def _key_as_vllm_prints(config: ModelConfig) -> str | None:
    """The config class's own name for the field; YaRN's original length is not named either."""
    key = config.max_model_len_key.rpartition(".")[2]
    return "max_position_embeddings" if key in ALIASES else key or None


def _as_vllm_prints(config: ModelConfig) -> str:
    """As a float (config/model_arch.py keeps one), unless YaRN's two whole numbers took its place."""
    for name in ("rope_parameters", "rope_scaling"):
        rope = config.text_fields.get(name)
        is_yarn = isinstance(rope, dict) and "yarn" in (rope.get("rope_type"), rope.get("type"))
        if is_yarn and isinstance(rope, dict) and isinstance(rope.get("factor"), int):
            return f"{config.max_model_len}"
    return f"{config.max_model_len}.0"
