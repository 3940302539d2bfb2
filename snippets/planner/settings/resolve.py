"""Engine arguments with every default filled in, and the layer specs that follow: the order is vLLM's."""

from __future__ import annotations

from dataclasses import replace

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import AttentionCache, ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.resolved import Resolved
from snippets.planner.settings.attention.backends import INDEXER_BLOCK_SIZE, Backend
from snippets.planner.settings.attention.of_model import Backends, backends_of, canonical_kv_cache_dtype
from snippets.planner.settings.batching import Batching, resolve_batching
from snippets.planner.settings.card import Card, card_of
from snippets.planner.settings.checkpoint.architectures import verify_architecture
from snippets.planner.settings.checkpoint.quantization import resolve_quantization, verify_dtypes
from snippets.planner.settings.drafter import drafter_config, verify_speculative
from snippets.planner.settings.dtypes import resolve_dtype, resolve_kv_cache_dtype
from snippets.planner.settings.kind import (
    MAMBA_PREFIX_CACHING,
    has_chunked_attention,
    has_state,
    is_mm_prefix_lm,
)
from snippets.planner.settings.layers import SpecMaker, in_order, partition, runs, stages_of
from snippets.planner.settings.lengths import resolve_max_model_len
from snippets.planner.settings.pages import deepseek_v4
from snippets.planner.settings.pages.block_size import Blocks, CacheSettings, resolve_blocks
from snippets.planner.settings.pages.turboquant import skipped_layers
from snippets.planner.settings.parallel.layout import layout_errors
from snippets.planner.specs import LayerRun, Limits

MAMBA_CACHE_MODES = ("all", "align", "none")
USES_HIDDEN_STATES = ("eagle", "eagle3", "mtp", "dflash", "dspark")  # config/speculative.py use_eagle
INDEXER = Backend(
    "DEEPSEEK_V32_INDEXER", block_sizes=(INDEXER_BLOCK_SIZE,), is_mla=True, is_sparse=True
)  # the indexer's cache is registered before the layer's own


def resolve(config: ModelConfig, args: EngineArgs, gpu: Gpu) -> Resolved:
    """What vLLM 0.26.0 decides between the command line and the KV cache specs.

    Raises EngineArgsError, naming the argument, for what vLLM would refuse: its own words where it has any.
    """
    card = card_of(gpu)
    verify_architecture(config)
    reasons: dict[str, str] = {}
    max_model_len, reasons["max_model_len"] = resolve_max_model_len(config, args)
    dtype, reasons["dtype"] = resolve_dtype(config, args, card)
    quantization, reasons["quantization"] = resolve_quantization(config, args, card)
    kv_cache_dtype, reasons["kv_cache_dtype"] = resolve_kv_cache_dtype(config, args)
    if kv_cache_dtype == "nvfp4" and config.use_mla:
        raise EngineArgsError(
            "kv_cache_dtype",
            "nvfp4 KV cache is not supported with MLA (Multi-head Latent Attention) backends. Please use a different "
            "--kv-cache-dtype (e.g., 'fp8' or 'auto') for MLA models such as DeepSeek.",
        )
    verify_dtypes(config, quantization, dtype, kv_cache_dtype)
    verify_speculative(config, args)
    batching = resolve_batching(config, args, card, max_model_len)
    reasons |= batching.reasons
    mode, reasons["mamba_cache_mode"] = _mamba_cache_mode(config, args, batching, max_model_len)
    for error in layout_errors(config, args):
        raise error
    skipped = skipped_layers(config, kv_cache_dtype)
    backends = backends_of(config, args, card, dtype, kv_cache_dtype, skipped)
    canonical, stored = _stored(config, card, kv_cache_dtype, backends)
    if canonical != kv_cache_dtype:
        reasons["kv_cache_dtype"] = f"{_any_name(backends)} stores {canonical} (attention/mla_attention.py:329)"
    cache = CacheSettings(dtype, canonical, mode, _spec_tokens(args), bool(skipped), stored)
    first = _first_backend(config, backends, skipped)
    blocks = resolve_blocks(config, args, cache, first, max_model_len)
    reasons["block_size"] = blocks.reason
    reasons["attention_backend"] = _backend_reason(card, args, backends)
    _verify_align(config, blocks, mode, batching)
    _verify_draft_length(config, args, batching, max_model_len)
    maker = SpecMaker(config, args, cache, blocks, backends)
    drafter = _drafter(config, args, card, cache, blocks, skipped)
    disabled, reasons["disable_hybrid_kv_cache_manager"] = _hybrid_manager_off(config, args)
    return Resolved(
        max_model_len=max_model_len,
        dtype=dtype,
        kv_cache_dtype=canonical,
        block_size=blocks.block_size,
        attention_backend=first.name if first is not None and first is not INDEXER else _any_name(backends),
        max_num_seqs=batching.max_num_seqs,
        max_num_batched_tokens=batching.max_num_batched_tokens,
        enable_prefix_caching=batching.enable_prefix_caching,
        enable_chunked_prefill=batching.enable_chunked_prefill,
        async_scheduling=batching.async_scheduling,
        mamba_cache_mode=mode,
        quantization=quantization,
        uses_cuda_graphs=not args.enforce_eager and not (card.is_rocm and config.is_encoder_decoder),
        limits=Limits(
            max_model_len=max_model_len,
            auto_fit=args.max_model_len == "auto",
            max_in_flight_tokens=batching.max_concurrent_batches * batching.max_num_batched_tokens,
            max_num_encoder_input_tokens=batching.max_num_batched_tokens,
            decode_context_parallel_size=args.decode_context_parallel_size,
            mamba_cache_mode=mode,
            disable_hybrid_kv_cache_manager=disabled,
            num_gpu_blocks_override=args.num_gpu_blocks_override,
        ),
        stages=stages_of(maker, skipped, drafter),
        reasons=reasons,
        warnings=(*batching.warnings, *_warnings(config, args, dtype)),
    )


def _warnings(config: ModelConfig, args: EngineArgs, dtype: str) -> list[str]:
    """What vLLM would do without a word, or say in a warning."""
    found = []
    if config.dtype != dtype and "float32" not in (config.dtype, dtype):
        found.append(f"Casting torch.{config.dtype} to torch.{dtype}.")  # config/model.py:2141
    if args.kv_cache_dtype != "auto" and config.model_type.startswith("mimo_v2"):
        found.append("vLLM 0.26.0 does not pass kv_cache_dtype on to this model's layers: they stay unquantized.")
    if args.speculative is not None and args.speculative.method == "suffix":
        found.append("Suffix decoding needs the package arctic-inference beside vLLM.")
    return found


def _stored(config: ModelConfig, card: Card, kv_cache_dtype: str, backends: Backends) -> tuple[str, str]:
    """The cache dtype under the name that the backend gives it, and the storage dtype where the model decides it."""
    if deepseek_v4.is_deepseek_v4(config):
        return deepseek_v4.cache_dtypes(next(iter(backends.values())), card, kv_cache_dtype)
    return canonical_kv_cache_dtype(kv_cache_dtype, backends.values()), ""


def _spec_tokens(args: EngineArgs) -> int:
    return args.speculative.num_speculative_tokens if args.speculative is not None else 0


def _mamba_cache_mode(config: ModelConfig, args: EngineArgs, batching: Batching, max_model_len: int) -> tuple[str, str]:
    """mamba_cache_mode and the rule for mamba_block_size (model_executor/models/config.py:558 MambaModelConfig)."""
    asked = args.mamba_cache_mode or "none"
    if asked not in MAMBA_CACHE_MODES:
        raise EngineArgsError("mamba_cache_mode", f"mamba_cache_mode must be one of {', '.join(MAMBA_CACHE_MODES)}")
    if args.mamba_block_size not in (None, max_model_len) and not batching.enable_prefix_caching:
        raise EngineArgsError("mamba_block_size", "--mamba-block-size can only be set with --enable-prefix-caching")
    if not has_state(config):
        return asked, "no recurrent layer reads it"
    if not batching.enable_prefix_caching:
        return "none", "one state per request without prefix caching (models/config.py:612)"
    keeps_all = config.architecture in MAMBA_PREFIX_CACHING
    if asked == "align" or not keeps_all:
        if not batching.enable_chunked_prefill:
            raise EngineArgsError("enable_chunked_prefill", "Chunked prefill is required for mamba cache mode 'align'.")
        why = "given" if asked == "align" else "with prefix caching, for a model without mode 'all'"
        return "align", f"{why} (models/config.py:575)"
    return "all", "with prefix caching, for a model that supports it (models/config.py:575)"


def _first_backend(config: ModelConfig, backends: Backends, skipped: frozenset[int]) -> Backend | None:
    """The backend of the first layer that is not recurrent: it sets the block size (platforms/interface.py:597)."""
    for i, layer in enumerate(config.layers):
        for cache in in_order(layer):
            if isinstance(cache, AttentionCache) and cache.kind != "encoder_only":
                is_v32 = cache.kind == "indexer" and (cache, False) not in backends
                return INDEXER if is_v32 else backends[cache, i in skipped]
    return None


def _any_name(backends: Backends) -> str:
    return next((backend.name for backend in backends.values()), "none")


def _backend_reason(card: Card, args: EngineArgs, backends: Backends) -> str:
    names = list(dict.fromkeys(backend.name for backend in backends.values()))
    if not names:
        return "no attention layer keeps a cache"
    which = " and ".join(names)
    if args.attention_backend is not None:
        return f"given ({which})"
    if card.is_assumed:
        return f"{which}: assumed, as on Ampere and later; the card's compute capability is not known"
    generation = "ROCm" if card.is_rocm else f"compute capability {card.capability[0]}.{card.capability[1]}"
    return f"{which}: the first that serves these layers on {generation} (platforms/cuda.py:80)"


def _verify_align(config: ModelConfig, blocks: Blocks, mode: str, batching: Batching) -> None:
    """config/vllm.py:2265 validate_block_size."""
    if mode != "align":
        return
    if blocks.block_size > batching.max_num_batched_tokens:
        raise EngineArgsError(
            "max_num_batched_tokens",
            f"In Mamba cache align mode, block_size ({blocks.block_size}) must be <= max_num_batched_tokens "
            f"({batching.max_num_batched_tokens}).",
        )
    if config.is_encoder_decoder or (config.is_multimodal and is_mm_prefix_lm(config)):
        raise EngineArgsError(
            "mamba_cache_mode",
            "Chunked MM input is required because we need the flexibility to schedule a multiple of block_size tokens "
            "even if they are in the middle of a mm input",
        )


def _verify_draft_length(config: ModelConfig, args: EngineArgs, batching: Batching, max_model_len: int) -> None:
    """A draft model is checked against the target's mamba_block_size, max_model_len without prefix caching.

    config/vllm.py:2292 validate_mamba_block_size, again for the drafter's config (v1/spec_decode/draft_model.py:76).
    """
    draft = args.speculative.draft if args.speculative and args.speculative.method == "draft_model" else None
    if draft is None or not has_state(config) or batching.enable_prefix_caching:
        return
    if min(draft.max_model_len, max_model_len) != max_model_len:
        raise EngineArgsError(
            "max_model_len",
            "--mamba-block-size can only be set with --enable-prefix-caching. It was not set here: vLLM took the "
            f"target's max_model_len {max_model_len} for it, and the drafter's is {draft.max_model_len}. Give a "
            "--max-model-len that both have, or --enable-prefix-caching.",
        )


def _drafter(
    config: ModelConfig, args: EngineArgs, card: Card, cache: CacheSettings, blocks: Blocks, skipped: frozenset[int]
) -> tuple[LayerRun, ...]:
    """The drafter's layers, with the target's block size, cache dtype and window; it is split as the target is."""
    draft = drafter_config(config, args)
    if draft is None:
        return ()
    for error in layout_errors(draft, replace(args, pipeline_parallel_size=1, decode_context_parallel_size=1)):
        raise EngineArgsError("speculative", f"drafter: {error}")
    is_model = args.speculative is not None and args.speculative.method == "draft_model"
    if not is_model:  # numbered after the target's layers, so that none is among the skipped
        skipped = frozenset()
    own = replace(args, attention_backend=None)  # a drafter never inherits it (llm_base_proposer.py:1292)
    backends = backends_of(draft, own, card, cache.dtype, cache.kv_cache_dtype, skipped)
    maker = SpecMaker(draft, own, cache, blocks, backends)
    numbered = list(enumerate(draft.layers))
    if is_model:  # the last stage builds its share
        numbered = numbered[-partition(len(numbered), args.pipeline_parallel_size)[-1] :]
    specs = (maker.spec(item, i in skipped) for i, layer in numbered for item in in_order(layer))
    return tuple(runs(spec for spec in specs if spec is not None))


def _hybrid_manager_off(config: ModelConfig, args: EngineArgs) -> tuple[bool, str]:
    """config/vllm.py:1571. Chunked attention alone does not turn it off: the environment allows it by default."""
    if args.disable_hybrid_kv_cache_manager:
        return True, "given"
    method = args.speculative.method if args.speculative is not None else ""
    if has_chunked_attention(config) and method in USES_HIDDEN_STATES:
        return True, f"off with chunked local attention and {method} (config/vllm.py:1582)"
    return False, "on (config/vllm.py:1637)"
