"""Models with an encoder: encoder-decoders that cache cross attention, and encoders that cache nothing."""

from __future__ import annotations

from snippets.model_config.decoder import Decoder
from snippets.model_config.model_config import AttentionCache, Layer


def encoder_only(decoder: Decoder) -> tuple[Layer, ...]:
    """BERT and kin: attention over the whole text at once, nothing kept (vLLM encoder_only_attention.py)."""
    size = decoder.head_size
    layer: Layer = (AttentionCache("encoder_only", decoder.num_kv_heads, size, size),)
    return (layer,) * decoder.num_layers


def cross(decoder: Decoder) -> AttentionCache:
    """Keys and values of the encoder's output, one entry per encoder token."""
    return AttentionCache("cross", decoder.num_kv_heads, decoder.head_size, decoder.head_size)


def encoder_decoder(decoder: Decoder) -> tuple[Layer, ...]:
    """Whisper and kin: self attention and cross attention in every decoder layer (vLLM whisper.py)."""
    return ((*decoder.full(), cross(decoder)),) * decoder.num_layers


def mllama(decoder: Decoder) -> tuple[Layer, ...]:
    """Llama 3.2 Vision: the layers listed attend to the picture instead of the text."""
    listed = decoder.text.integers("cross_attention_layers")
    if listed is None:
        raise decoder.text.error("cross_attention_layers", "is missing: it says which layers attend to the picture.")
    if any(index >= decoder.num_layers for index in listed):
        raise decoder.text.error("cross_attention_layers", f"names a layer beyond the last of {decoder.num_layers}.")
    full, picture = decoder.full(), (cross(decoder),)
    return tuple(picture if index in listed else full for index in range(decoder.num_layers))
