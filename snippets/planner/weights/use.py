"""The weights of a rank by how a step uses them: read always, read where an expert is chosen, or looked up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from snippets.model_config.model_config import ModelConfig
from snippets.planner.engine_args import EngineArgs
from snippets.planner.settings.layers import partition
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.layers import LayerKind, layer_kinds
from snippets.planner.weights.parts.encoder import whisper_encoder
from snippets.planner.weights.parts.feed_forward import Experts, mixture
from snippets.planner.weights.parts.outside import embedding, positions, tied
from snippets.planner.weights.parts.towers import tower
from snippets.planner.weights.rank import HOPPER, counting_of, stage_sizes
from snippets.planner.weights.storage.size import NOTHING, Size


@dataclass(frozen=True)
class StageUse:
    """One rank of one pipeline stage. The parts add up to what the rank holds."""

    always: Size  # by every step
    head: Size  # lm_head, in `always` too: a prompt needs it for its last token only
    routed: Size  # experts that tokens choose, and their router
    looked_up: Size  # tables of which a token takes one row
    num_experts: int  # of one layer, over all ranks; 0 without


def stage_uses(
    config: ModelConfig, args: EngineArgs, compute_capability: tuple[int, int] = HOPPER
) -> tuple[StageUse, ...]:
    """Of one rank of each stage. Towers for images and sound count as `looked_up`: text does not pass them."""
    c = counting_of(config, args, compute_capability)
    beside = tower(c) + (whisper_encoder(c) if c.recipe.tower == "whisper" else NOTHING)
    totals = stage_sizes(config, args, compute_capability)
    kinds = layer_kinds(c)
    inside = replace(c, split=replace(c.split, tensor=1, expert_tensor=1)) if c.recipe.replicated else c
    uses: list[StageUse] = []
    start = 0
    for stage, count in enumerate(partition(len(kinds), len(totals))):
        mine = kinds[start : start + count]
        start += count
        is_first, is_last = stage == 0, stage == len(totals) - 1
        head = embedding(c) if is_last or c.recipe.head_on == "everywhere" else NOTHING
        tables = _tables(c, is_first, is_last)
        routed = NOTHING
        for kind, times in Counter(mine).items():
            routed += _routed(inside, kind) * times
        rest = _minus(_minus(_minus(totals[stage], tables), routed), beside)
        uses.append(StageUse(rest, head, routed, tables + beside, _num_experts(mine)))
    return tuple(uses)


def _tables(c: Counting, is_first: bool, is_last: bool) -> Size:
    """Embedding and positions where they are not lm_head as well."""
    holds = is_first or c.recipe.embedding_on == "everywhere"
    size = positions(c) if holds or (is_last and tied(c)) else NOTHING
    return size + embedding(c) if holds and not (is_last and tied(c)) else size


def _routed(c: Counting, kind: LayerKind) -> Size:
    """What goes when a layer has no experts to choose from: they and their router."""
    if not isinstance(kind.mlp, Experts):
        return NOTHING
    c = c.in_layer(kind.names)
    return _minus(mixture(c, kind.mlp), mixture(c, replace(kind.mlp, count=0)))


def _num_experts(kinds: tuple[LayerKind, ...]) -> int:
    return max((kind.mlp.count for kind in kinds if isinstance(kind.mlp, Experts)), default=0)


def _minus(a: Size, b: Size) -> Size:
    return Size(a.parameters - b.parameters, a.num_bytes - b.num_bytes)
