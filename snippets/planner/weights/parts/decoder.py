"""One decoder layer: mixer, MLP and norms."""

from __future__ import annotations

from snippets.model_config.model_config import AttentionCache, Layer, StateCache
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.layers import LayerKind
from snippets.planner.weights.parts.attention import attention, indexer, mla
from snippets.planner.weights.parts.deepseek_v4 import v4_layer, with_byte_scales
from snippets.planner.weights.parts.encoder import cross_attention
from snippets.planner.weights.parts.feed_forward import Experts, mixture, mlp
from snippets.planner.weights.parts.recurrent import gated_delta_net, mamba1, mamba2
from snippets.planner.weights.storage.size import NOTHING, Size

_ATTENTION = ("full", "sliding", "chunked", "encoder_only")


def decoder_layer(c: Counting, kind: LayerKind) -> Size:
    """Everything of one layer on one rank."""
    c = c.in_layer(kind.names)
    if c.recipe.moe == "deepseek_v4" and isinstance(kind.mlp, int):
        return v4_layer(with_byte_scales(c), kind.mlp)
    size = _mixer(c, kind.mixer)
    for _ in range(kind.norms):
        size += c.norm(c.hidden)
    if isinstance(kind.mlp, Experts):
        return size + mixture(c, kind.mlp)
    return size + (mlp(c, kind.mlp, _mlp_name(c)) if kind.mlp else NOTHING)


def _mlp_name(c: Counting) -> str:
    """The dense MLP's name in a checkpoint."""
    return {"nemotron_h": "mixer", "jamba": "feed_forward", "llama4": "feed_forward"}.get(c.recipe.moe, "mlp")


def _mixer(c: Counting, mixer: Layer) -> Size:
    size = NOTHING
    for cache in mixer:
        size += _state(c, cache) if isinstance(cache, StateCache) else _attention(c, cache)
    return size


def _attention(c: Counting, cache: AttentionCache) -> Size:
    if cache.kind == "mla":
        return mla(c)
    if cache.kind == "indexer":
        return indexer(c)
    if cache.kind == "cross":
        return cross_attention(c, cache) + c.norm(c.hidden)
    if cache.kind in _ATTENTION:
        return attention(c, cache)
    raise WeightsError("architectures", f"Attention of kind {cache.kind} is not counted here.")


def _state(c: Counting, cache: StateCache) -> Size:
    if cache.kind == "mamba1":
        return mamba1(c, cache)
    if cache.kind == "mamba2":
        nemotron = c.recipe.moe == "nemotron_h"
        return mamba2(c, cache, "mixer" if nemotron else "mamba", nemotron or c.text.flag("mamba_rms_norm"))
    if cache.kind == "gdn":
        return gated_delta_net(c, cache)
    raise WeightsError("architectures", f"Recurrent layers of kind {cache.kind} are not counted here.")
