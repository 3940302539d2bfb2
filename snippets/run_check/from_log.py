"""A start-up log as a run: GiB become bytes, and of several ranks the one that decides counts."""

from __future__ import annotations

from snippets.run_check.run import Run
from snippets.startup_log.start import Start
from snippets.units import GIB


def _bytes(gib: float | None) -> int | None:
    return None if gib is None else round(gib * GIB)


def of_start(start: Start) -> Run:
    """Of ranks that printed different sizes, the one with the least left for the cache decides how many blocks."""
    return Run(
        name="",
        model=start.model,
        version=start.version,
        settings=start.settings,
        is_cpu=start.is_cpu,
        total=_bytes(start.total_gib),
        free=_bytes(start.free_gib),
        weights=_bytes(max(start.weights_gib, default=None)),
        activation=_bytes(start.activation_gib),
        non_torch=_bytes(start.non_torch_gib),
        estimated_graphs=_bytes(start.estimated_graphs_gib),
        graphs=_bytes(start.graphs_gib),
        available=_bytes(min(start.available_gib, default=None)),
        num_gpu_blocks=start.gpu_blocks,
        kv_tokens=start.kv_tokens,
        max_concurrency=start.max_concurrency,
        attention_backend=start.attention_backend,
        refusal=start.refusal,
        needed=_bytes(start.needed_gib),
        estimated_max_len=start.estimated_max_len,
        lines=start.lines,
        notes=start.notes,
    )
