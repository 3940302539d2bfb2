"""What vLLM 0.26.0 leaves for the KV cache: a share of the card, minus the weights, minus everything else.

Steps and names as in v1/worker/gpu_worker.py `determine_available_memory` and v1/worker/utils.py `request_memory`.
What "everything else" takes (activations of the profile run, CUDA context, graphs) is measured by vLLM at start,
so here it is an input.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal

from snippets.units import GIB

GPU_MEMORY_UTILIZATION = 0.92  # config/cache.py:68
LARGE_CARD_BYTES = 70 * GIB  # engine/arg_utils.py `get_batch_defaults`

Usage = Literal["llm", "server"]


class BudgetError(ValueError):
    """A budget vLLM would refuse; `field` names the field at fault."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True)
class BatchDefaults:
    """What a step may hold when nothing is said."""

    max_num_batched_tokens: int  # also the size of the dummy batch that vLLM profiles its activations with
    max_num_seqs: int


LLM_DEFAULTS = BatchDefaults(8192, 256)  # the Python class LLM() on a card below 70 GiB, or any A100
SERVER_DEFAULTS = BatchDefaults(2048, 256)  # `vllm serve` on the same
LARGE_LLM_DEFAULTS = BatchDefaults(16384, 1024)
LARGE_SERVER_DEFAULTS = BatchDefaults(8192, 1024)
MAX_NUM_SEQS = SERVER_DEFAULTS.max_num_seqs


def batch_defaults(total_bytes: int, device_name: str, usage: Usage) -> BatchDefaults:
    """The defaults for a CUDA card of `total_bytes` and that name, before max_model_len may lower them."""
    large = total_bytes >= LARGE_CARD_BYTES and "a100" not in device_name.lower()
    if usage == "llm":
        return LARGE_LLM_DEFAULTS if large else LLM_DEFAULTS
    return LARGE_SERVER_DEFAULTS if large else SERVER_DEFAULTS


def requested_bytes(total_bytes: int, gpu_memory_utilization: float = GPU_MEMORY_UTILIZATION) -> int:
    """Bytes vLLM claims of the memory it sees. Other programs on the card must fit into the rest."""
    if not 0 < gpu_memory_utilization <= 1:
        raise BudgetError(
            "gpu_memory_utilization",
            f"gpu_memory_utilization is {gpu_memory_utilization!r}; it must be above 0 and at most 1",
        )
    return ceil(total_bytes * gpu_memory_utilization)


def available_kv_bytes(requested: int, weights: int, other: int) -> int:
    """Bytes left for the KV cache; zero or less means that vLLM does not start."""
    for field, value in (("weights", weights), ("other", other)):
        if value < 0:
            raise BudgetError(field, f"{field} is {value} bytes; memory in use cannot be negative")
    return requested - weights - other


def logits_bytes(max_num_seqs: int, vocab_size: int) -> int:
    """FP32 logits of the profile run's sampler, one row per sequence: a part of "everything else"."""
    fp32_bytes = 4
    return max_num_seqs * vocab_size * fp32_bytes
