"""Block sizes in force: the backend's preference, a hybrid's inflation, the padding of state pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import lcm

from snippets.model_config.model_config import ModelConfig, StateCache
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings.attention.backends import Backend
from snippets.planner.settings.dtypes import storage_dtype
from snippets.planner.settings.pages.mamba_state import BYTES, NO_SPEC_IN_CONV, state_bytes, state_dtypes, state_shapes
from snippets.planner.settings.pages.turboquant import slot_bytes

DEFAULT_BLOCK_SIZE = 16  # config/cache.py:47
CHUNK_SIZES = {"bamba": 256, "falcon_h1": 256, "granitemoehybrid": 256, "mamba2": 256, "nemotron_h": 128, "zamba2": 256}
DEFAULT_CHUNK_SIZE = 2048  # config/model.py:1440 get_mamba_chunk_size: Mamba-1 has no chunks


@dataclass(frozen=True)
class Blocks:
    """What cache_config holds once the model is loaded (platforms/interface.py:608 update_block_size_for_backend)."""

    block_size: int  # tokens
    reason: str
    mamba_block_size: int | None = None  # tokens
    mamba_page_size_padded: int | None = None  # bytes
    skip_page_size_padded: int | None = None  # bytes: windows among layers left out of quantization


@dataclass(frozen=True)
class CacheSettings:
    """The settings that the block size follows from."""

    dtype: str
    kv_cache_dtype: str
    mamba_cache_mode: str
    num_speculative_tokens: int
    skips_layers: bool  # some attention layers stay unquantized (TurboQuant's first and last two)
    stored_dtype: str = ""  # torch dtype of the cache where the model decides it (DeepSeek-V4)


def resolve_blocks(
    config: ModelConfig, args: EngineArgs, cache: CacheSettings, backend: Backend | None, max_model_len: int
) -> Blocks:
    """Block sizes for a model whose first attention layer uses `backend` (None: no attention at all)."""
    given = args.block_size
    if given is not None and given < 1:
        raise EngineArgsError("block_size", f"block_size must be at least 1, got {given}")
    first = given or DEFAULT_BLOCK_SIZE
    state_block = args.mamba_block_size or (max_model_len if cache.mamba_cache_mode == "none" else first)
    blocks = Blocks(first, "given" if given else "the default (config/cache.py:47)", state_block)
    if backend is None:
        return blocks
    if given is None:
        preferred = backend.default_block_size()
        blocks = replace(
            blocks,
            block_size=preferred,
            reason=f"{backend.name} takes {preferred} (platforms/interface.py:629, its kernel block sizes "
            f"{'multiples of ' if backend.any_multiple else ''}{', '.join(map(str, backend.block_sizes))})",
        )
    if config.is_hybrid:
        blocks = _align_hybrid(config, args, cache, backend, blocks)
    if cache.skips_layers:
        blocks = _align_skipped(config, args, cache, backend, blocks)
    return blocks


def _align_hybrid(
    config: ModelConfig, args: EngineArgs, cache: CacheSettings, backend: Backend, blocks: Blocks
) -> Blocks:
    """Attention pages at least as large as state pages, then equal (platforms/interface.py:765)."""
    state = first_state(config)
    ignored = config.architecture in NO_SPEC_IN_CONV
    page = state_bytes(
        state_shapes(state, args.tensor_parallel_size, 0 if ignored else cache.num_speculative_tokens),
        state_dtypes(config, args, state, cache.dtype),
    )
    if page == 0:
        return blocks
    per_token = attention_bytes_per_token(config, args, cache)
    alignment = max(backend.smallest_block, blocks.block_size)
    if cache.mamba_cache_mode == "all":
        chunk = lcm(args.mamba_block_size or _chunk_size(config), alignment)
        step, needed = chunk, chunk * _cdiv(_cdiv(page, per_token), chunk)
        blocks = replace(blocks, mamba_block_size=needed)
    else:
        step, needed = alignment, alignment * _cdiv(page, alignment * per_token)
    if blocks.block_size < needed:
        least = _cdiv(page, per_token)
        rounded = f", rounded up to a multiple of {step}: {needed:,}" if needed > least else ""
        blocks = replace(
            blocks,
            block_size=needed,
            reason=f"raised so that a page of {per_token:,} bytes a token covers a state of {page:,} bytes: "
            f"{page:,} / {per_token:,} = {least:,} tokens{rounded} "
            "(platforms/interface.py:765 _align_hybrid_block_size)",
        )
    if cache.mamba_cache_mode == "align":
        blocks = replace(blocks, mamba_block_size=blocks.block_size)
    padded = blocks.block_size * per_token
    return blocks if padded == page else replace(blocks, mamba_page_size_padded=padded)


def _align_skipped(
    config: ModelConfig, args: EngineArgs, cache: CacheSettings, backend: Backend, blocks: Blocks
) -> Blocks:
    """Quantized pages at least as large as unquantized ones (platforms/interface.py:650)."""
    primary = _full_bytes_per_token(config, args, cache.dtype, cache.kv_cache_dtype)
    unquantized = _full_bytes_per_token(config, args, cache.dtype, "auto")
    if primary == unquantized:
        return blocks
    alignment = max(backend.smallest_block, blocks.block_size)
    required = max(unquantized * backend.smallest_block, blocks.mamba_page_size_padded or 0)
    needed = alignment * _cdiv(required, alignment * primary)
    if blocks.block_size < needed:
        blocks = replace(
            blocks,
            block_size=needed,
            reason="raised so that a quantized page covers an unquantized one (platforms/interface.py:650)",
        )
    shared = blocks.block_size * primary
    padded = shared if blocks.mamba_page_size_padded is not None else None
    return replace(blocks, skip_page_size_padded=shared, mamba_page_size_padded=padded)


def attention_bytes_per_token(config: ModelConfig, args: EngineArgs, cache: CacheSettings) -> int:
    """Bytes of one token in one attention layer of a hybrid, as the alignment counts them."""
    if cache.kv_cache_dtype.startswith("turboquant_"):
        heads = kv_heads_per_rank(config.num_kv_heads, args.tensor_parallel_size)
        packed = heads * slot_bytes(cache.kv_cache_dtype, config.head_size)
        return lcm(packed, _full_bytes_per_token(config, args, cache.dtype, "auto")) if cache.skips_layers else packed
    if config.use_mla:
        stored = storage_dtype(cache.kv_cache_dtype, cache.dtype)
        width = config.head_size // 2 if cache.kv_cache_dtype == "int4_per_token_head" else config.head_size
        return width * BYTES[stored] + (8 if cache.kv_cache_dtype.endswith("per_token_head") else 0)
    return _full_bytes_per_token(config, args, cache.dtype, cache.kv_cache_dtype)


def _full_bytes_per_token(config: ModelConfig, args: EngineArgs, dtype: str, kv_cache_dtype: str) -> int:
    """FullAttentionSpec(block_size=1).page_size_bytes (v1/kv_cache_interface.py:328)."""
    heads = kv_heads_per_rank(config.num_kv_heads, args.tensor_parallel_size)
    width = config.head_size
    if kv_cache_dtype == "nvfp4":
        width = width // 2 + width // 16
    elif kv_cache_dtype == "int4_per_token_head":
        width //= 2
    scales = 8 if kv_cache_dtype.endswith("per_token_head") else 0
    return heads * (2 * width * BYTES[storage_dtype(kv_cache_dtype, dtype)] + scales)


def kv_heads_per_rank(total: int, tensor_parallel_size: int) -> int:
    """At least one; replicated where there are fewer than ranks (config/model.py:1339 get_num_kv_heads)."""
    return max(1, total // tensor_parallel_size)


def first_state(config: ModelConfig) -> StateCache:
    """The state of the first recurrent layer, or the one that none keeps; a model has one kind."""
    if config.idle_state is not None:
        return config.idle_state
    return next(cache for layer in config.layers for cache in layer if isinstance(cache, StateCache))


def _chunk_size(config: ModelConfig) -> int:
    for name in ("mamba_chunk_size", "chunk_size"):
        value = config.text_fields.get(name)
        if isinstance(value, int):
            return value
    return CHUNK_SIZES.get(config.model_type, DEFAULT_CHUNK_SIZE)


def _cdiv(a: int, b: int) -> int:
    return -(-a // b)
