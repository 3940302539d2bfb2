"""The form of one opened number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Explained:
    """One number, opened."""

    name: str  # its JSON key: "num_gpu_blocks"
    value: str  # as shown, with unit
    formula: str  # in vLLM's names: "available_memory // page_size // group_size"
    numbers: str  # the same with the numbers in it
    source: str  # "vllm/v1/core/kv_cache_utils.py:1005 get_num_blocks"
