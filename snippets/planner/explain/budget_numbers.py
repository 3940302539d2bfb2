"""The memory of one rank, opened: what vLLM asks for, what it subtracts, what is left. And the settings in force."""

from __future__ import annotations

from snippets.planner.engine_args import EngineArgs
from snippets.planner.estimate import Budget, Loaded, Range
from snippets.planner.explain.explained import Explained
from snippets.planner.explain.sources import LOADED, SOURCES
from snippets.planner.resolved import Resolved
from snippets.units import count, gib

FITTED = "fitted to start-up logs, not counted: nine of ten logs stay within the ends"
LACKING = "none: {lacking} too little"
NOT_SUBTRACTED = "0: this model runner subtracts nothing for graphs; they take memory outside the budget, later"


def _how(size: Range) -> str:
    return FITTED if size.high else NOT_SUBTRACTED  # only graphs are ever surely nothing


def _range(size: Range) -> str:
    return f"{gib(size.expected)} ({gib(size.low)} to {gib(size.high)})"


def _left(size: Range) -> str:
    return _range(size) if size.expected > 0 else LACKING.format(lacking=gib(-size.expected))


def budget_numbers(budget: Budget, args: EngineArgs) -> list[Explained]:
    """Requested memory, weights, the three fitted parts, and the rest."""
    parts = (
        ("budget.activation", budget.activation),
        ("budget.non_torch", budget.non_torch),
        ("budget.cuda_graphs", budget.cuda_graphs),
    )
    terms = " - ".join(gib(size.expected) for _, size in parts)
    return [
        Explained(
            "budget.requested_bytes",
            gib(budget.requested_bytes),
            "ceil(total_memory * gpu_memory_utilization)",
            f"ceil({count(budget.total_bytes)} * {args.gpu_memory_utilization})",
            SOURCES["requested_bytes"],
        ),
        *_weights(budget),
        *(Explained(name, _range(size), _how(size), _range(size), SOURCES["available"]) for name, size in parts),
        Explained(
            "available_kv_cache_bytes",
            _left(budget.available),
            "requested_memory - weights - activation - non_torch - cuda_graphs",
            f"{gib(budget.requested_bytes)} - {gib(budget.weights_bytes)} - {terms}",
            SOURCES["available"],
        ),
    ]


def _weights(budget: Budget) -> list[Explained]:
    """The sum that the log prints, and what it holds beside the parameters."""
    name, value, source = "weights_bytes", gib(budget.weights_bytes), SOURCES["weights_bytes"]
    if budget.loaded is None:
        return [Explained(name, value, "as given", f"{count(budget.weights_bytes)} bytes", source)]
    parts = _loaded(budget.loaded)
    formula = " + ".join(part.name.removeprefix("weights.") for part in parts)
    numbers = " + ".join(part.numbers.removesuffix(" bytes") for part in parts)
    return [*parts, Explained(name, value, formula, f"{numbers} bytes" if len(parts) == 1 else numbers, source)]


def _loaded(loaded: Loaded) -> list[Explained]:
    """The parts that are not nothing."""
    formulas = {
        "parameters": "sum of the parameters' bytes on one rank, as the model's class allocates them",
        "drafter": "the same of the drafter; MTP layers share embedding and lm_head with the model",
        "rotary_tables": "cosines and sines: positions * rotary_dim * bytes of a number, once for layers that share it",
        "mla_copies": "W_UK_T and W_UV, 16 bits: layers * kv_lora_rank * heads * (qk_nope_head_dim + v_head_dim) * 2",
        "buffers": "buffers that the model makes for max_num_batched_tokens",
    }
    return [
        Explained(f"weights.{name}", gib(size), formula, f"{count(size)} bytes", LOADED[name])
        for name, formula in formulas.items()
        if (size := getattr(loaded, name))
    ]


def given_memory(available_bytes: int, args: EngineArgs) -> Explained:
    """Available memory that was not estimated."""
    name, value = "available_kv_cache_bytes", gib(available_bytes)
    if args.kv_cache_memory_bytes:
        formula, source = "kv_cache_memory_bytes", SOURCES["kv_cache_memory_bytes"]
    else:
        formula, source = "as given: 'Available KV cache memory' of a start-up log", SOURCES["available"]
    return Explained(name, value, formula, f"{count(available_bytes)} bytes", source)


def setting_numbers(resolved: Resolved) -> list[Explained]:
    """Settings that vLLM filled in or changed, each with its reason."""
    values = {
        "max_model_len": resolved.max_model_len,
        "block_size": resolved.block_size,
        "max_num_seqs": resolved.max_num_seqs,
        "max_num_batched_tokens": resolved.max_num_batched_tokens,
    }
    opened = [
        Explained(name, count(value), resolved.reasons.get(name, "as given"), f"{name} = {count(value)}", SOURCES[name])
        for name, value in values.items()
    ]
    flight, batched = resolved.limits.max_in_flight_tokens, resolved.max_num_batched_tokens
    batches = flight // batched if batched else 0
    opened.append(
        Explained(
            "max_in_flight_tokens",
            count(flight),
            "max_concurrent_batches * max_num_batched_tokens",
            f"{batches} * {count(batched)}",
            SOURCES["max_in_flight_tokens"],
        )
    )
    return opened
