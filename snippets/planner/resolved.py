"""What is in force once vLLM has filled in every default: the settings, and what each rank caches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from snippets.planner.specs import Limits, Stage


@dataclass(frozen=True)
class Resolved:
    """Engine arguments with no None left, and the layer specs that follow from them."""

    max_model_len: int  # before auto-fit: the model's own when it was "auto"
    dtype: str  # of the weights and activations
    kv_cache_dtype: str  # as vLLM's cache_config.cache_dtype after the checkpoint was asked
    block_size: int  # cache_config.block_size: after the backend's choice and a hybrid's inflation
    attention_backend: str  # name of the backend assumed; the card and the model decide it
    max_num_seqs: int
    max_num_batched_tokens: int
    enable_prefix_caching: bool
    enable_chunked_prefill: bool
    async_scheduling: bool
    mamba_cache_mode: str
    quantization: str | None
    uses_cuda_graphs: bool
    limits: Limits
    stages: tuple[Stage, ...]  # one per pipeline stage; the drafter's layers stand in the last
    reasons: Mapping[str, str]  # setting → why it has this value, one sentence with the vLLM source line
    warnings: tuple[str, ...] = ()  # what vLLM warns of, or what it would silently do
