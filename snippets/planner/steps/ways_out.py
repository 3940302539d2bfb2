"""What to change when vLLM refuses: each proposal was planned again and does start."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.estimate import Budget
from snippets.planner.resolved import Resolved
from snippets.planner.specs import CacheError
from snippets.planner.weights.errors import WeightsError

Attempt = Callable[[EngineArgs], list[Exception]]  # what fails with these arguments
Proposals = Iterator[tuple[EngineArgs, str]]
FLAGS = {"speculative": "speculative_config"}
MAX_CARDS = 16
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16)
CACHE_DTYPES = ("auto", "fp8", "bfloat16")  # what people use
FEW_TOKENS = 2048  # a server rarely runs with less


def for_memory(
    error: CacheError, needed_bytes: int, args: EngineArgs, resolved: Resolved, budget: Budget | None, attempt: Attempt
) -> list[str]:
    """Ways to let one request in, cheapest first. `needed_bytes` for it on one rank; 0 where that is not known.

    `budget` is None where the available memory was given.
    """
    proposals = [
        *_shorter(error, args),
        *_more_blocks(error, args),
        *_more_memory(needed_bytes, args, budget),
        *_smaller_cache(error, args, resolved, attempt),
        *_fewer_tokens(args, resolved),
    ]
    found = [text for changed, text in proposals if not attempt(changed)]
    return found + (_more_cards(args, attempt) if budget else [])


def _shorter(error: CacheError, args: EngineArgs) -> Proposals:
    length = error.estimated_max_model_len
    if length > 0:
        yield replace(args, max_model_len=length), f"--max-model-len {length}"


def _more_blocks(error: CacheError, args: EngineArgs) -> Proposals:
    override = args.num_gpu_blocks_override
    if override is None:
        return
    yield replace(args, num_gpu_blocks_override=None), "leave --num-gpu-blocks-override out"
    if error.needed_bytes and error.available_bytes >= override > 0:
        blocks = -(-error.needed_bytes // (error.available_bytes // override))
        yield replace(args, num_gpu_blocks_override=blocks), f"--num-gpu-blocks-override {blocks}"


def _more_memory(needed: int, args: EngineArgs, budget: Budget | None) -> Proposals:
    if args.kv_cache_memory_bytes and needed:
        yield replace(args, kv_cache_memory_bytes=needed), f"--kv-cache-memory-bytes {needed}"
    elif budget is not None and needed:
        beside = budget.requested_bytes - budget.available.expected  # weights, activations, graphs, CUDA context
        share = math.ceil(100 * (needed + beside) / budget.total_bytes) / 100
        if args.gpu_memory_utilization < share <= 1:
            yield replace(args, gpu_memory_utilization=share), f"--gpu-memory-utilization {share:.2f}"


def _smaller_cache(error: CacheError, args: EngineArgs, resolved: Resolved, attempt: Attempt) -> Proposals:
    """FP8 keys and values; where they are still too many, with the length that fits."""
    if resolved.kv_cache_dtype not in {"auto", "bfloat16", "float16"}:
        return
    fp8 = replace(args, kv_cache_dtype="fp8")
    lengths = [failure.estimated_max_model_len for failure in attempt(fp8) if isinstance(failure, CacheError)]
    if lengths and lengths[0] > error.estimated_max_model_len:
        yield replace(fp8, max_model_len=lengths[0]), f"--kv-cache-dtype fp8 --max-model-len {lengths[0]}"
    elif not lengths:
        yield fp8, "--kv-cache-dtype fp8"


def _fewer_tokens(args: EngineArgs, resolved: Resolved) -> Proposals:
    if resolved.max_num_batched_tokens > FEW_TOKENS:
        yield replace(args, max_num_batched_tokens=FEW_TOKENS), f"--max-num-batched-tokens {FEW_TOKENS}"


def _more_cards(args: EngineArgs, attempt: Attempt) -> list[str]:
    """The smallest doubling of tensor parallelism that starts."""
    size = args.tensor_parallel_size * 2
    while size <= MAX_CARDS:
        if not attempt(replace(args, tensor_parallel_size=size)):
            return [f"--tensor-parallel-size {size}"]
        size *= 2
    return []


def for_card(args: EngineArgs, budget: Budget | None, attempt: Attempt) -> list[str]:
    """Ways when weights, or weights and a cache of fixed size, exceed the card."""
    found = []
    if args.kv_cache_memory_bytes and budget is not None:
        beside = budget.weights_bytes + budget.activation.high + budget.non_torch.high + budget.cuda_graphs.high
        fits = budget.total_bytes - beside
        if fits > 0 and not attempt(replace(args, kv_cache_memory_bytes=fits)):
            found.append(f"--kv-cache-memory-bytes {fits}")
    if args.num_gpu_blocks_override is not None and not attempt(replace(args, num_gpu_blocks_override=None)):
        found.append("leave --num-gpu-blocks-override out")
    return found + _more_cards(args, attempt)


def for_setting(error: EngineArgsError, longest: int, args: EngineArgs, attempt: Attempt) -> list[str]:
    """Values of the refused setting that vLLM takes, found by trying. `longest`: the model's own max_model_len."""
    field = error.field
    flag = "--" + FLAGS.get(field, field).replace("_", "-")
    if field in {"tensor_parallel_size", "pipeline_parallel_size", "decode_context_parallel_size"}:
        taken = [size for size in SIZES if _is_taken(attempt(_with(args, field, size)))]
        return [f"{flag} {' or '.join(str(size) for size in taken)}"] if taken else []
    if field == "max_model_len":
        failures = attempt(replace(args, max_model_len=longest))
        fits = [e.estimated_max_model_len for e in failures if isinstance(e, CacheError)]
        length = min(fits, default=longest)
        starts = length > 0 and not attempt(replace(args, max_model_len=length))
        return [f"{flag} {length}"] if starts else []
    if field == "kv_cache_dtype":
        dtypes = [dtype for dtype in CACHE_DTYPES if _is_taken(attempt(_with(args, field, dtype)))]
        return [f"{flag} {' or '.join(dtypes)}"] if dtypes else []
    default = getattr(EngineArgs(), field, None)
    if getattr(args, field, default) != default and _is_taken(attempt(_with(args, field, default))):
        return [f"leave {flag} out"]
    return []


def _with(args: EngineArgs, field: str, value: Any) -> EngineArgs:
    return replace(args, **{field: value})


def for_split(args: EngineArgs, attempt: Attempt) -> list[str]:
    """Tensor parallel sizes with which nothing fails but, perhaps, memory."""
    sizes = [size for size in SIZES if not _fails_before_memory(attempt(_with(args, "tensor_parallel_size", size)))]
    return [f"--tensor-parallel-size {' or '.join(str(size) for size in sizes)}"] if sizes else []


def _fails_before_memory(failures: list[Exception]) -> bool:
    return any(isinstance(failure, EngineArgsError | WeightsError) for failure in failures)


def _is_taken(failures: list[Exception]) -> bool:
    """The setting is not refused any more; memory is another question."""
    return not any(isinstance(failure, EngineArgsError) for failure in failures)


def sentence(ways: list[str], otherwise: str) -> str:
    """One sentence of the ways found."""
    if not ways:
        return otherwise
    return f"{'These work, each alone' if len(ways) > 1 else 'This works'}: {'; '.join(ways)}."
