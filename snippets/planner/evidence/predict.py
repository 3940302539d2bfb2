"""What vLLM should have printed for a log's memory: the planner, with the rules of the log's version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from snippets.catalog.gpus import gpu
from snippets.planner.cache import plan_cache
from snippets.planner.engine_args import EngineArgs, SpeculativeConfig
from snippets.planner.evidence.logs import Layout, Log, config_of
from snippets.planner.settings import resolve
from snippets.planner.specs import CacheError, LayerRun, Limits, Stage
from snippets.planner.versions import kv_cache_size_tokens, max_in_flight_tokens

CARD = "h100-80gb"  # layer specs depend on the card only through the block size, which a log states or a model decides
UNSTATED_VERSION = "0.10"  # with one group every version prints the same numbers; others name their rules
ARGUMENTS = (
    "dtype",
    "kv_cache_dtype",
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "max_num_batched_tokens",
    "enable_prefix_caching",
    "mamba_ssm_cache_dtype",
)


@dataclass(frozen=True)
class Server:
    """What was started: layer specs per stage, limits by the rules of its version."""

    version: str
    stages: tuple[Stage, ...]
    limits: Limits
    block_size: int  # tokens; cache_config.block_size


@dataclass(frozen=True)
class Figures:
    """The figures that a start prints about its cache; None where it prints none."""

    gpu_blocks: int | None = None
    kv_tokens: int | None = None
    max_concurrency: float | None = None
    error_needed_bytes: int | None = None  # 0: no memory at all is left
    error_estimated_max_len: int | None = None
    error_kv_tokens: int | None = None  # what the cache stores, in the oldest form of the error


def server_of(log: Log, layout: Layout) -> Server:
    """The server of a log whose layout is known. Raises what resolve() raises."""
    given = {**log.settings, **layout.settings}
    version = layout.rules or log.vllm_version or UNSTATED_VERSION
    if layout.config is None:
        raise ValueError(f"the layout of {log.id} is not known: {layout.unknown}")
    config = config_of(layout.config)
    args = EngineArgs(
        max_model_len=given.get("max_model_len"),
        block_size=None if config.is_hybrid else given.get("block_size"),
        speculative=_speculative(layout),
        **{name: given[name] for name in ARGUMENTS if name in given},
    )
    resolved = resolve(config, args, gpu(CARD))
    batched = resolved.max_num_batched_tokens
    batches = resolved.limits.max_in_flight_tokens // batched
    limits = replace(resolved.limits, max_in_flight_tokens=max_in_flight_tokens(version, batched, batches))
    return Server(version, _with_drafter(resolved.stages, layout), limits, resolved.block_size)


def predict(server: Server, available_bytes: Sequence[int]) -> Figures:
    """The figures for that much memory per stage."""
    try:
        plan = plan_cache(server.stages, available_bytes, server.limits)
    except CacheError as error:
        stored = _stored(server, available_bytes) if error.needed_bytes else None
        return Figures(
            gpu_blocks=stored,
            max_concurrency=None if stored is None else stored * server.block_size / server.limits.max_model_len,
            error_needed_bytes=error.needed_bytes,
            error_estimated_max_len=error.estimated_max_model_len,
            error_kv_tokens=None if stored is None else stored * server.block_size,
        )
    tokens = kv_cache_size_tokens(server.version, plan, server.limits.decode_context_parallel_size)
    return Figures(plan.num_gpu_blocks, tokens, plan.max_concurrency)


def with_blocks(server: Server, num_gpu_blocks: int) -> Figures:
    """The figures for so many blocks, whatever the memory."""
    limits = replace(server.limits, num_gpu_blocks_override=num_gpu_blocks)
    return predict(replace(server, limits=limits), [2**50] * len(server.stages))


def _stored(server: Server, available_bytes: Sequence[int]) -> int | None:
    """Blocks that fit where the longest request does not; None when they cannot be told apart (several groups)."""
    try:
        plan = plan_cache(server.stages, available_bytes, replace(server.limits, max_model_len=1))
    except CacheError:
        return None
    return plan.num_gpu_blocks if len(plan.groups) == 1 else None


def _speculative(layout: Layout) -> SpeculativeConfig | None:
    """Drafted tokens alone change recurrent states; a drafter's layers are added apart unless the method has them."""
    tokens = layout.num_speculative_tokens
    return SpeculativeConfig(layout.settings.get("speculative", "ngram"), tokens) if tokens else None


def _with_drafter(stages: tuple[Stage, ...], layout: Layout) -> tuple[Stage, ...]:
    """The drafter's layers at the end of the last stage: copies of the target's, or of its own kind."""
    copies = tuple(
        LayerRun(count, next(run.spec for run in stages[-1] if run.spec.kind == kind))
        for kind, count in layout.drafter_layers.items()
    )
    own = (layout.drafter,) if layout.drafter else ()
    return (*stages[:-1], (*stages[-1], *copies, *own))
