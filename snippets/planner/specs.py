"""KV cache specs: what one layer keeps on one rank, as vLLM's v1/kv_cache_interface.py describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["full", "mla", "sliding", "chunked", "mamba", "cross", "encoder_only", "sliding_mla", "turboquant"]


@dataclass(frozen=True)
class LayerSpec:
    """One layer's cache on one rank. Field names are vLLM's; which ones count depends on `kind`."""

    kind: Kind
    block_size: int  # tokens
    num_kv_heads: int = 1  # on this rank
    head_size: int = 0  # elements
    head_size_v: int = 0  # elements; 0 stands for head_size
    dtype: str = "bfloat16"  # storage dtype, torch's name: "bfloat16", "float16", "uint8", …
    cache_dtype: str | None = "auto"  # --kv-cache-dtype of this layer: decides packed layouts and per-token scales;
    # None where vLLM passes none on (indexer and compressor caches): such MLA layers do not merge with "auto" ones
    sliding_window: int = 0  # tokens; sliding kinds. 0 is none
    attention_chunk_size: int = 0  # tokens; chunked
    shapes: tuple[tuple[int, ...], ...] = ()  # mamba: state shapes on this rank
    dtypes: tuple[str, ...] = ()  # mamba: one per shape
    page_size_padded: int | None = None  # bytes
    indexes_kv_by_block_stride: bool = False  # the backend can read padded pages
    num_speculative_blocks: int = 0  # mamba
    tq_slot_size: int = 0  # turboquant: bytes per token and head
    compress_ratio: int = 1  # DeepSeek-V4
    alignment: int | None = None  # DeepSeek-V4: pages rounded up to it
    model_version: str | None = None  # "deepseek_v4"
    mamba_cache_mode: str = "none"
    mamba_type: str = ""  # distinguishes state kinds that vLLM keeps in different groups


@dataclass(frozen=True)
class LayerRun:
    """`count` layers in a row, in vLLM's layer order, that share one spec."""

    count: int
    spec: LayerSpec
    name: str = ""  # of its first layer, for vLLM's messages; "" counts: "layers.7"


Stage = tuple[LayerRun, ...]  # what one pipeline stage holds on each of its tensor-parallel ranks


@dataclass(frozen=True)
class Limits:
    """What the planning reads beside the specs."""

    max_model_len: int
    auto_fit: bool = False  # max_model_len was "auto" or -1: shrink it to what fits
    max_in_flight_tokens: int = 16384  # max_concurrent_batches * max_num_batched_tokens
    max_num_encoder_input_tokens: int = 0
    decode_context_parallel_size: int = 1
    mamba_cache_mode: str = "none"
    disable_hybrid_kv_cache_manager: bool = False
    num_gpu_blocks_override: int | None = None


@dataclass(frozen=True)
class CacheGroup:
    """Layers that share one block table (vLLM's KVCacheGroupSpec)."""

    num_layers: int  # over all stages
    kind: str  # vLLM's class name: "FullAttentionSpec", "SlidingWindowSpec", …
    block_size: int  # tokens
    page_size_bytes: int  # one block in one layer; of a UniformTypeKVCacheSpecs in all layers of the first stage
    max_bytes_per_request: int  # max_memory_usage_bytes of the group's spec: one layer, or as above
    blocks_per_request: int  # block ids a request of max_model_len takes in this group
    spec: LayerSpec  # the merged spec, after block sizes and pages were unified; the first of them where they differ
    layers_per_stage: tuple[int, ...] = ()
    page_size_per_stage: tuple[int, ...] = ()  # bytes; differs between stages for UniformTypeKVCacheSpecs only
    members: tuple[LayerRun, ...] = ()  # UniformTypeKVCacheSpecs: the specs in it, with their layers over all stages


@dataclass(frozen=True)
class CachePlan:
    """What vLLM decides about the cache: the same for every rank."""

    num_gpu_blocks: int
    groups: tuple[CacheGroup, ...]
    bytes_per_block: int  # all layers of the fullest stage; padding layers included
    blocks_per_request: int  # of max_model_len; max_concurrency is num_gpu_blocks / this
    max_concurrency: float  # 0.0 where nothing is cached (no groups): then the cache limits nothing
    kv_cache_size_tokens: int  # as the log prints it
    max_model_len: int  # after auto-fit
    log_lines: tuple[str, ...]
    warnings: tuple[str, ...] = ()  # log lines of level WARNING ("Add %d padding layers…")
    needed_bytes: int = 0  # reserved to admit one request of max_model_len, on the stage that needs most

    def requests_at_once(self, max_num_seqs: int) -> int:
        """Of max_model_len: the smaller of what memory holds and what the scheduler takes into a step."""
        return min(int(self.max_concurrency), max_num_seqs)


@dataclass(frozen=True)
class CacheLayout:
    """What of a CachePlan no memory decides; the fields are the same. Known also where there is no plan."""

    groups: tuple[CacheGroup, ...]
    bytes_per_block: int
    blocks_per_request: int
    max_model_len: int  # after auto-fit where there is a plan, else the longest that was asked for
    needed_bytes: int

    @classmethod
    def of(cls, plan: CachePlan) -> CacheLayout:
        """A plan's layout."""
        return cls(plan.groups, plan.bytes_per_block, plan.blocks_per_request, plan.max_model_len, plan.needed_bytes)


class CacheError(ValueError):
    """vLLM would not start. Where it says why (ValueError, NotImplementedError) the message is its own, word for word.

    Where it only fails an assertion the message is ours and `field` names the field at fault.
    """

    def __init__(
        self, message: str, needed_bytes: int = 0, available_bytes: int = 0, estimated_len: int = 0, field: str = ""
    ) -> None:
        super().__init__(message)
        self.needed_bytes = needed_bytes  # 0 when no memory is left at all
        self.available_bytes = available_bytes
        self.estimated_max_model_len = estimated_len  # 0 when not even one token fits
        self.field = field  # "" when memory is at fault
