"""What the user asks of vLLM: the arguments that change memory, under their own names, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from snippets.model_config.model_config import ModelConfig
from snippets.planner.mtp import method_in_force

Usage = Literal["llm", "server"]


class EngineArgsError(ValueError):
    """A setting vLLM would refuse; `field` is the argument's name with underscores.

    `from_vllm` is False where it may well start, and what it would do is not planned here.
    """

    def __init__(self, field: str, message: str, from_vllm: bool = True) -> None:
        super().__init__(message)
        self.field = field
        self.from_vllm = from_vllm


@dataclass(frozen=True)
class SpeculativeConfig:
    """The part of --speculative-config that changes memory; `method` becomes the one vLLM goes on with."""

    method: str  # "mtp", "eagle", "eagle3", "draft_model", "ngram", "medusa", …; an unsupported one is refused by name
    num_speculative_tokens: int
    draft: ModelConfig | None = None  # the drafter's config, where it has one

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", method_in_force(self.method, self.draft))


@dataclass(frozen=True)
class EngineArgs:
    """Arguments as given; None where vLLM decides (engine/arg_utils.py EngineArgs)."""

    max_model_len: int | Literal["auto"] | None = None
    gpu_memory_utilization: float = 0.92
    kv_cache_memory_bytes: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    block_size: int | None = None
    kv_cache_dtype: str = "auto"
    dtype: str = "auto"
    quantization: str | None = None
    tensor_parallel_size: int = 1
    pipeline_parallel_size: int = 1
    data_parallel_size: int = 1
    enable_expert_parallel: bool = False
    decode_context_parallel_size: int = 1
    speculative: SpeculativeConfig | None = None
    enable_prefix_caching: bool | None = None
    enable_chunked_prefill: bool | None = None
    disable_hybrid_kv_cache_manager: bool = False
    num_gpu_blocks_override: int | None = None
    enforce_eager: bool = False
    async_scheduling: bool | None = None
    mamba_cache_mode: str | None = None
    mamba_block_size: int | None = None
    mamba_cache_dtype: str = "auto"
    mamba_ssm_cache_dtype: str = "auto"
    attention_backend: str | None = None
    usage: Usage = "server"
