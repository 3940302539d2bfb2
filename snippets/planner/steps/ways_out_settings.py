"""Ways out where vLLM refuses a setting: values of it that start, found by trying."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.specs import CacheError
from snippets.planner.steps.ways_out import Attempt, Ways, either, failure_at, sorted_out

FLAGS = {"speculative": "speculative_config"}
SPLITS = ("tensor_parallel_size", "pipeline_parallel_size", "decode_context_parallel_size")
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16)
CACHE_DTYPES = ("auto", "fp8", "bfloat16")  # what people use


def for_setting(error: EngineArgsError, longest: int, args: EngineArgs, attempt: Attempt) -> Ways:
    """Values of the refused setting. `longest`: the model's own max_model_len."""
    field = error.field
    flag = "--" + FLAGS.get(field, field).replace("_", "-")
    if field in SPLITS:
        return _values(field, SIZES, flag, args, attempt)
    if field == "kv_cache_dtype":
        return _values(field, CACHE_DTYPES, flag, args, attempt)
    if field == "max_model_len":
        return _length(flag, longest, args, attempt)
    default = getattr(EngineArgs(), field, None)
    if getattr(args, field, default) == default:
        return Ways()
    return sorted_out([(_with(args, field, default), f"leave {flag} out")], attempt)


def for_split(args: EngineArgs, attempt: Attempt) -> Ways:
    """Tensor parallel sizes that the weights can be split into."""
    return _values("tensor_parallel_size", SIZES, "--tensor-parallel-size", args, attempt)


def _values(
    field: str, values: tuple[int, ...] | tuple[str, ...], flag: str, args: EngineArgs, attempt: Attempt
) -> Ways:
    ways = sorted_out([(_with(args, field, value), str(value)) for value in values], attempt)
    return Ways(either(flag, ways.sure), either(flag, ways.doubtful), either(flag, ways.taken))


def _length(flag: str, longest: int, args: EngineArgs, attempt: Attempt) -> Ways:
    """The model's own length, or the longest that fits at the low end of the memory."""
    low = failure_at("low", attempt(replace(args, max_model_len=longest)))
    length = low.estimated_max_model_len if isinstance(low, CacheError) else longest
    if length < 1:
        return Ways()
    return sorted_out([(replace(args, max_model_len=length), f"{flag} {length}")], attempt)


def _with(args: EngineArgs, field: str, value: Any) -> EngineArgs:
    return replace(args, **{field: value})
