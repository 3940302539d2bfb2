"""Where each model lands: one row per catalog model, as a Markdown table."""

from __future__ import annotations

from snippets.catalog.models import Model, models
from snippets.kv_shapes import KVShape, kv_bytes, kv_bytes_per_token
from snippets.units import GIB, KIB, MIB, count, short_tokens

HEAD = ("model", "attention", "KV heads", "head dim", "per token", "at 8k", "at its full context", "config")
_RIGHT_ALIGNED = ("KV heads", "head dim", "per token", "at 8k", "at its full context")
_SIXTEEN_BIT = 2  # bytes per number of the cache


def _size(n: int) -> str:
    """Bytes with three figures: 320 KiB, 448 MiB, 2.50 GiB."""
    for size, unit in ((GIB, "GiB"), (MIB, "MiB")):
        if n >= size:
            return f"{count(n / size, 2 if n < 10 * size else 1 if n < 100 * size else 0)} {unit}"
    return f"{count(n / KIB, 0 if n % KIB == 0 else 1)} KiB"


def _attention(model: Model) -> str:
    kind = model.attention.upper()
    if not model.num_sliding_layers:
        return kind
    layers = "every layer" if model.num_sliding_layers == model.num_layers else f"{model.num_sliding_layers} layers"
    return f"{kind}, window {count(model.sliding_window)} in {layers}"


def _row(model: Model) -> tuple[str, ...]:
    shape = KVShape.of(model)
    full = model.max_position_embeddings
    latent = f"{model.kv_lora_rank} + {model.qk_rope_head_dim}, shared"
    return (
        model.name,
        _attention(model),
        latent if model.attention == "mla" else f"{model.num_kv_heads} of {model.num_attention_heads}",
        "–" if model.attention == "mla" else count(model.head_dim),
        _size(kv_bytes_per_token(shape, _SIXTEEN_BIT)),
        _size(kv_bytes(shape, 8192, 1, _SIXTEEN_BIT)) if full >= 8192 else "–",
        f"{_size(kv_bytes(shape, full, 1, _SIXTEEN_BIT))} at {short_tokens(full)}",
        f"[{model.source}]({model.source_url})",
    )


def markdown() -> str:
    """The table, smallest cache per token first. 16-bit cache; AWQ twins of a model are left out."""
    shown = [model for model in models().values() if not model.key.endswith("-awq")]
    shown.sort(key=lambda model: kv_bytes_per_token(KVShape.of(model), _SIXTEEN_BIT))
    rule = ("---:" if name in _RIGHT_ALIGNED else "---" for name in HEAD)
    rows = [HEAD, tuple(rule), *(_row(model) for model in shown)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
