"""The longest request a model is made for, as vLLM derives it from the config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from snippets.model_config.fields import Fields, Record, shown

LENGTH_KEYS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length", "max_target_positions",
    "max_sequence_length", "max_seq_length", "seq_len",
)  # fmt: skip
DEFAULT_LENGTH = 2048  # config/model.py _get_and_verify_max_len, when the config has none of the keys
MAX_LENGTH = 1 << 50
# transformers configuration_utils.py ALLOWED_LAYER_TYPES, those that rope_parameters is keyed by
LAYER_TYPES = {
    "full_attention", "sliding_attention", "chunked_attention", "linear_attention", "compressed_sparse_attention",
    "heavily_compressed_attention", "hybrid_sliding", "hybrid", "mamba", "attention",
}  # fmt: skip
# What a config class fills in when the config has neither rope_scaling nor rope_parameters
CLASS_ROPE: Mapping[str, Mapping[str, object]] = {
    "gpt_oss": {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096},
    "ministral3": {"rope_type": "yarn", "factor": 16.0, "original_max_position_embeddings": 16384},
}
UNSCALED = ("su", "longrope", "llama3")


@dataclass(frozen=True)
class Lengths:
    """`longest` is the most --max-model-len may be; `default` what it is when not given."""

    longest: int
    default: int
    key: str


def derived(text: Fields) -> tuple[int | None, str]:
    """The smallest of the length keys, model_max_length first (derive_max_model_len_and_key); None without any."""
    best: int | None = None
    best_key = ""
    for key in LENGTH_KEYS:
        value = text.optional_integer(key, maximum=MAX_LENGTH)
        if value is not None and (best is None or value < best):
            best, best_key = value, text.key_of(key) or key
    override = text.optional_integer("model_max_length", maximum=MAX_LENGTH)
    return (override, "model_max_length") if override else (best, best_key)


def ropes(text: Fields, model_type: str) -> list[Fields]:
    """The rope settings: one, or one per layer type; rope_scaling wins over rope_parameters."""
    scaling = text.child("rope_scaling")
    rope = scaling if scaling is not None and scaling.values else text.child("rope_parameters")
    if rope is None or not rope.values:
        filled_in = CLASS_ROPE.get(model_type)
        return [Fields(filled_in, Record())] if filled_in else []
    rope.raw("rope_theta")  # keeps the object in a reduced config, whatever else of it counts
    if set(rope.values) <= LAYER_TYPES:
        return [child for name in rope.values if (child := rope.child(name)) is not None]
    return [rope]


def rope_type(rope: Fields, model_type: str) -> str:
    """rope_type, or the older `type`, with the old names replaced (patch_legacy_rope_type)."""
    kind = rope.text("rope_type") or rope.text("type") or "default"
    if kind == "su" or (model_type in ("phi3", "phi4mm") and kind == "yarn"):
        return "longrope"
    return "default" if kind == "mrope" else kind


def _factor(rope: Fields) -> float | None:
    value = rope.raw("factor")
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
        raise rope.error("factor", f"is {shown(value)}: a positive number is needed there.")
    return float(value)


def lengths(text: Fields, model_type: str) -> Lengths:
    """vLLM's derived maximum and default (config/model.py _get_and_verify_max_len)."""
    longest, key = derived(text)
    if longest is None:
        text.note(f"The config names no length (max_position_embeddings or kin): vLLM takes {DEFAULT_LENGTH}.")
        longest, key = DEFAULT_LENGTH, "default"
    settings = ropes(text, model_type)
    types = [rope_type(rope, model_type) for rope in settings]
    scaled = float(longest)
    if "gemma3" not in model_type:
        factor: float | None = 1.0
        for rope, kind in zip(settings, types, strict=True):
            if kind in UNSCALED:
                continue
            factor = _factor(rope) if rope.key_of("factor") is not None else factor
            if kind == "yarn":
                scaled, key = float(_original(text, rope, longest)), rope.name("original_max_position_embeddings")
        scaled *= factor or 1.0
    result = int(scaled)
    if not 1 <= result <= MAX_LENGTH:
        raise text.error(key, f"and the rope factor give {result} tokens: that is no length.")
    default = result
    if "longrope" in types:
        default = text.optional_integer("original_max_position_embeddings", maximum=MAX_LENGTH) or result
    return Lengths(result, default, key)


def _original(text: Fields, rope: Fields, longest: int) -> int:
    """The length before YaRN stretched it: beside rope_scaling, in it, or the maximum itself."""
    for fields in (text, rope):
        value = fields.optional_integer("original_max_position_embeddings", maximum=MAX_LENGTH)
        if value is not None:
            return value
    return text.optional_integer("max_position_embeddings", maximum=MAX_LENGTH) or longest
