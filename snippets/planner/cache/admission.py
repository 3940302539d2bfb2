"""Whether one request of full length fits, and how long one may be (v1/core/kv_cache_utils.py), in vLLM's words."""

from __future__ import annotations

from collections.abc import Callable

from snippets.planner.specs import CacheError
from snippets.units import GIB

NO_MEMORY = (
    "No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine "
    "(this flag also controls CPU memory reservation on the CPU backend, despite its name). See "
    "https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for more details."
)
CANNOT_AUTO_FIT = (
    "Cannot auto-fit max_model_len: not enough GPU memory available to serve even a single token. "
    "Try increasing `gpu_memory_utilization`."
)

NeededBytes = Callable[[int], int]  # of a request of so many tokens


def format_gib(num_bytes: int) -> str:
    """As vLLM prints it: two decimals at most, "10.0" (utils/mem_utils.py)."""
    return f"{round(num_bytes / GIB, 2)}"


def estimate_max_model_len(needed: NeededBytes, max_model_len: int, available_bytes: int) -> int:
    """The longest request that fits; 0 when one token does not (_estimate_max_model_len_from_groups)."""
    if needed(1) > available_bytes:
        return 0
    left, right, result = 1, max_model_len, 1
    while left <= right:
        mid = (left + right) // 2
        if needed(mid) <= available_bytes:
            result, left = mid, mid + 1
        else:
            right = mid - 1
    return result


def check_enough(needed: NeededBytes, max_model_len: int, available_bytes: int) -> None:
    """Raises CacheError as vLLM raises ValueError (_check_enough_kv_cache_memory)."""
    if available_bytes <= 0:
        raise CacheError(NO_MEMORY, available_bytes=available_bytes)
    needed_bytes = needed(max_model_len)
    if needed_bytes <= available_bytes:
        return
    longest = estimate_max_model_len(needed, max_model_len, available_bytes)
    estimate = f"Based on the available memory, the estimated maximum model length is {longest}. " if longest else ""
    raise CacheError(
        f"To serve at least one request with the model's max seq len ({max_model_len}), ({format_gib(needed_bytes)} "
        f"GiB KV cache is needed, which is larger than the available KV cache memory ({format_gib(available_bytes)} "
        f"GiB). {estimate}Try increasing `gpu_memory_utilization` (which also controls CPU memory on the CPU backend) "
        "or decreasing `max_model_len` when initializing the engine. See "
        "https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for more details.",
        needed_bytes,
        available_bytes,
        longest,
    )


def auto_fit_line(original: int, fitted: int, limiting_bytes: int) -> str:
    """What `--max-model-len auto` logs (_auto_fit_max_model_len)."""
    if fitted >= original:
        return f"Auto-fit max_model_len: full model context length {original} fits in available GPU memory"
    return (
        f"Auto-fit max_model_len: reduced from {original} to {fitted} to fit in available GPU memory "
        f"({format_gib(limiting_bytes)} GiB available for KV cache)"
    )
