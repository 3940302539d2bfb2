"""Figures in prose: the text a reader sees, and the expression that must print exactly that text.

An expression may use
- everything public in `units` (kib, gib, gb, percent, times, count, GIB, …) and in the lesson's `kv_cache_size`
  (kv_bytes_per_token, kv_bytes, QWEN2_5_7B, …), by its bare name; where both have one, as with gib, the formatter wins;
- the other modules by their own name, so that no two functions can be confused: `baseline.sequences()`,
  `decode_step.kv_share(…)`, `kv_shapes.kv_bytes(…)`, `parameters.…`, `throughput.…`, `budget.…`, `blocks.…`,
  `allocation.…`, `evidence_table.…`;
- `shape(key)`, `mha(key)` and `weights(key)`: a catalog model's KV shape, the same with MHA, and its weights' bytes;
- `model(key)` and `gpu(key)` from the catalog, `KVShape.of(model(key))`, `count_parameters`, `weight_bytes`.
"""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

from snippets import baseline, decode_step, kv_cache_size, kv_shapes, parameters, throughput, units
from snippets.catalog.gpus import gpu
from snippets.catalog.models import model
from snippets.draw import attention_work
from snippets.draw.planner import evidence_table
from snippets.kv_shapes import KVShape
from snippets.parameters import count_parameters, weight_bytes
from snippets.planner import blocks, budget
from snippets.sim import allocation

_SEPARATOR = " = "

_BY_BARE_NAME = (kv_cache_size, units)  # later ones win
_BY_MODULE_NAME = (
    *(allocation, attention_work, baseline, blocks, budget, decode_step, evidence_table, kv_shapes, parameters),
    throughput,
)
_ALSO = (model, gpu, KVShape, count_parameters, weight_bytes)


class FigureError(ValueError):
    """A figure whose expression fails or prints something else."""


def parse(source: str) -> tuple[str, str]:
    """Split `56 KiB = kib(…)` at its first " = " into text and expression."""
    text, separator, expression = source.strip().partition(_SEPARATOR)
    if not separator or not text.strip() or not expression.strip():
        raise FigureError(f"a figure is written TEXT{_SEPARATOR}EXPRESSION, not {source!r}")
    return text.strip(), expression.strip()


def _public(module: ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


def shape(key: str) -> KVShape:
    """The KV shape of a catalog model."""
    return KVShape.of(model(key))


def mha(key: str) -> KVShape:
    """The shape a catalog model would have with one KV head for every query head."""
    own = shape(key)
    return replace(own, attention="mha", num_kv_heads=own.num_attention_heads)


def weights(key: str, other: KVShape | None = None) -> int:
    """Bytes of a catalog model's weights as published, or with another KV shape."""
    return weight_bytes(count_parameters(model(key), other), model(key).weight_format)


def names() -> dict[str, Any]:
    """Every name an expression may use."""
    found: dict[str, Any] = {}
    for module in _BY_BARE_NAME:
        found |= _public(module)
    found |= {module.__name__.rpartition(".")[2]: module for module in _BY_MODULE_NAME}
    return found | {thing.__name__: thing for thing in (*_ALSO, shape, mha, weights)}


def evaluate(expression: str) -> str:
    """The text an expression prints."""
    try:
        return str(eval(expression, {"__builtins__": __builtins__, **names()}))
    except Exception as error:
        raise FigureError(f"{expression}: {type(error).__name__}: {error}") from error


def check(text: str, expression: str) -> None:
    """Raise FigureError unless the expression prints the text."""
    made = evaluate(expression)
    if made != text:
        raise FigureError(f"the page says {text!r}, but {expression} makes {made!r}")
