"""The weights of one rank, and of the whole checkpoint."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from snippets.model_config.fields import Fields, Record
from snippets.model_config.model_config import ModelConfig
from snippets.model_config.nesting import text_fields
from snippets.planner.engine_args import EngineArgs
from snippets.planner.settings.card import dtypes_at
from snippets.planner.settings.dtypes import auto_dtype
from snippets.planner.settings.layers import partition
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.drafter import WITHOUT_WEIGHTS, has_mtp_drafter, mtp_layers
from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.families import FAMILIES
from snippets.planner.weights.layers import layer_kinds
from snippets.planner.weights.once import OncePerConfig
from snippets.planner.weights.parts.decoder import decoder_layer
from snippets.planner.weights.parts.deepseek_v4 import outside_streams
from snippets.planner.weights.parts.encoder import whisper_encoder
from snippets.planner.weights.parts.outside import outside_layers
from snippets.planner.weights.parts.towers import tower
from snippets.planner.weights.split import CHECKPOINT, Split
from snippets.planner.weights.storage.scheme import Scheme, scheme_of
from snippets.planner.weights.storage.size import NOTHING, Size
from snippets.planner.weights.storage.skipped import Skipped, skipped_of

HOPPER = (9, 0)
_BYTES = {"bfloat16": 2, "float16": 2, "half": 2, "float32": 4, "float": 4}


def rank_weight_bytes(
    config: ModelConfig,
    args: EngineArgs,
    pp_rank: int | None = None,
    compute_capability: tuple[int, int] = HOPPER,
) -> int:
    """Bytes of the parameters that vLLM's model class allocates on one rank of a pipeline stage.

    Without `pp_rank` the largest stage's. `compute_capability` decides the dtype where it is "auto", and the padding of
    mxfp4 kernels. Rotary tables, drafters and what loading adds or frees are not included. Raises WeightsError for
    what cannot be counted.
    """
    sizes = stage_sizes(config, args, compute_capability)
    chosen = sizes if pp_rank is None else sizes[pp_rank : pp_rank + 1]
    if not chosen:
        raise WeightsError("pipeline_parallel_size", f"There is no stage {pp_rank}: there are {len(sizes)}.")
    return max(size.num_bytes for size in chosen)


def checkpoint_parameters(config: ModelConfig) -> int:
    """Numbers in the whole model: nothing padded, nothing replicated, tied matrices once."""
    c = counting_of(config, EngineArgs(), HOPPER)
    return sum(size.parameters for size in _stages(replace(c, split=CHECKPOINT), 1))


def stage_sizes(
    config: ModelConfig, args: EngineArgs, compute_capability: tuple[int, int] = HOPPER
) -> tuple[Size, ...]:
    """What one rank of each pipeline stage holds, without a drafter."""
    return _stages(counting_of(config, args, compute_capability), args.pipeline_parallel_size)


def drafter_weight_bytes(config: ModelConfig, args: EngineArgs, compute_capability: tuple[int, int] = HOPPER) -> int:
    """What a drafter adds to each rank of the last stage: MTP layers, or the last stage's part of a model.

    A draft model takes the target's dtype and split, and its own config's quantization (config/speculative.py:831).
    0 without speculation and for methods without weights. Raises WeightsError for other kinds of drafters.
    """
    if has_mtp_drafter(args):
        c = counting_of(config, args, compute_capability)
        return mtp_layers(c, args, layer_kinds(c)).num_bytes
    spec = args.speculative
    if spec is None or spec.method in WITHOUT_WEIGHTS:
        return 0
    if spec.draft is None:
        raise WeightsError("speculative_config", "The drafter's config.json is missing.")
    alone = draft_args(config, args, compute_capability)
    return stage_sizes(spec.draft, alone, compute_capability)[-1].num_bytes


def draft_args(config: ModelConfig, args: EngineArgs, compute_capability: tuple[int, int]) -> EngineArgs:
    """What holds for a draft model of `config`."""
    return replace(args, speculative=None, quantization=None, dtype=_dtype(config, args, compute_capability))


def counting_of(config: ModelConfig, args: EngineArgs, compute_capability: tuple[int, int]) -> Counting:
    recipe = FAMILIES.get(config.architecture)
    if recipe is None:
        raise WeightsError(
            "architectures", f"The weights of {config.architecture or 'this model'} are not counted here."
        )
    root, text, skipped = _READ.get(config, lambda: _read(config))
    return Counting(
        config=config,
        text=text,
        root=root,
        recipe=recipe,
        split=Split.of(args),
        scheme=_scheme(config, args),
        skipped=skipped,
        plain_bytes=_BYTES[_dtype(config, args, compute_capability)],
        expert_padding=expert_padding(compute_capability),
    )


def _dtype(config: ModelConfig, args: EngineArgs, compute_capability: tuple[int, int]) -> str:
    """The dtype in force: a card without BF16 runs Gemma in 32 bits."""
    asked = args.dtype.lower()
    return auto_dtype(config, dtypes_at(compute_capability)) if asked == "auto" else asked


_READ: OncePerConfig[tuple[Fields, Fields, Skipped]] = OncePerConfig()


def _read(config: ModelConfig) -> tuple[Fields, Fields, Skipped]:
    root = Fields(config.fields, Record())
    return root, text_fields(root)[0], skipped_of(config.quantization)


def _scheme(config: ModelConfig, args: EngineArgs) -> Scheme:
    """The checkpoint's, or 8-bit made while loading: --quantization fp8 on 16-bit weights (quantization/online)."""
    if config.quantization is None and args.quantization is not None:
        if args.quantization != "fp8":
            raise WeightsError("quantization", f"Weights made “{args.quantization}” on loading are not counted here.")
        return Scheme("tensor8", 8)
    return scheme_of(config.quantization)


def expert_padding(compute_capability: tuple[int, int]) -> tuple[int, int]:
    """Multiples of hidden and intermediate size that mxfp4 experts are rounded to (oracle/mxfp4.py:307, 635)."""
    major, minor = compute_capability
    if (major, minor) == (9, 4):  # gfx942: AITER or Triton
        return 256, 256
    if major == 10:  # FlashInfer's TRT-LLM kernels
        return 256, 256
    if major == 9:  # Triton
        return 1, 64
    return 256, 128  # Marlin: Ampere, Ada and consumer Blackwell


def _stages(c: Counting, stages: int) -> tuple[Size, ...]:
    kinds = layer_kinds(c)
    inside = replace(c, split=replace(c.split, tensor=1, expert_tensor=1)) if c.recipe.replicated else c
    beside = tower(c) + (whisper_encoder(c) if c.recipe.tower == "whisper" else NOTHING)
    beside += outside_streams(c) if c.recipe.moe == "deepseek_v4" else NOTHING
    sizes: list[Size] = []
    start = 0
    for stage, count in enumerate(partition(len(kinds), stages)):
        size = outside_layers(c, stage == 0, stage == stages - 1) + beside
        for kind, times in Counter(kinds[start : start + count]).items():
            size += decoder_layer(inside, kind) * times
        sizes.append(size)
        start += count
    return tuple(sizes)
