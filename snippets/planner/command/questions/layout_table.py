"""--layouts N: every way to lay the model out on N cards, with the reason where one does not work."""

from __future__ import annotations

from snippets.catalog.gpus import Gpu, MissingFactError
from snippets.model_config.model_config import ModelConfig
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.layouts import Layout, Layouts, layouts
from snippets.planner.command.errors import UsageError
from snippets.planner.engine_args import EngineArgs
from snippets.planner.report.as_text import table
from snippets.planner.steps.take import Given
from snippets.units import count, gib

HEADER = ("TP", "PP", "DP", "EP", "DCP", "weights", "KV cache", "tokens", "requests", "each replica")


def layout_table(config: ModelConfig, card: Gpu, num_cards: int, args: EngineArgs, given: Given) -> Layouts:
    """The table. Raises UsageError for a number of cards or a card that it cannot be made for."""
    try:
        return layouts(config, [card] * num_cards, args, given)
    except (AnswerError, MissingFactError) as error:
        raise UsageError(f"--layouts: {error}.") from None


def layout_text(made: Layouts) -> str:
    """What fits as a table, most requests first; below it what does not, with the reason."""
    fits = [row for row in made.rows if row.state == "fits"]
    lines = [f"Layouts on {made.num_cards} × {made.gpu.name} (weights and KV cache of one card):"]
    if fits:
        lines += table([HEADER, *(_fit(row) for row in fits)], frozenset(range(len(HEADER))))
    else:
        lines.append("  none fits")
    others = [row for row in made.rows if row.state != "fits"]
    lines += [f"  {_name(row)}: {row.state}. {row.reason}" for row in others]
    return "\n".join(lines) + "\n"


def _fit(row: Layout) -> tuple[str, ...]:
    return (
        str(row.tensor_parallel_size),
        str(row.pipeline_parallel_size),
        str(row.data_parallel_size),
        "yes" if row.enable_expert_parallel else "no",
        str(row.decode_context_parallel_size),
        gib(row.weights_bytes) if row.weights_bytes is not None else "",
        gib(row.kv_bytes) if row.kv_bytes is not None else "",
        count(row.tokens or 0),
        count(row.requests or 0),
        count(row.requests_per_replica or 0, 1),
    )


def _name(row: Layout) -> str:
    name = f"TP {row.tensor_parallel_size} PP {row.pipeline_parallel_size} DP {row.data_parallel_size}"
    name += " EP" if row.enable_expert_parallel else ""
    dcp = row.decode_context_parallel_size
    return name + (f" DCP {dcp}" if dcp > 1 else "")


def layout_json(made: Layouts) -> list[dict[str, object]]:
    """One object a layout. Bytes are of one rank; requests of all replicas."""
    return [
        {
            "tensor_parallel_size": row.tensor_parallel_size,
            "pipeline_parallel_size": row.pipeline_parallel_size,
            "data_parallel_size": row.data_parallel_size,
            "enable_expert_parallel": row.enable_expert_parallel,
            "decode_context_parallel_size": row.decode_context_parallel_size,
            "state": row.state,
            "reason": row.reason,
            "weights_bytes": row.weights_bytes,
            "available_kv_cache_bytes": row.kv_bytes,
            "kv_cache_size_tokens": row.tokens,
            "max_concurrency": row.memory_concurrency,
            "max_num_seqs": row.max_num_seqs,
            "requests": row.requests,
        }
        for row in made.rows
    ]
