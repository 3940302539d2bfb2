"""Decoders that run attention several times in a layer, each time with a cache of its own."""

from __future__ import annotations

from snippets.model_config.decoder import Decoder
from snippets.model_config.layers.mla import latent
from snippets.model_config.layers.windows import window_of
from snippets.model_config.model_config import Layer

MAX_TIMES = 64


def longcat(decoder: Decoder) -> tuple[Layer, ...]:
    """LongCat-Flash-Ngram: two MLA blocks in every layer (vLLM longcat_flash.py FlashDecoderLayer).

    Plain LongCat-Flash is refused: how many layers vLLM 0.26.0 builds for it depends on the installed transformers.
    """
    if decoder.model_type == "longcat_flash":
        raise decoder.text.error(
            "model_type",
            'is "longcat_flash": vLLM 0.26.0 builds 28 or 56 layers of it, as the installed transformers counts them. '
            "Give the layer specs directly.",
        )
    return ((latent(decoder), latent(decoder)),) * decoder.num_layers


def ouro(decoder: Decoder) -> tuple[Layer, ...]:
    """Ouro: the whole stack runs total_ut_steps times, each pass with its own keys and values (vLLM ouro.py)."""
    times = decoder.text.optional_integer("total_ut_steps", maximum=MAX_TIMES) or 4
    return (decoder.sliding(window_of(decoder)) * times,) * decoder.num_layers


def loop_coder(decoder: Decoder) -> tuple[Layer, ...]:
    """IQuest-LoopCoder: a first pass with full attention, later ones with a window (vLLM iquest_loopcoder.py)."""
    times = decoder.text.optional_integer("loop_num", maximum=MAX_TIMES) or 2
    window = decoder.text.optional_integer("loop_window_size", maximum=1 << 31) or 64
    first = decoder.sliding(window_of(decoder))
    return (first + decoder.sliding(window) * (times - 1),) * decoder.num_layers
