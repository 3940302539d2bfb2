"""KV cache sizes of every attention kind: MHA, GQA, MQA, MLA, and sliding windows on some layers.

    bytes = batch * bytes per token and layer * (full layers * seq_len + sliding layers * min(seq_len, window))

For full attention this is kv_cache_size.py's formula. Not covered: state-space layers, layers that share
a cache, and the rounding up to whole blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isqrt

from snippets.catalog.models import Attention, Model

_KINDS = ("mha", "gqa", "mqa", "mla")


class ShapeError(ValueError):
    """A shape no model can have; `field` names the field at fault."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class KVShape:
    """What decides the size of a KV cache. A shape that no model can have is refused."""

    attention: Attention
    num_layers: int
    num_attention_heads: int  # query heads: never cached
    num_kv_heads: int  # 1 for MLA, where one latent serves every head
    head_dim: int
    kv_lora_rank: int = 0  # MLA only
    qk_rope_head_dim: int = 0  # MLA only
    sliding_window: int = 0  # tokens; 0 for none
    num_sliding_layers: int = 0  # how many of num_layers keep only the window

    def __post_init__(self) -> None:
        _check_sizes(self)
        _check_heads(self)
        _check_latent(self)
        _check_window(self)

    @classmethod
    def of(cls, model: Model) -> KVShape:
        """The shape of a catalog model."""
        return cls(
            attention=model.attention,
            num_layers=model.num_layers,
            num_attention_heads=model.num_attention_heads,
            num_kv_heads=model.num_kv_heads,
            head_dim=model.head_dim,
            kv_lora_rank=model.kv_lora_rank,
            qk_rope_head_dim=model.qk_rope_head_dim,
            sliding_window=model.sliding_window,
            num_sliding_layers=model.num_sliding_layers,
        )

    @property
    def num_full_layers(self) -> int:
        """Layers that keep every token."""
        return self.num_layers - self.num_sliding_layers


def _check_sizes(shape: KVShape) -> None:
    if shape.attention not in _KINDS:
        raise ShapeError("attention", f"attention is {shape.attention!r}; it must be one of {', '.join(_KINDS)}")
    for field in ("num_layers", "num_attention_heads", "num_kv_heads", "head_dim"):
        _check_whole(field, getattr(shape, field), least=1)
    for field in ("kv_lora_rank", "qk_rope_head_dim", "sliding_window", "num_sliding_layers"):
        _check_whole(field, getattr(shape, field), least=0)


def _check_whole(field: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ShapeError(field, f"{field} is {value!r}; it must be a whole number, {least} or more")


def _check_heads(shape: KVShape) -> None:
    queries, kv_heads = shape.num_attention_heads, shape.num_kv_heads
    if queries % kv_heads:
        divisors = ", ".join(str(n) for n in kv_head_choices(queries))
        raise ShapeError(
            "num_kv_heads",
            f"num_kv_heads is {kv_heads}, which does not divide {queries} query heads evenly; choose one of {divisors}",
        )
    only = {"mha": queries, "mqa": 1, "mla": 1}.get(shape.attention, kv_heads)
    if kv_heads != only:
        raise ShapeError(
            "num_kv_heads",
            f"num_kv_heads is {kv_heads}, but {shape.attention.upper()} with {queries} query heads has {only}; "
            f"set it to {only} or choose GQA",
        )


def _check_latent(shape: KVShape) -> None:
    latent = {"kv_lora_rank": shape.kv_lora_rank, "qk_rope_head_dim": shape.qk_rope_head_dim}
    if shape.attention == "mla" and shape.kv_lora_rank == 0:
        raise ShapeError("kv_lora_rank", "kv_lora_rank is 0, but MLA caches a latent of that size; DeepSeek-V3 has 512")
    for field, value in latent.items():
        if shape.attention != "mla" and value:
            raise ShapeError(field, f"{field} is {value}, but only MLA has one; set it to 0 or choose MLA")


def _check_window(shape: KVShape) -> None:
    window, sliding = shape.sliding_window, shape.num_sliding_layers
    if sliding > shape.num_layers:
        raise ShapeError(
            "num_sliding_layers",
            f"num_sliding_layers is {sliding}, more than the {shape.num_layers} layers there are; "
            f"choose 0 to {shape.num_layers}",
        )
    if sliding and not window:
        raise ShapeError(
            "sliding_window",
            f"sliding_window is 0, but {sliding} layers slide; give the window in tokens or set num_sliding_layers=0",
        )


def kv_head_choices(num_attention_heads: int) -> tuple[int, ...]:
    """Every number of KV heads that divides the query heads evenly, smallest first."""
    small = [n for n in range(1, isqrt(num_attention_heads) + 1) if num_attention_heads % n == 0]
    return tuple(sorted({*small, *(num_attention_heads // n for n in small)}))


def effective_kv_heads(attention: Attention, num_attention_heads: int, num_kv_heads: int) -> int:
    """KV heads that a choice of attention leads to; `num_kv_heads` counts for GQA only."""
    return {"mha": num_attention_heads, "mqa": 1, "mla": 1}.get(attention, num_kv_heads)


def elements_per_token_per_layer(shape: KVShape) -> int:
    """Numbers one token leaves in one layer: a key and a value per KV head, or MLA's latent and rotary key."""
    if shape.attention == "mla":
        return shape.kv_lora_rank + shape.qk_rope_head_dim
    keys_and_values = 2
    return keys_and_values * shape.num_kv_heads * shape.head_dim


def kv_bytes_per_token(shape: KVShape, dtype_bytes: int) -> int:
    """Bytes the first token takes over all layers. Later ones take as much until a window is full."""
    return shape.num_layers * elements_per_token_per_layer(shape) * _checked("dtype_bytes", dtype_bytes, 1)


def kv_bytes(shape: KVShape, seq_len: int, batch: int, dtype_bytes: int) -> int:
    """Bytes that `batch` sequences of `seq_len` tokens each hold, summed over all layers."""
    _checked("seq_len", seq_len, 0)
    _checked("batch", batch, 0)
    per_layer = elements_per_token_per_layer(shape) * _checked("dtype_bytes", dtype_bytes, 1)
    cached = shape.num_full_layers * seq_len + shape.num_sliding_layers * min(seq_len, shape.sliding_window)
    return batch * per_layer * cached


def first_seq_len_at_least(shape: KVShape, bytes_: float, batch: int, dtype_bytes: int, limit: int) -> int | None:
    """The first whole context, 1 to `limit`, at which `batch` sequences hold at least `bytes_`; None if none."""
    _checked("limit", limit, 1)
    per_layer = (
        _checked("batch", batch, 1) * elements_per_token_per_layer(shape) * _checked("dtype_bytes", dtype_bytes, 1)
    )
    rows = ceil(bytes_ / per_layer) if isinstance(bytes_, float) else -(-bytes_ // per_layer)  # token rows, all layers
    seq_len = max(1, -(-rows // shape.num_layers))
    if shape.num_sliding_layers and seq_len > shape.sliding_window:
        if not shape.num_full_layers:
            return None  # every layer has stopped growing
        rows_left = rows - shape.num_sliding_layers * shape.sliding_window
        seq_len = -(-rows_left // shape.num_full_layers)
    return seq_len if seq_len <= limit else None


def first_batch_at_least(shape: KVShape, bytes_: float, seq_len: int, dtype_bytes: int) -> int:
    """The first whole number of sequences of `seq_len` tokens that hold at least `bytes_`."""
    one = kv_bytes(shape, _checked("seq_len", seq_len, 1), 1, dtype_bytes)
    return max(1, ceil(bytes_ / one) if isinstance(bytes_, float) else -(-bytes_ // one))


def _checked(field: str, value: int, least: int) -> int:
    _check_whole(field, value, least)
    return value
