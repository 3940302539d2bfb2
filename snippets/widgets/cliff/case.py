"""The numbers a state of the memory cliff stands for: a KV shape, its parameters, the load and the card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from snippets.catalog.models import Attention, WeightFormat, model
from snippets.kv_shapes import KVShape, effective_kv_heads, first_batch_at_least, first_seq_len_at_least, kv_bytes
from snippets.parameters import Parameters, count_parameters, weight_bytes
from snippets.units import GIB
from snippets.widgets.cliff.controls import MOST_TOKENS
from snippets.widgets.declare import Values


@dataclass(frozen=True)
class Case:
    """What the controls say, as the numbers that the formulas take."""

    shape: KVShape
    parameters: Parameters
    counted: int  # parameters of the shape, before a typed number overrules them
    exact: bool  # the shape is the base model's own
    weight_format: WeightFormat
    kv_dtype_bytes: int
    seq_len: int
    batch: int
    gpu_bytes: float

    @property
    def weight_bytes(self) -> int:
        return weight_bytes(self.parameters, self.weight_format)

    def kv_bytes(self, seq_len: int) -> int:
        """The cache of all requests at a context."""
        return kv_bytes(self.shape, seq_len, self.batch, self.kv_dtype_bytes)

    @property
    def crossing(self) -> int | None:
        """The first context at which KV is at least the weights."""
        return first_seq_len_at_least(self.shape, self.weight_bytes, self.batch, self.kv_dtype_bytes, MOST_TOKENS)

    @property
    def crossing_batch(self) -> int:
        """The first number of requests at which it is, at the context set."""
        return first_batch_at_least(self.shape, self.weight_bytes, self.seq_len, self.kv_dtype_bytes)


def whole(values: Values, name: str) -> int:
    """The value of a control for whole numbers."""
    return cast(int, values[name])


def _shape(values: Values) -> KVShape:
    attention = cast(Attention, values["attention"])
    heads, layers = whole(values, "num_attention_heads"), whole(values, "num_layers")
    sliding = min(whole(values, "num_sliding_layers"), layers)
    is_mla = attention == "mla"
    return KVShape(
        attention=attention,
        num_layers=layers,
        num_attention_heads=heads,
        num_kv_heads=effective_kv_heads(attention, heads, whole(values, "num_kv_heads")),
        head_dim=whole(values, "head_dim"),
        kv_lora_rank=whole(values, "kv_lora_rank") if is_mla else 0,
        qk_rope_head_dim=whole(values, "qk_rope_head_dim") if is_mla else 0,
        sliding_window=whole(values, "sliding_window") if sliding else 0,
        num_sliding_layers=sliding,
    )


def read(values: Values) -> Case:
    """The case that a state describes."""
    shape = _shape(values)
    base = model(str(values["base_model"]))
    counted = count_parameters(base, shape)
    used = counted
    if values["parameters"] is not None:  # typed, in billions; quantised and 16-bit parts keep their shares
        total = round(float(values["parameters"]) * 10**9)
        linear = total * counted.linear // counted.total
        used = Parameters(linear, total - linear)
    return Case(
        shape=shape,
        parameters=used,
        counted=counted.total,
        exact=shape == KVShape.of(base),
        weight_format=cast(WeightFormat, values["weight_format"]),
        kv_dtype_bytes=int(str(values["kv_bits"])) // 8,
        seq_len=whole(values, "seq_len"),
        batch=whole(values, "batch"),
        gpu_bytes=float(cast(float, values["gpu_gib"])) * GIB,
    )
