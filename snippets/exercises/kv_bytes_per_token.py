"""Exercise: the bytes one token holds in the KV cache, from a config.json; answers by the lesson's program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snippets.catalog.configs import catalog_config, config_entries
from snippets.cells.exercise import Exercise, OffError, call, function, whole_number
from snippets.kv_cache_size import ModelConfig, kv_bytes_per_token
from snippets.units import count, exact_enough

NAME = "kv_bytes_per_token"
# One that names no head_dim, one from before num_key_value_heads, one whose head_dim is no quotient.
KEYS = ("qwen2.5-7b", "llama-2-13b", "qwen3-4b")
DTYPE_BYTES = 2  # a BF16 cache

SOLUTION = '''\
def kv_bytes_per_token(config):
    """Bytes one token holds in a BF16 cache, over all layers."""
    query_heads = config["num_attention_heads"]
    kv_heads = config.get("num_key_value_heads", query_heads)
    head_dim = config.get("head_dim", config["hidden_size"] // query_heads)
    return 2 * config["num_hidden_layers"] * kv_heads * head_dim * 2
'''

HINTS = (
    "Each layer keeps a key and a value. Each of them has head_dim elements for every KV head, of two bytes each.",
    "A field that is missing raises KeyError. config.get(field, other) gives other instead.",
    "Without num_key_value_heads every query head has a KV head of its own, num_attention_heads of them. "
    "Without head_dim a head has hidden_size // num_attention_heads elements.",
)


def expected_bytes(key: str) -> int:
    """What the lesson's own program says for a model of the catalog."""
    config = catalog_config(key)
    return kv_bytes_per_token(ModelConfig(key, len(config.layers), config.num_kv_heads, config.head_size, DTYPE_BYTES))


def _slips(key: str) -> tuple[tuple[float, str], ...]:
    """Values that known slips give for a model, and what each forgets."""
    config, right = catalog_config(key), expected_bytes(key)
    per_query_head = right * config.num_attention_heads / config.num_kv_heads
    from_hidden_size = right / config.head_size * (config.hidden_size / config.num_attention_heads)
    return (
        (right / 2, "Either a key or a value is missing, or the two bytes of an element"),
        (right / 4, "A key and a value are two, and an element has two bytes"),
        (right / len(config.layers), "That is one layer"),
        (per_query_head, "It counts query heads; only KV heads are cached"),
        (from_hidden_size, "This config has a head_dim of its own, which is not hidden_size over heads"),
        (right / 1024, "That is in KiB; bytes are asked for"),
    )


def _judge(key: str, value: int) -> None:
    right, about = expected_bytes(key), config_entries()[key].name
    if value == right:
        return
    slip = next((f" {text}." for wrong, text in _slips(key) if value == wrong), "")
    if value <= 0:
        raise OffError(f"{count(value)} bytes for {about} is not a size.")
    ratio = exact_enough(max(value / right, right / value))
    side = "large" if value > right else "small"
    raise OffError(f"{count(value)} bytes for {about} is {ratio} times too {side}.{slip}")


def check(names: Mapping[str, Any]) -> str:
    """Ask the learner's function about three published configs."""
    learners = function(names, NAME)
    for key in KEYS:
        entry = config_entries()[key]
        about = f"for {entry.name}"
        value = call(learners, about, dict(entry.config))
        _judge(key, whole_number(value, NAME, about))
    tried = ", ".join(f"{config_entries()[key].name} ({count(expected_bytes(key))})" for key in KEYS)
    return f"Right, in bytes: {tried}."


EXERCISE = Exercise(NAME, HINTS, SOLUTION, check)
