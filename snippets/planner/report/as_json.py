"""A plan as JSON: the keys stay, new ones may come. Sizes are bytes of one rank; a part that was not made is null."""

from __future__ import annotations

from typing import NamedTuple

from snippets.planner.estimate import Budget, Fit, Range
from snippets.planner.explain import Explained
from snippets.planner.plan import Plan, PlanError
from snippets.planner.report.serve_command import serve_command
from snippets.planner.report.simultaneous import requests_at_once
from snippets.planner.resolved import Resolved
from snippets.planner.specs import CacheGroup, CachePlan


class Key(NamedTuple):
    """One key of the JSON."""

    name: str
    form: str
    meaning: str


SCHEMA = (
    Key("num_gpu_blocks", "integer or null", "KV cache blocks, the null block included"),
    Key("block_size", "integer or null", "tokens in a block, of the group with the smallest; as in cache_config_info"),
    Key("bytes_per_block", "integer or null", "bytes of one block in all layers of one rank; needs no memory"),
    Key("kv_cache_size_tokens", "integer or null", "tokens, as the log prints them: int(max_concurrency × length)"),
    Key("max_concurrency", "number or null", "requests of max_model_len that memory holds, as the log prints it"),
    Key("kv_bytes_per_token", "integer or null", "bytes that one more token adds at full context, on one rank"),
    Key("groups", "list of objects", "layers that share a block table: num_layers, kind, block_size (tokens), "
        "page_size_bytes, max_bytes_per_request (one layer), blocks_per_request"),
    Key("available_kv_cache_bytes", "integer or null", "bytes for the KV cache of one rank: given, or expected; "
        "below 0, so much is missing"),
    Key("weights_bytes", "integer or null", "bytes of weights on the fullest rank: given, or counted"),
    Key("budget", "object or null", "bytes of one rank: total_bytes, requested_bytes, weights_bytes, weights_given; "
        "activation, non_torch, cuda_graphs, available as low, expected, high; null where memory was given"),
    Key("log_lines", "list of strings", "what vLLM prints about the cache"),
    Key("errors", "list of objects", "why there is no full plan: field, message, way_out, from_vllm"),
    Key("max_model_len", "integer or null", "tokens, after auto-fit"),
    Key("blocks_per_request", "integer or null", "blocks that a request of max_model_len reserves"),
    Key("max_num_seqs", "integer or null", "most requests in one step"),
    Key("requests_at_once", "integer or null", "the smaller of max_concurrency, rounded down, and max_num_seqs"),
    Key("low", "object or null", "num_gpu_blocks, kv_cache_size_tokens, max_concurrency at the budget's low end; null "
        "when vLLM would not start there"),
    Key("high", "object or null", "the same at its high end"),
    Key("fit", "object or null", "bytes of one rank where the cache has a fixed size: cache_bytes, weights_bytes, held "
        "(with all else) as low, expected, high, room_bytes of the card; null where it takes what is left"),
    Key("settings", "object or null", "what is in force: dtype, kv_cache_dtype, attention_backend, …"),
    Key("notes", "list of strings", "what was assumed, and what vLLM warns of"),
    Key("serve_command", "string", "the vllm serve line of these settings, which starts where errors is empty"),
    Key("explained", "list of objects", "each number: name, value, formula, numbers, source"),
)  # fmt: skip
SETTINGS = (
    *("dtype", "kv_cache_dtype", "attention_backend", "max_num_batched_tokens", "enable_prefix_caching"),
    *("enable_chunked_prefill", "async_scheduling", "mamba_cache_mode", "quantization", "uses_cuda_graphs"),
)


def schema_markdown() -> str:
    """SCHEMA as a Markdown table, for a page."""
    rows = [f"| `{key.name}` | {key.form} | {key.meaning} |" for key in SCHEMA]
    return "\n".join(("| key | value | meaning |", "|---|---|---|", *rows))


def to_json(plan: Plan, model: str = "MODEL", drafter: str = "DRAFTER") -> dict[str, object]:
    """The plan as JSON values; SCHEMA says what each key holds. `model` and `drafter` stand in the command."""
    cache, layout, resolved = plan.cache, plan.layout, plan.resolved
    return {
        "num_gpu_blocks": cache.num_gpu_blocks if cache else None,
        "block_size": _block_size(plan),
        "bytes_per_block": layout.bytes_per_block if layout else None,
        "kv_cache_size_tokens": cache.kv_cache_size_tokens if cache else None,
        "max_concurrency": cache.max_concurrency if cache else None,
        "kv_bytes_per_token": plan.kv_bytes_per_token,
        "groups": [_group(group) for group in layout.groups] if layout else [],
        "available_kv_cache_bytes": plan.available_bytes,
        "weights_bytes": plan.weights_bytes,
        "budget": _budget(plan.budget) if plan.budget else None,
        "log_lines": list(cache.log_lines) if cache else [],
        "errors": [_error(error) for error in plan.errors],
        "max_model_len": cache.max_model_len if cache else resolved.max_model_len if resolved else None,
        "blocks_per_request": layout.blocks_per_request if layout else None,
        "max_num_seqs": resolved.max_num_seqs if resolved else None,
        "requests_at_once": requests_at_once(plan),
        "low": _end(plan.cache_low),
        "high": _end(plan.cache_high),
        "fit": _fit(plan.fit) if plan.fit else None,
        "settings": _settings(resolved) if resolved else None,
        "notes": list(plan.notes),
        "serve_command": serve_command(plan, model, drafter),
        "explained": [_explained(number) for number in plan.explained],
    }


def _block_size(plan: Plan) -> int | None:
    """engine/core.py:311: after planning, the smallest block of all groups."""
    if plan.layout and plan.layout.groups:
        return min(group.block_size for group in plan.layout.groups)
    return plan.resolved.block_size if plan.resolved else None


def _group(group: CacheGroup) -> dict[str, object]:
    return {
        "num_layers": group.num_layers,
        "kind": group.kind,
        "block_size": group.block_size,
        "page_size_bytes": group.page_size_bytes,
        "max_bytes_per_request": group.max_bytes_per_request,
        "blocks_per_request": group.blocks_per_request,
    }


def _range(size: Range) -> dict[str, int]:
    return {"low": size.low, "expected": size.expected, "high": size.high}


def _budget(budget: Budget) -> dict[str, object]:
    return {
        "total_bytes": budget.total_bytes,
        "requested_bytes": budget.requested_bytes,
        "weights_bytes": budget.weights_bytes,
        "weights_given": budget.weights_given,
        "activation": _range(budget.activation),
        "non_torch": _range(budget.non_torch),
        "cuda_graphs": _range(budget.cuda_graphs),
        "available": _range(budget.available),
    }


def _fit(fit: Fit) -> dict[str, object]:
    return {
        "cache_bytes": fit.cache_bytes,
        "weights_bytes": fit.weights_bytes,
        "held": _range(fit.held),
        "room_bytes": fit.room_bytes,
    }


def _end(cache: CachePlan | None) -> dict[str, object] | None:
    if cache is None:
        return None
    return {
        "num_gpu_blocks": cache.num_gpu_blocks,
        "kv_cache_size_tokens": cache.kv_cache_size_tokens,
        "max_concurrency": cache.max_concurrency,
    }


def _settings(resolved: Resolved) -> dict[str, object]:
    return {name: getattr(resolved, name) for name in SETTINGS}


def _error(error: PlanError) -> dict[str, object]:
    return {
        "field": error.field,
        "message": error.message,
        "way_out": error.way_out,
        "from_vllm": error.from_vllm,
    }


def _explained(number: Explained) -> dict[str, str]:
    return {
        "name": number.name,
        "value": number.value,
        "formula": number.formula,
        "numbers": number.numbers,
        "source": number.source,
    }
