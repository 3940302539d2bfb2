"""--layouts N: every way to lay the model out on N cards, with the reason where one does not work."""

from __future__ import annotations

from snippets.catalog.gpus import Gpu, MissingFactError
from snippets.model_config.model_config import ModelConfig
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.layouts import MACHINE_CARDS, Layout, Layouts, layouts
from snippets.planner.command.errors import UsageError
from snippets.planner.engine_args import EngineArgs
from snippets.planner.report.answer import sentence
from snippets.planner.report.as_text import table, wrapped
from snippets.planner.steps.take import Given
from snippets.units import count, gib

SIZES = ("TP", "PP", "DP", "EP", "DCP", "weights")
HEADER = (*SIZES, "KV cache", "tokens", "requests a replica", "in all", "")
SMALL_HEADER = (*SIZES, "left for the cache")
MOST_SMALL = 12


def layout_table(config: ModelConfig, card: Gpu, num_cards: int, args: EngineArgs, given: Given) -> Layouts:
    """The table. Raises UsageError for a number of cards or a card that it cannot be made for."""
    try:
        return layouts(config, [card] * num_cards, args, given)
    except (AnswerError, MissingFactError) as error:
        raise UsageError(f"--layouts: {error}.") from None


def layout_text(made: Layouts) -> str:
    """What fits as a table, best first; below it what has too little memory; below that what is refused, and why."""
    fits, small = ([row for row in made.rows if row.state == state] for state in ("fits", "too small"))
    lines = [f"Layouts on {made.num_cards} × {made.gpu.name}, weights and KV cache of one card:"]
    if fits:
        lines += table([HEADER, *(_fit(row) for row in fits)], frozenset(range(len(HEADER) - 1)))
    else:
        lines.append("  none fits")
    if made.weights_given:
        lines += wrapped("The weights given are of the layout in the flags; those of the others are counted.", "  ")
    if made.memory_given:
        lines += wrapped("Every layout has the memory for its KV cache that was given.", "  ")
    if any(not row.tokens for row in fits):
        lines += wrapped("No layer keeps a KV cache: a step's limits decide how many texts run at once.", "  ")
    if any(not row.is_sure for row in fits):
        lines += wrapped("May not start: at the low end of the estimated memory vLLM would refuse.", "  ")
    if any(row.crosses_machines for row in fits):
        lines += wrapped(
            f"Over the network: a layer's ranks stand in more than one machine of {MACHINE_CARDS} cards.", "  "
        )
    if small:
        lines += ["", f"Too small, {len(small)} of them; nearest first:"]
        nearest = sorted(small, key=lambda row: -(row.kv_bytes or 0))[:MOST_SMALL]
        lines += table([SMALL_HEADER, *(_small(row) for row in nearest)], frozenset(range(len(SMALL_HEADER))))
    others: dict[tuple[str, str], list[str]] = {}
    for row in made.rows:
        if row.state not in ("fits", "too small"):
            others.setdefault((row.state, row.reason), []).append(_name(row))
    for (state, reason), names in others.items():
        lines += ["", *wrapped(f"{state.capitalize()}: {'; '.join(names)}.", ""), *wrapped(sentence(reason), "  ")]
    return "\n".join(lines) + "\n"


def _sizes(row: Layout) -> tuple[str, ...]:
    return (
        str(row.tensor_parallel_size),
        str(row.pipeline_parallel_size),
        str(row.data_parallel_size),
        "yes" if row.enable_expert_parallel else "no",
        str(row.decode_context_parallel_size),
        gib(row.weights_bytes) if row.weights_bytes is not None else "-",
    )


def _fit(row: Layout) -> tuple[str, ...]:
    if not row.tokens or row.kv_bytes is None:
        return (*_sizes(row), *"----", "")
    each = count(row.requests_per_replica or 0, 1)
    doubts = [*([] if row.is_sure else ["may not start"]), *(["over the network"] if row.crosses_machines else [])]
    return (*_sizes(row), gib(row.kv_bytes), count(row.tokens), each, count(row.requests or 0), ", ".join(doubts))


def _small(row: Layout) -> tuple[str, ...]:
    left = row.kv_bytes
    if left is None:
        return (*_sizes(row), "-")
    return (*_sizes(row), gib(left) if left >= 0 else f"{gib(-left)} missing")


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
            "starts_at_low_end": row.is_sure,
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
