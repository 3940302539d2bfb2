"""A drafter's weights, beside the target's on the last pipeline stage (v1/spec_decode)."""

from __future__ import annotations

from dataclasses import replace

from snippets.model_config.model_config import AttentionCache
from snippets.planner.engine_args import EngineArgs
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.layers import LayerKind
from snippets.planner.weights.parts.decoder import decoder_layer
from snippets.planner.weights.parts.outside import embedding
from snippets.planner.weights.storage.size import NOTHING, Size

WITHOUT_WEIGHTS = ("ngram", "ngram_gpu", "suffix")


def mtp_layers(c: Counting, args: EngineArgs, kinds: tuple[LayerKind, ...]) -> Size:
    """The checkpoint's own MTP layers. Embedding and lm_head are the target's (llm_base_proposer.py:1421, 1510)."""
    count = c.config.num_nextn_predict_layers or (1 if c.config.model_type == "qwen3_next" else 0)  # it does not say
    if not c.recipe.nextn or not count:
        raise WeightsError(
            "speculative_config", f"The weights of MTP layers of {c.config.architecture} are not counted here."
        )
    attention = [kind for kind in kinds if any(isinstance(cache, AttentionCache) for cache in kind.mixer)]
    block = decoder_layer(c, replace(attention[-1], names=frozenset()))
    joined = _qwen_join(c) if c.recipe.moe == "qwen" else c.plain_matrix(2 * c.hidden, c.hidden)
    size = (block + joined + c.numbers(3 * c.hidden)) * count
    return size + (embedding(c) if args.pipeline_parallel_size > 1 else NOTHING)


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
