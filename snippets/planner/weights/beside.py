"""What loading leaves on a rank beside the parameters: vLLM's line “Model loading took … GiB” holds it too."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from snippets.model_config.model_config import AttentionCache, ModelConfig
from snippets.planner.engine_args import EngineArgs
from snippets.planner.mtp import num_mtp_layers
from snippets.planner.settings.layers import partition
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.layers import LayerKind, layer_kinds
from snippets.planner.weights.parts.rotary import Table, rotary_tables, turn_alike
from snippets.planner.weights.rank import HOPPER, counting_of, draft_args
from snippets.units import GIB

_INT32 = 4
_SHOWN = GIB // 100  # the log prints hundredths of a GiB


@dataclass(frozen=True)
class Beside:
    """Bytes of one rank."""

    rotary_tables: int = 0  # cosines and sines of every position; one table serves all layers that turn alike
    mla_copies: int = 0  # W_UK_T and W_UV
    buffers: int = 0  # that a model makes for the largest batch

    def __add__(self, other: Beside) -> Beside:
        return Beside(
            self.rotary_tables + other.rotary_tables, self.mla_copies + other.mla_copies, self.buffers + other.buffers
        )


def beside_weights(
    config: ModelConfig,
    args: EngineArgs,
    max_num_batched_tokens: int,
    compute_capability: tuple[int, int] = HOPPER,
) -> tuple[Beside, ...]:
    """Of one rank of each stage; the drafter's stands on the last.

    Tables that the log's two decimals would not show are left out: short contexts', and those of towers.
    """
    c = counting_of(config, args, compute_capability)
    kinds, start = layer_kinds(c), 0
    stages: list[Beside] = []
    counts = partition(len(kinds), args.pipeline_parallel_size)
    for stage, count in enumerate(counts):
        mine = kinds[start : start + count]
        buffers = _buffers(c, mine, max_num_batched_tokens, stage == len(counts) - 1)
        tables = rotary_tables(c, mine, args.enforce_eager)
        copies = sum(mla_copy(c, kind) for kind in mine)
        stages.append(Beside(_shown(tables), copies, buffers))
        start += count
    stages[-1] += _of_drafter(c, args, mine, max_num_batched_tokens, compute_capability)
    return tuple(stages)


def _shown(tables: Collection[Table]) -> int:
    size = sum(table.num_bytes for table in tables)
    return size if size >= _SHOWN else 0


def mla_copy(c: Counting, kind: LayerKind) -> int:
    """kv_b_proj once more in 16 bits, for decoding; a view where it is not quantised.

    model_executor/layers/attention/mla_attention.py:948 process_weights_after_loading.
    """
    has_kv_b = c.recipe.moe != "deepseek_v4" and any(getattr(cache, "kind", "") == "mla" for cache in kind.mixer)
    if not has_kv_b:
        return 0
    if c.in_layer(kind.names).scheme_of("self_attn.kv_b_proj").kind == "plain":
        return 0
    heads = c.split.of_rank(c.config.num_attention_heads, "num_attention_heads")
    per_head = c.number("qk_nope_head_dim") + c.number("v_head_dim")
    return c.number("kv_lora_rank") * heads * per_head * c.plain_bytes


def _buffers(c: Counting, kinds: tuple[LayerKind, ...], batched_tokens: int, is_last: bool) -> int:
    """Picked tokens of sparse attention (deepseek_v2.py:1362), residual streams for MTP (deepseek_v4 model.py:530)."""
    size = c.number("index_topk", 0) * batched_tokens * _INT32 if kinds else 0
    if c.recipe.moe == "deepseek_v4" and is_last:
        size += batched_tokens * c.number("hc_mult") * c.hidden * c.plain_bytes
    return size


def _of_drafter(
    c: Counting,
    args: EngineArgs,
    kinds: tuple[LayerKind, ...],
    batched_tokens: int,
    compute_capability: tuple[int, int],
) -> Beside:
    """A draft model's own; MTP layers turn by the target's table and pick into its buffer.

    `kinds`: the target's layers on the last stage. A draft model that turns as they do takes their table too.
    """
    spec = args.speculative
    if spec is None or spec.method not in ("mtp", "draft_model"):
        return Beside()
    if spec.method == "mtp":
        attention = [kind for kind in kinds if any(isinstance(cache, AttentionCache) for cache in kind.mixer)]
        copies = mla_copy(c, replace(attention[-1], names=frozenset())) if attention else 0
        return Beside(mla_copies=copies * num_mtp_layers(c.config))
    if spec.draft is None:
        return Beside()
    own = draft_args(c.config, args, compute_capability)
    beside = beside_weights(spec.draft, own, batched_tokens, compute_capability)[-1]
    draft = counting_of(spec.draft, own, compute_capability)
    if not turn_alike(c, draft):
        return beside
    mine = layer_kinds(draft)[-partition(len(spec.draft.layers), args.pipeline_parallel_size)[-1] :]
    there = rotary_tables(c, kinds, args.enforce_eager)
    return replace(beside, rotary_tables=_shown(rotary_tables(draft, mine, args.enforce_eager) - there))
