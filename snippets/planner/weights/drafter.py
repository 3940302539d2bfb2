"""A drafter's weights, beside the target's on the last pipeline stage (v1/spec_decode)."""

from __future__ import annotations

from dataclasses import replace

from snippets.model_config.model_config import AttentionCache
from snippets.planner.engine_args import EngineArgs
from snippets.planner.mtp import num_mtp_layers
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.layers import LayerKind, dense_size
from snippets.planner.weights.parts.decoder import decoder_layer
from snippets.planner.weights.parts.deepseek_v4 import outside_streams, v4_mtp_layer, with_byte_scales
from snippets.planner.weights.parts.outside import embedding
from snippets.planner.weights.storage.size import NOTHING, Size

WITHOUT_WEIGHTS = ("ngram", "ngram_gpu", "suffix")


def mtp_layers(c: Counting, args: EngineArgs, kinds: tuple[LayerKind, ...]) -> Size:
    """The checkpoint's own MTP layers, as they stand when memory is profiled.

    The classes allocate an embedding and an lm_head of their own, which give way to the target's once it is loaded
    (llm_base_proposer.py:1421, 1510; v1/worker/gpu/spec_decode/eagle/utils.py:65); with a pipeline the embedding stays.
    """
    count = num_mtp_layers(c.config)
    if not c.recipe.nextn or not count:
        raise WeightsError(
            "speculative_config", f"The weights of MTP layers of {c.config.architecture} are not counted here."
        )
    size = (_step(c, kinds) + c.numbers(3 * c.hidden)) * count
    return size + (embedding(c) if args.pipeline_parallel_size > 1 else NOTHING)


def _step(c: Counting, kinds: tuple[LayerKind, ...]) -> Size:
    """One decoder layer, and what joins hidden state and embedding to one; norms aside."""
    if c.recipe.moe == "deepseek_v4":
        stored = with_byte_scales(c)
        joined = stored.matrix("mtp.e_proj", c.hidden, c.hidden) + stored.matrix("mtp.h_proj", c.hidden, c.hidden)
        return v4_mtp_layer(stored) + joined + outside_streams(c)
    joined = _qwen_join(c) if c.recipe.moe == "qwen" else c.plain_matrix(2 * c.hidden, c.hidden)
    if c.recipe.moe == "mimo":
        return _mimo_layer(c, kinds) + joined
    attention = [kind for kind in kinds if any(isinstance(cache, AttentionCache) for cache in kind.mixer)]
    return decoder_layer(c, replace(attention[-1], names=frozenset())) + joined


def _mimo_layer(c: Counting, kinds: tuple[LayerKind, ...]) -> Size:
    """A window and a dense MLP; o_proj stays in 16 bits (models/mimo_v2.py:279)."""
    windows = [kind for kind in kinds if any(getattr(cache, "kind", "") == "sliding" for cache in kind.mixer)]
    if not windows:
        raise WeightsError("hybrid_layer_pattern", "No layer has a window, as MiMo-V2's MTP layers have.")
    return decoder_layer(c, replace(windows[-1], mlp=dense_size(c), names=frozenset({"self_attn.o_proj"})))


def _qwen_join(c: Counting) -> Size:
    """Hidden state and embedding to one, split over the ranks (models/qwen3_next_mtp.py)."""
    return c.matrix("mtp.fc", 2 * c.hidden, c.split.of_rank(c.hidden, "hidden_size"))


def has_mtp_drafter(args: EngineArgs) -> bool:
    """Whether MTP layers draft; a method without weights needs nothing, another one is refused by name."""
    spec = args.speculative
    if spec is None or spec.method in WITHOUT_WEIGHTS or spec.method == "draft_model":
        return False
    if spec.method.endswith("mtp"):
        return True
    raise WeightsError("speculative_config", f"The weights of a drafter of kind “{spec.method}” are not counted here.")
