"""Batch limits and scheduling: max_num_seqs, max_num_batched_tokens, prefix caching, chunked prefill, async."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.model_config.model_config import ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings.card import Card
from snippets.planner.settings.kind import (
    GEMMA4_TYPES,
    has_state,
    is_attention_free,
    is_encoder_only,
    is_mm_prefix_lm,
    is_moe,
)
from snippets.units import GIB

LARGE_CARD_BYTES = 70 * GIB  # engine/arg_utils.py:2462

DEFAULT_TOKENS = {("llm", True): 16384, ("server", True): 8192, ("llm", False): 8192, ("server", False): 2048}
DEFAULT_SEQS = {True: 1024, False: 256}

GEMMA4_VIDEO_TOKENS = 32 * (70 + 2 + 6)  # models/gemma4_mm.py:266: frames × (soft tokens + boi + eoi + time stamp)

V2_ARCHITECTURES = (
    "DeepseekV2ForCausalLM",
    "GraniteMoeForCausalLM",
    "InklingForCausalLM",
    "InklingForConditionalGeneration",
    "LongcatFlashNgramForCausalLM",
    "Qwen2MoeForCausalLM",
)  # config/vllm.py:68 DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES
V2_METHODS = ("eagle", "eagle3", "mtp", "dflash", "dspark")
ASYNC_METHODS = ("eagle", "eagle3", "extract_hidden_states", "mtp", "dflash", "ngram_gpu", "dspark")


@dataclass(frozen=True)
class Batching:
    """Limits in force, each with its reason."""

    max_num_seqs: int
    max_num_batched_tokens: int
    enable_prefix_caching: bool
    enable_chunked_prefill: bool
    async_scheduling: bool
    max_concurrent_batches: int
    uses_v2_model_runner: bool
    reasons: dict[str, str]
    warnings: tuple[str, ...]


def resolve_batching(config: ModelConfig, args: EngineArgs, card: Card, max_model_len: int) -> Batching:
    """Every limit of the scheduler, as engine/arg_utils.py:2514-2711 and config/scheduler.py:215-299 fill them in."""
    reasons: dict[str, str] = {}
    chunked, reasons["enable_chunked_prefill"] = _chunked_prefill(config, args)
    caching, reasons["enable_prefix_caching"] = _prefix_caching(config, args)
    tokens, seqs = _limits(config, args, card, max_model_len, chunked, reasons)
    if config.is_encoder_decoder:
        chunked = False
        reasons["enable_chunked_prefill"] = "encoder-decoder models do not support it (config/scheduler.py:215)"
    warnings = verify_limits(tokens, seqs, max_model_len, chunked)
    _verify_draft_slots(args, tokens, seqs)
    is_async, reasons["async_scheduling"] = _async_scheduling(config, args)
    v2 = uses_v2_model_runner(config, args)
    batches, reasons["max_concurrent_batches"] = _concurrent_batches(args.pipeline_parallel_size, is_async, v2)
    return Batching(seqs, tokens, caching, chunked, is_async, batches, v2, reasons, warnings)


def _chunked_prefill(config: ModelConfig, args: EngineArgs) -> tuple[bool, str]:
    if args.enable_chunked_prefill is not None:
        return args.enable_chunked_prefill, "given"
    if config.is_encoder_decoder:
        return False, "encoder-decoder models do not support it (config/model.py:1793)"
    if is_encoder_only(config):
        return False, "attention in both directions does not support it (config/model.py:1760)"
    return True, "on where the model supports it (engine/arg_utils.py:2516)"


def _prefix_caching(config: ModelConfig, args: EngineArgs) -> tuple[bool, str]:
    if args.enable_prefix_caching is not None:
        return args.enable_prefix_caching, "given"
    if config.is_hybrid:
        return False, "off by default for hybrids in 0.26.0 (engine/arg_utils.py:2519)"
    if is_attention_free(config):
        return False, "attention-free models do not support it (config/model.py:1842)"
    if config.is_encoder_decoder or is_encoder_only(config):
        return False, "this kind of model does not support it (config/model.py:1848)"
    return True, "on where the model supports it (engine/arg_utils.py:2519)"


def _limits(
    config: ModelConfig, args: EngineArgs, card: Card, max_model_len: int, chunked: bool, reasons: dict[str, str]
) -> tuple[int, int]:
    """max_num_batched_tokens and max_num_seqs (engine/arg_utils.py:2622)."""
    is_large = card.total_bytes >= LARGE_CARD_BYTES and "a100" not in card.name.lower()
    size = "70 GiB or more and not an A100" if is_large else "below 70 GiB, or an A100"
    where = "api server" if args.usage == "server" else "LLM()"
    seqs = args.max_num_seqs if args.max_num_seqs is not None else DEFAULT_SEQS[is_large]
    if seqs < 1:
        raise EngineArgsError("max_num_seqs", f"max_num_seqs must be at least 1, got {seqs}")
    reasons["max_num_seqs"] = (
        "given" if args.max_num_seqs is not None else (f"default of a card with {size} (engine/arg_utils.py:2462)")
    )
    if args.max_num_batched_tokens is not None:
        tokens = args.max_num_batched_tokens
        if tokens < 1:
            raise EngineArgsError("max_num_batched_tokens", f"max_num_batched_tokens must be at least 1, got {tokens}")
        reasons["max_num_batched_tokens"] = "given"
    else:
        tokens = DEFAULT_TOKENS[args.usage, is_large]
        why = f"default of a card with {size}, {where} (engine/arg_utils.py:2462)"
        if not chunked and max_model_len > tokens:
            tokens, why = max_model_len, "without chunked prefill a whole prompt must fit (engine/arg_utils.py:2664)"
        if config.is_multimodal and is_mm_prefix_lm(config) and _mm_tokens(config) > tokens:
            tokens, why = _mm_tokens(config), "one video must fit a batch (engine/arg_utils.py:2674)"
        if seqs * max_model_len < tokens:
            tokens, why = seqs * max_model_len, "max_num_seqs × max_model_len is less (engine/arg_utils.py:2694)"
        reasons["max_num_batched_tokens"] = why
    if args.max_num_seqs is None and tokens < seqs:
        seqs = tokens
        reasons["max_num_seqs"] = "no more than max_num_batched_tokens (engine/arg_utils.py:2705)"
    return tokens, seqs


def _mm_tokens(config: ModelConfig) -> int:
    return GEMMA4_VIDEO_TOKENS if config.model_type in GEMMA4_TYPES else 0


def verify_limits(tokens: int, seqs: int, max_model_len: int, chunked: bool) -> tuple[str, ...]:
    """What vLLM warns of; what it refuses is raised in its words (config/scheduler.py:248 verify_max_model_len)."""
    if tokens < max_model_len and not chunked:
        raise EngineArgsError(
            "max_num_batched_tokens",
            f"max_num_batched_tokens ({tokens}) is smaller than max_model_len ({max_model_len}). This effectively "
            "limits the maximum sequence length to max_num_batched_tokens and makes vLLM reject longer sequences. "
            "Please increase max_num_batched_tokens or decrease max_model_len.",
        )
    if tokens < seqs:
        raise EngineArgsError(
            "max_num_batched_tokens",
            f"max_num_batched_tokens ({tokens}) must be greater than or equal to max_num_seqs ({seqs}).",
        )
    if tokens > seqs * max_model_len:
        return (
            f"max_num_batched_tokens ({tokens}) exceeds max_num_seqs * max_model_len ({seqs * max_model_len}). "
            "This may lead to unexpected behavior.",
        )
    return ()


def _verify_draft_slots(args: EngineArgs, tokens: int, seqs: int) -> None:
    """A draft model takes one more slot per request (config/vllm.py:1690 _set_max_num_scheduled_tokens)."""
    if args.speculative is None or args.speculative.method != "draft_model":
        return
    if tokens - seqs <= 0:
        raise EngineArgsError(
            "max_num_batched_tokens",
            f"max_num_scheduled_tokens is set to {tokens - seqs} based on the speculative decoding settings, which "
            "does not allow any tokens to be scheduled. Increase max_num_batched_tokens to accommodate the additional "
            "draft token slots, or decrease num_speculative_tokens or max_num_seqs.",
        )


def _async_scheduling(config: ModelConfig, args: EngineArgs) -> tuple[bool, str]:
    method = args.speculative.method if args.speculative else None
    if args.async_scheduling is not None:
        if args.async_scheduling and method is not None and method not in (*ASYNC_METHODS, "draft_model"):
            raise EngineArgsError(
                "async_scheduling",
                "Currently, async scheduling is only supported with EAGLE/MTP/Draft Model/NGram GPU/DSpark kind of "
                "speculative decoding",
            )
        return args.async_scheduling, "given"
    if config.is_pooling:
        return False, "off by default for pooling models (config/vllm.py:1060)"
    if method is not None and method not in ASYNC_METHODS:
        return False, f"not supported with {method}-based speculative decoding (config/vllm.py:1070)"
    return True, "on unless something blocks it (config/vllm.py:1105)"


def uses_v2_model_runner(config: ModelConfig, args: EngineArgs) -> bool:
    """Which GPU model runner starts (config/vllm.py:545 use_v2_model_runner)."""
    if config.is_pooling or has_state(config):
        return False
    if config.architecture not in V2_ARCHITECTURES and is_moe(config):
        return False
    if args.speculative is None:
        return True
    method = args.speculative.method
    return method in V2_METHODS and not (method == "eagle3" and args.pipeline_parallel_size > 1)


def _concurrent_batches(pipeline_parallel_size: int, is_async: bool, v2: bool) -> tuple[int, str]:
    """config/vllm.py:511 max_concurrent_batches."""
    if is_async and v2:
        return pipeline_parallel_size + 1, "asynchronous scheduling with the V2 runner: stages + 1 (config/vllm.py:517)"
    if is_async and pipeline_parallel_size <= 1:
        return 2, "asynchronous scheduling overlaps two batches (config/vllm.py:520)"
    return pipeline_parallel_size, "one batch per pipeline stage (config/vllm.py:522)"
