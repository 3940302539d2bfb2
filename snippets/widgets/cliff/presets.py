"""Models and cards of the memory cliff: each preset is a set of control values, as text."""

from __future__ import annotations

from snippets.catalog.gpus import gpus
from snippets.catalog.models import Model, model
from snippets.kv_shapes import kv_head_choices
from snippets.widgets.declare import Option, Preset, PresetBar
from snippets.widgets.run import text_of

MODELS = "Model"
CARDS = "Card"  # the GB in a card's name are not the GiB a program sees

OPENS_WITH = "llama-3-70b"
CARD_OPENS_WITH = "h100-80gb"
_KEYS = (
    "qwen2.5-7b",
    "qwen2.5-7b-awq",
    "llama-3-8b",
    "llama-3-70b",
    "llama-2-7b",
    "llama-2-70b",
    "mistral-7b-v0.1",
    "opt-13b",
    "deepseek-v3",
    "gemma-3-27b",
    "santacoder",
)
_QUANTISED_FROM = {"qwen2.5-7b-awq": "qwen2.5-7b"}  # the same shape in another weight format: no base of its own
_USUAL_KV_HEADS = 8
_USUAL_LATENT, _USUAL_ROPE, _USUAL_WINDOW = 512, 64, 4096  # shown when a reader turns MLA or a window on


def kv_heads_to_offer(one: Model) -> int:
    """The KV heads a model has, or, where its attention fixes them, what a change to GQA starts with."""
    if one.attention == "gqa":
        return one.num_kv_heads
    return max(n for n in kv_head_choices(one.num_attention_heads) if n <= _USUAL_KV_HEADS)


def values(key: str) -> dict[str, str]:
    """Every control that says which model it is; load, cache precision and card stay as the reader set them."""
    one = model(key)
    return {
        "attention": one.attention,
        "num_layers": text_of(one.num_layers),
        "num_attention_heads": text_of(one.num_attention_heads),
        "num_kv_heads": text_of(kv_heads_to_offer(one)),
        "head_dim": text_of(one.head_dim),
        "kv_lora_rank": text_of(one.kv_lora_rank or _USUAL_LATENT),
        "qk_rope_head_dim": text_of(one.qk_rope_head_dim if one.kv_lora_rank else _USUAL_ROPE),
        "sliding_window": text_of(one.sliding_window or _USUAL_WINDOW),
        "num_sliding_layers": text_of(one.num_sliding_layers),
        "weight_format": one.weight_format,
        "base_model": _QUANTISED_FROM.get(key, key),
        "parameters": "",
    }


def base_models() -> tuple[Option, ...]:
    """The models whose hidden size, MLP and vocabulary a recount may keep."""
    return tuple(Option(key, model(key).name) for key in _KEYS if key not in _QUANTISED_FROM)


def model_bar() -> PresetBar:
    """One button per model."""
    return PresetBar(MODELS, tuple(Preset(key, model(key).name, values(key)) for key in _KEYS))


def card_bar() -> PresetBar:
    """One button per card whose memory, as the driver shows it, is known."""
    known = (card for card in gpus().values() if card.visible_gib is not None)
    return PresetBar(
        CARDS, tuple(Preset(card.key, card.name, {"gpu_gib": text_of(card.visible_gib)}) for card in known)
    )
