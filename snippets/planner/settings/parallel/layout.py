"""Layouts vLLM refuses: tensor, pipeline, data, expert and decode context parallel sizes that do not divide."""

from __future__ import annotations

from collections.abc import Iterator

from snippets.model_config.model_config import AttentionCache, ModelConfig, StateCache
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings.kind import NAMELESS_TEXT, WITHOUT_PIPELINE, is_moe
from snippets.planner.settings.pages.mamba_state import state_shapes
from snippets.planner.settings.parallel.widths import width_errors


def layout_errors(config: ModelConfig, args: EngineArgs) -> tuple[EngineArgsError, ...]:
    """Everything vLLM 0.26.0 refuses about the parallel sizes, in the order it would meet them; () when it starts."""
    sizes = tuple(_sizes(args))
    return sizes or tuple(_all(config, args))


def _all(config: ModelConfig, args: EngineArgs) -> Iterator[EngineArgsError]:
    yield from _context_parallel_of_ranks(args)
    yield from _heads(config, args)
    yield from _context_parallel_of_heads(config, args)
    yield from _stages(config, args)
    yield from _kv_heads(config, args)
    yield from width_errors(config, args)
    yield from _states(config, args)


def _sizes(args: EngineArgs) -> Iterator[EngineArgsError]:
    for name in (
        "tensor_parallel_size",
        "pipeline_parallel_size",
        "data_parallel_size",
        "decode_context_parallel_size",
    ):
        size = getattr(args, name)
        if size < 1:
            yield EngineArgsError(name, f"{name} must be at least 1, got {size}")


def _context_parallel_of_ranks(args: EngineArgs) -> Iterator[EngineArgsError]:
    """config/parallel.py:509."""
    tp, dcp = args.tensor_parallel_size, args.decode_context_parallel_size
    if tp % dcp:
        yield EngineArgsError("decode_context_parallel_size", f"tp_size={tp} must be divisible by dcp_size={dcp}.")


def _heads(config: ModelConfig, args: EngineArgs) -> Iterator[EngineArgsError]:
    """config/model.py:1216 verify_with_parallel_config."""
    heads, tp = config.num_attention_heads, args.tensor_parallel_size
    if heads % tp:
        yield EngineArgsError(
            "tensor_parallel_size",
            f"Total number of attention heads ({heads}) must be divisible by tensor parallel size ({tp}).",
        )
    if args.enable_expert_parallel and not is_moe(config):
        yield EngineArgsError(
            "enable_expert_parallel",
            "Number of experts in the model must be greater than 0 when expert parallelism is enabled.",
        )


def _context_parallel_of_heads(config: ModelConfig, args: EngineArgs) -> Iterator[EngineArgsError]:
    """config/model.py:1248: without MLA the ranks that hold copies of a KV head share its tokens."""
    tp, dcp = args.tensor_parallel_size, args.decode_context_parallel_size
    if dcp == 1:
        return
    kinds = {cache.kind for layer in config.layers for cache in layer}
    if kinds & {"sliding", "sliding_mla"}:
        yield EngineArgsError("decode_context_parallel_size", "DCP not support sliding window.")
    if config.use_mla:
        return
    kv_heads = config.num_kv_heads
    if kv_heads < 1:
        yield EngineArgsError(
            "decode_context_parallel_size", f"{config.architecture} has no KV heads for decode context parallel to use"
        )
        return
    if tp <= kv_heads:
        yield EngineArgsError(
            "decode_context_parallel_size",
            f"tensor parallel size {tp} must be greater than total num kv heads {kv_heads} when enable decode context "
            "parallel for GQA/MQA",
        )
        return
    largest = tp // kv_heads
    if dcp > largest:
        yield EngineArgsError(
            "decode_context_parallel_size",
            f"decode context parallel size must less than or equal to (tensor parallel size {tp} // total num kv heads "
            f"{kv_heads}) = {largest}, but got {dcp}",
        )
    per_kv = config.num_attention_heads // kv_heads
    if per_kv % dcp:
        yield EngineArgsError(
            "decode_context_parallel_size",
            f"Total number of q per kv attn heads ({per_kv}) must be divisible by dcp world size when enable decode "
            f"context parallel for GQA ({dcp}).",
        )


def _stages(config: ModelConfig, args: EngineArgs) -> Iterator[EngineArgsError]:
    pp, layers = args.pipeline_parallel_size, len(config.layers)
    if pp > 1 and config.architecture in WITHOUT_PIPELINE:
        yield EngineArgsError(
            "pipeline_parallel_size",
            "Pipeline parallelism is not supported for this model. Supported models implement the `SupportsPP` "
            "interface.",
        )
    if pp > 1 and config.architecture in NAMELESS_TEXT:
        yield EngineArgsError(
            "pipeline_parallel_size",
            f"No model architectures are specified: vLLM 0.26.0 builds the decoder of {config.architecture} from a "
            "config without a class name, and fails to look it up with more than one stage (config/vllm.py:720 "
            "with_hf_config). Use pipeline_parallel_size 1.",
        )
    if pp > layers:
        yield EngineArgsError(
            "pipeline_parallel_size",
            f"pipeline_parallel_size ({pp}) leaves a stage without a layer: the model has {layers}. "
            f"Use at most {layers}.",
        )


def _kv_heads(config: ModelConfig, args: EngineArgs) -> Iterator[EngineArgsError]:
    """The model classes assert it: heads are split evenly, or each is copied the same number of times."""
    tp = args.tensor_parallel_size
    totals = {
        cache.num_kv_heads
        for layer in config.layers
        for cache in layer
        if isinstance(cache, AttentionCache) and cache.kind not in ("mla", "sliding_mla", "indexer", "encoder_only")
    }
    if config.model_type == "gpt_oss" and tp > config.num_kv_heads:
        yield EngineArgsError(
            "tensor_parallel_size",
            f"gpt-oss does not copy its {config.num_kv_heads} KV heads to {tp} ranks (models/gpt_oss.py:138): "
            f"use at most {config.num_kv_heads}.",
        )
    for total in sorted(totals):
        if (total >= tp and total % tp) or (total < tp and tp % total):
            relation = (
                f"{total} KV heads cannot be split over {tp} ranks"
                if total >= tp
                else (f"{total} KV heads cannot be copied evenly to {tp} ranks")
            )
            yield EngineArgsError(
                "tensor_parallel_size",
                f"{relation}: the model class asserts that one divides the other (models/llama.py:149). "
                f"Use a tensor_parallel_size of {_near(total, config.num_attention_heads)}.",
            )


def _near(kv_heads: int, heads: int) -> str:
    """Sizes that divide the heads and agree with the KV heads."""
    legal = [n for n in range(1, 65) if heads % n == 0 and (kv_heads % n == 0 or n % kv_heads == 0)]
    return ", ".join(map(str, legal[:-1])) + (f" or {legal[-1]}" if len(legal) > 1 else str(legal[-1]))


def _states(config: ModelConfig, args: EngineArgs) -> Iterator[EngineArgsError]:
    """Recurrent states that tensor parallelism cannot divide (layers/mamba/mamba_utils.py divide())."""
    tp = args.tensor_parallel_size
    states = {cache for layer in config.layers for cache in layer if isinstance(cache, StateCache)}
    for state in states:
        if state.kind == "mamba2" and state.dim("n_groups") % tp and state.dim("n_groups") != 1:
            yield EngineArgsError(
                "tensor_parallel_size",
                "If tensor parallel world size does not divide num_groups, then num_groups must equal 1. "
                f"This model has {state.dim('n_groups')}.",
            )
        try:
            state_shapes(state, tp)
        except EngineArgsError as error:
            yield error
