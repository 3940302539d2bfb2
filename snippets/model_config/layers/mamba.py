"""Mamba and its hybrids: Jamba, Bamba, Falcon-H1, Granite 4, Nemotron-H, Zamba2, PLaMo 2."""

from __future__ import annotations

from collections.abc import Mapping

from snippets.model_config.decoder import Decoder
from snippets.model_config.fields import Fields
from snippets.model_config.layers.states import MAX_DIM, dim, state
from snippets.model_config.model_config import Layer, StateCache


def mamba1(decoder: Decoder) -> tuple[Layer, ...]:
    """Mamba and FalconMamba: the state alone; intermediate_size counts, not expand (vLLM mamba.py)."""
    text = decoder.text
    cache = state(
        "mamba1",
        intermediate_size=dim(text, "intermediate_size"),
        state_size=dim(text, "state_size"),
        conv_kernel=dim(text, "conv_kernel"),
    )
    return ((cache,),) * decoder.num_layers


def mamba2(decoder: Decoder) -> tuple[Layer, ...]:
    """Mamba2 (vLLM mamba2.py)."""
    text = decoder.text
    given = text.optional_integer("intermediate_size", maximum=MAX_DIM)
    cache = state(
        "mamba2",
        intermediate_size=given or dim(text, "expand") * decoder.hidden_size,
        n_groups=dim(text, "n_groups"),
        num_heads=dim(text, "num_heads"),
        head_dim=dim(text, "head_dim"),
        state_size=dim(text, "state_size"),
        conv_kernel=dim(text, "conv_kernel"),
    )
    return ((cache,),) * decoder.num_layers


def jamba(decoder: Decoder) -> tuple[Layer, ...]:
    """Jamba: one attention layer in attn_layer_period, the rest Mamba (configuration_jamba.py layers_block_type)."""
    text = decoder.text
    period, offset = dim(text, "attn_layer_period"), dim(text, "attn_layer_offset", minimum=0)
    if offset >= period:
        raise text.error("attn_layer_offset", f"is {offset}: it must be below attn_layer_period, which is {period}.")
    mamba = state(
        "mamba1",
        intermediate_size=dim(text, "mamba_expand") * decoder.hidden_size,
        state_size=dim(text, "mamba_d_state"),
        conv_kernel=dim(text, "mamba_d_conv"),
    )
    attention = decoder.full()
    return tuple(attention if index % period == offset else (mamba,) for index in range(decoder.num_layers))


def _mamba2_of(decoder: Decoder, intermediate_size: int) -> StateCache:
    """The Mamba-2 state of Granite 4, Bamba and Falcon-H1, whose fields share their names."""
    text = decoder.text
    return state(
        "mamba2",
        intermediate_size=intermediate_size,
        n_groups=dim(text, "mamba_n_groups"),
        num_heads=dim(text, "mamba_n_heads"),
        head_dim=_mamba_head_dim(decoder),
        state_size=dim(text, "mamba_d_state"),
        conv_kernel=dim(text, "mamba_d_conv"),
    )


def _mamba_head_dim(decoder: Decoder) -> int:
    """mamba_d_head, where "auto" means the expanded width over the heads."""
    text = decoder.text
    if text.raw("mamba_d_head") in ("auto", None):
        return dim(text, "mamba_expand") * decoder.hidden_size // dim(text, "mamba_n_heads")
    return dim(text, "mamba_d_head")


def falcon_h1(decoder: Decoder) -> tuple[Layer, ...]:
    """Falcon-H1: attention and Mamba-2 side by side in every layer (vLLM falcon_h1.py)."""
    text = decoder.text
    given = text.optional_integer("mamba_d_ssm", maximum=MAX_DIM)
    mamba = _mamba2_of(decoder, given or dim(text, "mamba_expand") * decoder.hidden_size)
    return ((*decoder.full(), mamba),) * decoder.num_layers


def granite_hybrid(decoder: Decoder) -> tuple[Layer, ...]:
    """Granite 4: layer_types says mamba or attention; where all attend, no layer keeps a state."""
    text = decoder.text
    key = "layer_types" if text.has("layer_types") else "layers_block_type"
    names = {"mamba": True, "linear_attention": True, "attention": False, "full_attention": False}
    words = text.words(key, names, decoder.num_layers)
    if words is None:
        raise text.error("layer_types", "is missing: it says which layers are mamba and which attention.")
    attention, mamba = decoder.full(), _granite_state(decoder)
    return tuple((mamba,) if names[word] else attention for word in words)


def _granite_state(decoder: Decoder) -> StateCache:
    return _mamba2_of(decoder, dim(decoder.text, "mamba_expand") * decoder.hidden_size)


def idle_state(decoder: Decoder, layers: tuple[Layer, ...]) -> StateCache | None:
    """The state that no layer keeps, where vLLM takes a model for a hybrid none the less: Granite 4 without Mamba.

    vLLM's exception asks for "attention" in layer_types (config/model.py:1678), which the config class has renamed.
    """
    if decoder.model_type != "granitemoehybrid" or any(
        isinstance(one, StateCache) for layer in layers for one in layer
    ):
        return None
    return _granite_state(decoder)


def bamba(decoder: Decoder) -> tuple[Layer, ...]:
    """Bamba: the layers listed in attn_layer_indices attend, the rest are Mamba-2."""
    text = decoder.text
    attending = text.integers("attn_layer_indices")
    if attending is None:
        raise text.error("attn_layer_indices", "is missing: it says which layers attend.")
    if any(index >= decoder.num_layers for index in attending):
        raise text.error("attn_layer_indices", f"names a layer beyond the last of {decoder.num_layers}.")
    mamba = _mamba2_of(decoder, dim(text, "mamba_expand") * decoder.hidden_size)
    attention = decoder.full()
    return tuple(attention if index in attending else (mamba,) for index in range(decoder.num_layers))


NEMOTRON_BLOCKS: Mapping[str, str] = {
    "M": "mamba", "*": "attention", "-": "mlp", "E": "mlp",
    "mamba": "mamba", "linear_attention": "mamba", "attention": "attention", "full_attention": "attention",
    "mlp": "mlp", "moe": "mlp",
}  # fmt: skip


def nemotron_blocks(text: Fields) -> tuple[str, ...]:
    """Nemotron-H's map: one letter per layer, or one word per layer, which then counts the layers."""
    pattern = text.text("hybrid_override_pattern")
    if pattern is not None:
        for index, letter in enumerate(pattern):
            if letter not in "M*-E":
                raise text.error("hybrid_override_pattern", f'has "{letter}" at {index}: M, *, - and E are known.')
        return tuple(NEMOTRON_BLOCKS[letter] for letter in pattern)
    for key in ("layers_block_type", "layer_types"):
        words = text.words(key, [name for name in NEMOTRON_BLOCKS if len(name) > 1])
        if words is not None:
            return tuple(NEMOTRON_BLOCKS[word] for word in words)
    raise text.error("hybrid_override_pattern", "is missing, and layers_block_type too: one of them maps the layers.")


def nemotron_h(decoder: Decoder) -> tuple[Layer, ...]:
    """Nemotron-H and Nemotron 3: Mamba-2, attention and MLP layers in a written order (vLLM nemotron_h.py)."""
    text = decoder.text
    blocks = nemotron_blocks(text)
    if len(blocks) != decoder.num_layers:
        raise text.error("hybrid_override_pattern", f"maps {len(blocks)} layers, but there are {decoder.num_layers}.")
    heads = dim(text, "mamba_num_heads")
    head_dim = dim(text, "mamba_head_dim")
    mamba = state(
        "mamba2",
        intermediate_size=heads * head_dim,
        n_groups=dim(text, "n_groups"),
        num_heads=heads,
        head_dim=head_dim,
        state_size=dim(text, "ssm_state_size"),
        conv_kernel=dim(text, "conv_kernel"),
    )
    kinds: dict[str, Layer] = {"mamba": (mamba,), "attention": decoder.full(), "mlp": ()}
    return tuple(kinds[block] for block in blocks)


def zamba2(decoder: Decoder) -> tuple[Layer, ...]:
    """Zamba2: every layer Mamba-2, the hybrid ones with attention of their own cache beside it (vLLM zamba2.py)."""
    text = decoder.text
    words = text.words("layers_block_type", ("mamba", "hybrid"), decoder.num_layers)
    if words is None:
        raise text.error("layers_block_type", "is missing: it says which layers are hybrid.")
    width = dim(text, "mamba_expand") * decoder.hidden_size
    heads = dim(text, "n_mamba_heads")
    mamba = state(
        "mamba2",
        intermediate_size=width,
        n_groups=dim(text, "mamba_ngroups"),
        num_heads=heads,
        head_dim=width // heads,
        state_size=dim(text, "mamba_d_state"),
        conv_kernel=dim(text, "mamba_d_conv"),
    )
    attention = decoder.full(decoder.num_heads, dim(text, "attention_head_dim"))
    return tuple((mamba, *attention) if word == "hybrid" else (mamba,) for word in words)


def plamo2(decoder: Decoder) -> tuple[Layer, ...]:
    """PLaMo 2: one attention layer in mamba_step, in its middle (vLLM plamo2.py is_mamba)."""
    text = decoder.text
    step, size, heads = dim(text, "mamba_step", 2), dim(text, "hidden_size_per_head"), dim(text, "mamba_num_heads")
    mamba = state(
        "mamba2",
        intermediate_size=heads * size,
        n_groups=0,
        num_heads=heads,
        head_dim=size,
        state_size=dim(text, "mamba_d_state"),
        conv_kernel=dim(text, "mamba_d_conv"),
    )
    attention, count = decoder.full(head_size=size), decoder.num_layers
    if count <= step // 2:  # too few for one step: the last layer attends
        return tuple(attention if index == count - 1 else (mamba,) for index in range(count))
    return tuple(attention if index % step == step // 2 else (mamba,) for index in range(count))
