"""Sliding windows: which layers look back only so far, as transformers fills the map and vLLM's class reads it.

vLLM passes a window to a layer in two ways: the model class names it per layer (from `layer_types`), or the layer takes
the config's one window, which holds only where all layers are alike (engine/arg_utils.py create_engine_config).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from snippets.model_config.decoder import Decoder
from snippets.model_config.layers.encoders import encoder_only
from snippets.model_config.model_config import Layer

FULL, SLIDING = "full_attention", "sliding_attention"
FULL_NAMES = (FULL, "attention")  # transformers renames the second to the first
KNOWN = (*FULL_NAMES, SLIDING)
Derive = Callable[[Decoder], tuple[str, ...]]


def window_of(decoder: Decoder, gated: bool = False) -> int:
    """The config's one window in tokens, 0 for none; `gated` configs need use_sliding_window true."""
    window = decoder.text.optional_integer("sliding_window", minimum=0, maximum=1 << 31)
    if gated and not decoder.text.flag("use_sliding_window"):
        return 0
    return window or 0


def layer_types(decoder: Decoder, derive: Derive | None = None) -> tuple[str, ...]:
    """One word per layer: the config's own map, else what the transformers class fills in."""
    given = decoder.text.words("layer_types", KNOWN, decoder.num_layers)
    if given is None:
        return derive(decoder) if derive else (FULL,) * decoder.num_layers
    return tuple(FULL if word in FULL_NAMES else word for word in given)


def every(default: int) -> Derive:
    """A map where every nth layer is full: n is sliding_window_pattern, else `default`."""

    def derive(decoder: Decoder) -> tuple[str, ...]:
        period = decoder.text.optional_integer("sliding_window_pattern", maximum=4096) or default
        return tuple(SLIDING if (index + 1) % period else FULL for index in range(decoder.num_layers))

    return derive


def qwen2_moe(decoder: Decoder) -> tuple[str, ...]:
    """Qwen2-MoE's map: even layers below max_window_layers slide (configuration_qwen2_moe.py)."""
    last = decoder.text.optional_integer("max_window_layers", minimum=0) or 0
    slides = decoder.text.flag("use_sliding_window")
    return tuple(SLIDING if slides and index < last and index % 2 == 0 else FULL for index in range(decoder.num_layers))


def smollm3(decoder: Decoder) -> tuple[str, ...]:
    """SmolLM3's map: with use_sliding_window, the layers without rotary position slide."""
    text = decoder.text
    step = text.optional_integer("no_rope_layer_interval", maximum=4096) or 4
    rope = text.integers("no_rope_layers", decoder.num_layers)
    if rope is None:
        rope = tuple(int((index + 1) % step != 0) for index in range(decoder.num_layers))
    slides = text.flag("use_sliding_window") and window_of(decoder) > 0
    return tuple(SLIDING if slides and not has_rope else FULL for has_rope in rope)


def cohere2_moe(decoder: Decoder) -> tuple[str, ...]:
    """Cohere2-MoE's map: the first dense layers have a pattern of their own (configuration_cohere2_moe.py)."""
    text = decoder.text
    dense = min(text.optional_integer("first_k_dense_replace", minimum=0) or 0, decoder.num_layers)
    early = text.optional_integer("prefix_dense_sliding_window_pattern", maximum=4096) or 1
    period = text.optional_integer("sliding_window_pattern", maximum=4096) or 4
    first = [bool((index + 1) % early) for index in range(dense)]
    rest = [bool((index + 1) % period) for index in range(decoder.num_layers - dense)]
    return tuple(SLIDING if slides else FULL for slides in (*first, *rest))


def afmoe(decoder: Decoder) -> tuple[str, ...]:
    """AFMoE's map: every global_attn_every_n_layers-th layer is full."""
    period = decoder.text.optional_integer("global_attn_every_n_layers", maximum=4096) or 4
    return tuple(SLIDING if (index + 1) % period else FULL for index in range(decoder.num_layers))


def fixed(period: int, full_at: int) -> Derive:
    """A map where layer `full_at` of every `period` is full, whatever the config says."""
    return lambda d: tuple(FULL if index % period == full_at else SLIDING for index in range(d.num_layers))


def from_max_window_layers(decoder: Decoder) -> tuple[str, ...]:
    """Qwen's map: layers from max_window_layers on slide (configuration_qwen2.py)."""
    first = decoder.text.optional_integer("max_window_layers", minimum=0) or 0
    window = window_of(decoder, gated=True)
    return tuple(SLIDING if window and index >= first else FULL for index in range(decoder.num_layers))


@dataclass(frozen=True)
class Windows:
    """A rule for decoders of plain attention: `by_layer` where vLLM's class reads layer_types itself."""

    by_layer: bool = True
    derive: Derive | None = None
    gated: bool = False  # transformers drops the window unless use_sliding_window
    all_or_none: bool = False  # vLLM's class asserts that not only some layers slide
    takes_one: bool = True  # a layer without a window of its own takes the config's one, where all layers are alike

    def __call__(self, decoder: Decoder) -> tuple[Layer, ...]:
        window = window_of(decoder, self.gated)
        types = layer_types(decoder, self.derive)
        if SLIDING in types and not window:
            if decoder.text.key_of("sliding_window") is None and "sliding_window" not in decoder.text.defaults:
                raise decoder.text.error("sliding_window", "is missing, but layer_types has sliding_attention layers.")
            types = (FULL,) * decoder.num_layers
        mixed = len(set(types)) > 1
        if mixed and self.all_or_none:
            first = decoder.text.optional_integer("max_window_layers", minimum=0) or 0
            if first != decoder.num_layers:
                raise decoder.text.error(
                    "max_window_layers",
                    f"is {first}, so only some of the {decoder.num_layers} layers slide: vLLM 0.26.0 refuses that "
                    "for this model. Set it to the number of layers, or use_sliding_window to false.",
                )
        if not mixed and self.takes_one:  # whatever the map calls them
            return (decoder.sliding(window),) * decoder.num_layers
        if not self.by_layer:
            return (decoder.full(),) * decoder.num_layers
        full, sliding = decoder.full(), decoder.sliding(window)
        return tuple(sliding if word == SLIDING else full for word in types)


def gemma3(decoder: Decoder) -> tuple[Layer, ...]:
    """Gemma 3: five sliding layers to a full one; its embedding model looks both ways and keeps nothing."""
    if not decoder.text.flag("use_bidirectional_attention"):
        return Windows(derive=every(6))(decoder)
    if decoder.architecture == "Gemma3TextModel":  # models/config.py Gemma3TextModelConfig
        return encoder_only(decoder)
    raise decoder.text.error(
        "use_bidirectional_attention", "is true: this reader knows that for Gemma3TextModel (embeddings) alone."
    )


def gpt_oss(decoder: Decoder) -> tuple[Layer, ...]:
    """gpt-oss: even layers slide whatever layer_types says (vLLM gpt_oss.py OAIAttention)."""
    window = window_of(decoder)
    full, sliding = decoder.full(), decoder.sliding(window)
    return tuple(sliding if index % 2 == 0 else full for index in range(decoder.num_layers))


def interleaved(decoder: Decoder) -> tuple[Layer, ...]:
    """Jais 2, openPangu: interleaved_sliding_window holds one window, or one per layer in turn (vLLM jais2.py)."""
    key = "interleaved_sliding_window"
    value = decoder.text.raw(key)
    if value is None:
        return PLAIN(decoder)
    if not isinstance(value, list | tuple):
        return (decoder.sliding(decoder.text.integer(key, maximum=1 << 31)),) * decoder.num_layers
    windows = decoder.text.integers(key)
    if not windows:
        raise decoder.text.error(key, "is empty.")
    return tuple(decoder.sliding(windows[index % len(windows)]) for index in range(decoder.num_layers))


PLAIN = Windows(by_layer=False)  # the class reads no layer_types: the config's one window, or none
