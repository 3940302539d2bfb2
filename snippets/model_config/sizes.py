"""A decoder's sizes from its fields, with the architectures that name them otherwise."""

from __future__ import annotations

from snippets.model_config.decoder import Decoder, head_size
from snippets.model_config.fields import MAX_LAYERS, Fields
from snippets.model_config.layers.mamba import nemotron_blocks
from snippets.model_config.layers.mla import mla_head_size, uses_mla
from snippets.model_config.layers.shapes import DIVIDE, divided_head_size, kv_heads

ATTENTION_FREE = ("mamba", "mamba2", "falcon_mamba")
ENCODER_DECODER = ("whisper",)
MAX_HEADS = 1 << 20
MAX_HIDDEN = 1 << 24


def read_decoder(text: Fields, root: Fields, model_type: str, architecture: str) -> Decoder:
    """Layers, width and heads. Raises ConfigError for a missing or impossible one."""
    hidden = text.integer("hidden_size", maximum=MAX_HIDDEN)
    if model_type in ENCODER_DECODER:
        heads = text.integer("decoder_attention_heads", maximum=MAX_HEADS)
        layers = text.integer("decoder_layers", maximum=MAX_LAYERS)
        return Decoder(text, root, model_type, architecture, layers, hidden, heads, heads, hidden // heads)
    layers = _layers(text, model_type)
    if model_type in ATTENTION_FREE:
        return Decoder(text, root, model_type, architecture, layers, hidden, 0, 0, 0)
    heads = text.integer("num_attention_heads", maximum=MAX_HEADS)
    kv = kv_heads(model_type, text, heads)
    if uses_mla(model_type, text):
        size = mla_head_size(text) if text.raw("compress_ratios") is None else text.integer("head_dim")
    else:
        divides = model_type in DIVIDE
        size = divided_head_size(text, hidden, heads) if divides else head_size(text, hidden, heads)
        if heads % kv:
            raise text.error("num_key_value_heads", f"is {kv}, which does not divide {heads} attention heads.")
    return Decoder(text, root, model_type, architecture, layers, hidden, heads, kv, size)


def _layers(text: Fields, model_type: str) -> int:
    if model_type == "nemotron_h" and not text.has("num_hidden_layers"):
        count = len(nemotron_blocks(text))
        text.note(f"num_hidden_layers is absent: the layer map has {count} entries.")
        if not 1 <= count <= MAX_LAYERS:
            raise text.error("layers_block_type", f"has {count} entries: 1 to {MAX_LAYERS} are possible.")
        return count
    return text.integer("num_hidden_layers", maximum=MAX_LAYERS)
