"""What windows save: a request of max_model_len if every layer kept every token, beside what it holds."""

from __future__ import annotations

from dataclasses import replace

from snippets.planner.cache import plan_cache
from snippets.planner.resolved import Resolved
from snippets.planner.specs import CacheError, CacheLayout, CachePlan, LayerRun

_PLENTY = 2**60  # bytes
WINDOWED = ("sliding", "chunked")


def bytes_if_all_kept(cache: CachePlan | CacheLayout, resolved: Resolved) -> int | None:
    """Bytes that a request of max_model_len would hold without windows, on the fullest stage's ranks.

    None where no layer has a window, or where vLLM could not lay such layers out.
    """
    runs = [run for stage in resolved.stages for run in stage]
    if not any(run.spec.kind in WINDOWED for run in runs):
        return None
    limits = replace(resolved.limits, max_model_len=cache.max_model_len, auto_fit=False, num_gpu_blocks_override=None)
    stages = [tuple(map(_without_window, stage)) for stage in resolved.stages]
    try:
        whole = plan_cache(stages, [_PLENTY] * len(stages), limits)
    except CacheError:
        return None
    return whole.blocks_per_request * whole.bytes_per_block


def _without_window(run: LayerRun) -> LayerRun:
    if run.spec.kind not in WINDOWED:
        return run
    return replace(run, spec=replace(run.spec, kind="full", sliding_window=0, attention_chunk_size=0))
