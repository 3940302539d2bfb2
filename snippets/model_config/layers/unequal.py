"""Decoders whose layers differ in heads, head sizes or sharing: Gemma 3n and 4, MiMo-V2, Step 3.5, Nemotron NAS."""

from __future__ import annotations

from snippets.model_config.decoder import Decoder
from snippets.model_config.layers.shapes import nas_heads
from snippets.model_config.layers.windows import FULL, SLIDING, every, fixed, layer_types, window_of
from snippets.model_config.model_config import Layer

MAX_HEADS = 1 << 20


def shared_from(decoder: Decoder) -> int:
    """The first layer that reads an earlier layer's cache instead of its own; the number of layers for none."""
    shared = decoder.text.optional_integer("num_kv_shared_layers", minimum=0) or 0
    if shared >= decoder.num_layers:
        raise decoder.text.error("num_kv_shared_layers", f"is {shared}, but there are {decoder.num_layers} layers.")
    return decoder.num_layers - shared


def gemma3n(decoder: Decoder) -> tuple[Layer, ...]:
    """Gemma 3n: every fifth layer full, the last num_kv_shared_layers without a cache (vLLM gemma3n.py)."""
    types, window, first_shared = layer_types(decoder, fixed(5, 4)), window_of(decoder), shared_from(decoder)
    full, sliding = decoder.full(), decoder.sliding(window)
    return tuple(
        () if index >= first_shared else sliding if word == SLIDING else full for index, word in enumerate(types)
    )


def gemma4(decoder: Decoder) -> tuple[Layer, ...]:
    """Gemma 4: full layers have heads of global_head_dim; K and V are both stored even where they are equal."""
    text = decoder.text
    types = list(layer_types(decoder, every(6)))
    if types[-1] != FULL:
        text.note("layer_types ends with sliding_attention: transformers makes the last layer full_attention.")
        types[-1] = FULL
    window, first_shared = window_of(decoder), shared_from(decoder)
    if text.text("use_bidirectional_attention") == "all":
        window = window // 2 + 1
    small = text.integer("head_dim", maximum=MAX_HEADS)
    large = text.optional_integer("global_head_dim", maximum=MAX_HEADS) or small
    heads = text.integer("num_key_value_heads", maximum=MAX_HEADS)
    global_heads = heads
    if text.flag("attention_k_eq_v"):
        global_heads = text.optional_integer("num_global_key_value_heads", maximum=MAX_HEADS) or heads
    full, sliding = decoder.full(global_heads, large), decoder.sliding(window, heads, small)
    layers: list[Layer] = []
    for index, word in enumerate(types):
        if index >= first_shared:
            if word not in types[:first_shared]:
                raise text.error("num_kv_shared_layers", f"leaves no {word} layer for layer {index} to share.")
            layers.append(())
        else:
            layers.append(sliding if word == SLIDING else full)
    return tuple(layers)


def mimo_v2(decoder: Decoder) -> tuple[Layer, ...]:
    """MiMo-V2: windowed layers with heads of their own, values smaller than keys (vLLM mimo_v2.py)."""
    text = decoder.text
    pattern = text.integers("hybrid_layer_pattern", decoder.num_layers)
    if pattern is None:
        raise text.error("hybrid_layer_pattern", "is missing: it says which layers have the window.")
    window = text.integer("sliding_window_size", maximum=1 << 31)
    key = text.integer("head_dim", maximum=MAX_HEADS)
    full = decoder.full(
        text.integer("num_key_value_heads", maximum=MAX_HEADS),
        key,
        text.optional_integer("v_head_dim", maximum=MAX_HEADS) or key,
    )
    key = text.integer("swa_head_dim", maximum=MAX_HEADS)
    sliding = decoder.sliding(
        window,
        text.integer("swa_num_key_value_heads", maximum=MAX_HEADS),
        key,
        text.optional_integer("swa_v_head_dim", maximum=MAX_HEADS) or key,
    )
    return tuple(sliding if mark == 1 else full for mark in pattern)


def step3p5(decoder: Decoder) -> tuple[Layer, ...]:
    """Step 3.5: layer_types, and heads of their own for the kind attention_other_setting names (vLLM step3p5.py)."""
    text = decoder.text
    window = window_of(decoder)
    given = text.items("layer_types")
    if given:
        words = text.words("layer_types", (FULL, SLIDING))
        if words is None or len(words) < decoder.num_layers:
            raise text.error("layer_types", f"has {len(given)} entries, but there are {decoder.num_layers} layers.")
    else:
        words = tuple(SLIDING if index % 2 == 0 else FULL for index in range(decoder.num_layers))
    other = text.child("attention_other_setting")
    kind = other.text("attention_type") if other is not None and given else None
    sizes: dict[str, tuple[int | None, int | None]] = {FULL: (None, None), SLIDING: (None, None)}
    if other is not None and kind is not None:
        if kind not in sizes:
            raise other.error("attention_type", f'is "{kind}": {FULL} and {SLIDING} are known.')
        sizes[kind] = (
            other.optional_integer("num_attention_groups", maximum=MAX_HEADS),
            other.optional_integer("head_dim", maximum=MAX_HEADS),
        )
    return tuple(
        decoder.sliding(window, *sizes[word]) if word == SLIDING else decoder.full(*sizes[word])
        for word in words[: decoder.num_layers]
    )


def nemotron_nas(decoder: Decoder) -> tuple[Layer, ...]:
    """Nemotron NAS (DeciLM): KV heads and left-out attention block by block (vLLM nemotron_nas.py)."""
    heads = nas_heads(decoder.text, decoder.num_heads)
    if len(heads) != decoder.num_layers:
        raise decoder.text.error("block_configs", f"has {len(heads)} blocks for {decoder.num_layers} layers.")
    return tuple(decoder.full(count) if count else () for count in heads)


def llama4(decoder: Decoder) -> tuple[Layer, ...]:
    """Llama 4: layers with rotary position attend within chunks (vLLM llama4.py no_rope_layers)."""
    text = decoder.text
    rope = text.integers("no_rope_layers")
    if not rope:
        step = text.optional_integer("no_rope_layer_interval", maximum=4096) or 4
        rope = tuple(int((index + 1) % step != 0) for index in range(decoder.num_layers))
    if len(rope) != decoder.num_layers:
        raise text.error("no_rope_layers", f"has {len(rope)} entries, but there are {decoder.num_layers} layers.")
    chunk = text.optional_integer("attention_chunk_size", minimum=0, maximum=1 << 31) or 0
    full, chunked = decoder.full(), decoder.chunked(chunk)
    return tuple(chunked if has_rope and chunk else full for has_rope in rope)
