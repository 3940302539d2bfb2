"""The decoder's sizes as vLLM takes them: what every rule of layers/ starts from."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.model_config.fields import MAX_LAYERS, Fields
from snippets.model_config.model_config import AttentionCache, Layer

KV_HEAD_KEYS = ("n_head_kv", "num_kv_heads", "num_key_value_heads", "multi_query_group_num", "num_attention_groups")


@dataclass(frozen=True)
class Decoder:
    """One decoder, before its layers are laid out."""

    text: Fields
    root: Fields
    model_type: str
    architecture: str
    num_layers: int
    hidden_size: int
    num_heads: int  # query heads; 0 for a model without attention
    num_kv_heads: int
    head_size: int

    def full(
        self, num_kv_heads: int | None = None, head_size: int | None = None, head_size_v: int | None = None
    ) -> Layer:
        """One layer of full attention; the model's own sizes where none are given."""
        size = head_size or self.head_size
        return (AttentionCache("full", num_kv_heads or self.num_kv_heads, size, head_size_v or size),)

    def sliding(
        self,
        window: int,
        num_kv_heads: int | None = None,
        head_size: int | None = None,
        head_size_v: int | None = None,
    ) -> Layer:
        """One layer of sliding-window attention; full where the window is 0."""
        size = head_size or self.head_size
        heads = num_kv_heads or self.num_kv_heads
        if not window:
            return self.full(heads, size, head_size_v)
        return (AttentionCache("sliding", heads, size, head_size_v or size, sliding_window=window),)

    def chunked(self, chunk: int) -> Layer:
        """One layer of chunked local attention; full where the chunk is 0."""
        if not chunk:
            return self.full()
        return (
            AttentionCache("chunked", self.num_kv_heads, self.head_size, self.head_size, attention_chunk_size=chunk),
        )


def total_num_kv_heads(text: Fields, num_heads: int) -> int:
    """KV heads over all ranks (vLLM model_arch_config_convertor.py get_total_num_kv_heads); absent means MHA."""
    for key in KV_HEAD_KEYS:
        value = text.optional_integer(key, maximum=1 << 20)
        if value is not None:
            return value
    return num_heads


def head_size(text: Fields, hidden_size: int, num_heads: int) -> int:
    """Elements of one head (get_head_size): head_dim where the config or the class has one, else hidden / heads."""
    for key in ("head_dim", "hidden_size_per_head"):
        value = text.optional_integer(key, minimum=0, maximum=1 << 20)
        if value:
            return value
    if num_heads == 0:
        return 0
    if hidden_size % num_heads:
        text.note(
            f"{text.name('head_dim')} is absent and hidden_size {hidden_size} is no multiple of {num_heads} heads: "
            f"vLLM rounds down to {hidden_size // num_heads}."
        )
    if hidden_size < num_heads:
        raise text.error("hidden_size", f"is {hidden_size}, less than one element for each of {num_heads} heads.")
    return hidden_size // num_heads


def num_layers(text: Fields) -> int:
    """Decoder layers."""
    return text.integer("num_hidden_layers", maximum=MAX_LAYERS)
