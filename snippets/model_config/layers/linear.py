"""Linear attention and its hybrids: gated delta net, Kimi delta attention, lightning attention, short convolution."""

from __future__ import annotations

from snippets.model_config.decoder import Decoder
from snippets.model_config.layers.mla import latent
from snippets.model_config.layers.states import MAX_DIM, dim, state
from snippets.model_config.model_config import Layer


def linear_or_full(decoder: Decoder, default_interval: int = 4) -> tuple[bool, ...]:
    """Which layers attend: layer_types, else every full_attention_interval-th (configuration_qwen3_5.py)."""
    text = decoder.text
    words = text.words("layer_types", ("linear_attention", "full_attention"), decoder.num_layers)
    if words is not None:
        return tuple(word == "full_attention" for word in words)
    interval = text.optional_integer("full_attention_interval", maximum=4096) or default_interval
    return tuple((index + 1) % interval == 0 for index in range(decoder.num_layers))


def gated_delta_net(decoder: Decoder) -> tuple[Layer, ...]:
    """Qwen3-Next, Qwen3.5, OLMo-Hybrid: gated delta net layers among full attention (vLLM qwen3_next.py)."""
    text = decoder.text
    linear = state(
        "gdn",
        num_k_heads=dim(text, "linear_num_key_heads"),
        num_v_heads=dim(text, "linear_num_value_heads"),
        head_k_dim=dim(text, "linear_key_head_dim"),
        head_v_dim=dim(text, "linear_value_head_dim"),
        conv_kernel=dim(text, "linear_conv_kernel_dim"),
    )
    attention = decoder.full()
    return tuple(attention if attends else (linear,) for attends in linear_or_full(decoder))


def kimi_linear(decoder: Decoder) -> tuple[Layer, ...]:
    """Kimi-Linear: Kimi delta attention in the layers listed from 1, MLA in the others (vLLM kimi_linear.py)."""
    text = decoder.text
    linear = text.child("linear_attn_config")
    if linear is None:
        return ((latent(decoder),),) * decoder.num_layers
    kda_layers = linear.integers("kda_layers", minimum=1)
    full_layers = linear.integers("full_attn_layers", minimum=1)
    if kda_layers is None or full_layers is None:
        raise linear.error("kda_layers" if kda_layers is None else "full_attn_layers", "is missing.")
    if sorted((*kda_layers, *full_layers)) != list(range(1, decoder.num_layers + 1)):
        raise linear.error("kda_layers", f"and full_attn_layers must name layers 1 to {decoder.num_layers} once each.")
    heads, head_dim = dim(linear, "num_heads"), dim(linear, "head_dim")
    kda = state(
        "kda",
        num_k_heads=heads,
        num_v_heads=heads,
        head_k_dim=head_dim,
        head_v_dim=head_dim,
        conv_kernel=dim(linear, "short_conv_kernel_size"),
    )
    listed = frozenset(kda_layers)
    return tuple((kda,) if index + 1 in listed else (latent(decoder),) for index in range(decoder.num_layers))


def lfm2(decoder: Decoder) -> tuple[Layer, ...]:
    """LFM2: short convolutions among full attention (vLLM lfm2.py)."""
    text = decoder.text
    words = text.words("layer_types", ("conv", "full_attention"), decoder.num_layers)
    if words is None:
        attending = text.integers("full_attn_idxs")
        if attending is None:
            raise text.error("layer_types", "is missing: it says which layers are conv and which full_attention.")
        words = tuple("full_attention" if index in attending else "conv" for index in range(decoder.num_layers))
    width = text.optional_integer("conv_dim", maximum=MAX_DIM) or decoder.hidden_size
    conv = state("short_conv", intermediate_size=width, conv_kernel=dim(text, "conv_L_cache"))
    attention = decoder.full()
    return tuple(attention if word == "full_attention" else (conv,) for word in words)


def bailing_hybrid(decoder: Decoder) -> tuple[Layer, ...]:
    """Ling/Ring 2.5: lightning attention, and MLA in every layer_group_size-th layer (vLLM bailing_moe_linear.py)."""
    text = decoder.text
    group = dim(text, "layer_group_size")
    head_dim = text.optional_integer("head_dim", maximum=MAX_DIM) or decoder.hidden_size // decoder.num_heads
    lightning = state("linear", num_heads=decoder.num_heads, head_dim=head_dim)
    attention: Layer = (latent(decoder),)
    return tuple(attention if (index + 1) % group == 0 else (lightning,) for index in range(decoder.num_layers))
