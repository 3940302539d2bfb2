"""The planning steps in vLLM's order; what a step refuses is kept, and the steps that do not need it go on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from snippets.catalog.gpus import Gpu, MissingFactError
from snippets.model_config.model_config import ConfigError, ModelConfig
from snippets.planner.cache import plan_cache
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.estimate import Budget, Fit, Loaded
from snippets.planner.memory.budget import estimate_budget
from snippets.planner.memory.free_memory import assumed_free, free_memory_error, largest_utilization, log_gib
from snippets.planner.memory.from_config import kind_of_card
from snippets.planner.resolved import Resolved
from snippets.planner.settings import resolve
from snippets.planner.specs import CacheError, CacheLayout, CachePlan
from snippets.planner.steps.drafter_weights import drafter_bytes
from snippets.planner.steps.fixed_cache import field_of, fit_of, shortage
from snippets.planner.steps.kept import Kept, all_but_memory, layout
from snippets.planner.versions import log_lines
from snippets.planner.weights import stage_sizes
from snippets.planner.weights.beside import Beside, beside_weights
from snippets.planner.weights.errors import WeightsError
from snippets.units import GIB

_SETTINGS: Kept[Resolved] = Kept(all_but_memory)
_WEIGHTS: Kept[tuple[int, ...]] = Kept(layout)
_BESIDE: Kept[tuple[Beside, ...]] = Kept(all_but_memory)


LARGEST = 2**62
PLENTY = 2**60  # bytes


class StartError(ValueError):
    """The card cannot take what is asked, before the cache is planned. Bytes are of one rank."""

    def __init__(self, field: str, message: str, way_out: str = "", utilization: float | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.way_out = way_out
        self.utilization = utilization  # that passes the check of free memory, where what is free is assumed


@dataclass(frozen=True)
class Given:
    """Bytes of one rank that are known and not to be estimated."""

    available: int | None = None
    weights: int | None = None
    total: int | None = None
    free: int | None = None
    weights_of: EngineArgs | None = None  # the layout that `weights` are of; None: of any that is asked

    def at(self, config: ModelConfig, args: EngineArgs) -> Given:
        """What of it holds for these arguments: weights of another layout do not, and are counted."""
        if self.weights is None or self.weights_of is None or _held(config, self.weights_of) == _held(config, args):
            return self
        return replace(self, weights=None)


def _held(config: ModelConfig, args: EngineArgs) -> Hashable:
    """What the weights of a rank depend on. Without experts a replica holds the same beside any number of others."""
    if config.num_experts == 0:
        args = replace(args, data_parallel_size=1)
    return layout(args), args.speculative


@dataclass
class Steps:
    """What the steps gave, as far as they got."""

    resolved: Resolved | None = None
    weights: tuple[int, ...] = ()  # one per pipeline stage
    loaded: tuple[Loaded, ...] = ()  # their parts; () where they were given
    budgets: tuple[Budget, ...] = ()  # the same
    available: tuple[int, ...] = ()  # the same
    cache: CachePlan | None = None
    failures: list[Exception] = field(default_factory=list)
    memory_given: bool = False  # available bytes were given, not estimated
    fit: Fit | None = None  # of a cache of fixed size
    doubt: StartError | None = None  # what may be refused, where what is free at start is assumed

    @property
    def budget(self) -> Budget | None:
        """Of the stage with the least left."""
        return min(self.budgets, key=lambda budget: budget.available.expected, default=None)


def take(config: ModelConfig, gpu: Gpu, args: EngineArgs, given: Given) -> Steps:
    """Settings, weights, budget, cache. Raises nothing that the user's input can cause."""
    given = given.at(config, args)
    steps = Steps(memory_given=given.available is not None)
    card = gpu if given.total is None else replace(gpu, visible_gib=given.total / GIB)
    try:
        _check_numbers(args)
        steps.resolved = _SETTINGS.get(config, card, args, lambda: resolve(config, args, card))
    except (EngineArgsError, ConfigError, MissingFactError) as error:
        steps.failures.append(error)
        return steps
    fixed = given.available if given.available is not None else args.kv_cache_memory_bytes or None  # 0 is as not given
    if fixed is None and not any(steps.resolved.stages):
        fixed = 0  # nothing is cached, and nothing measured (v1/engine/core.py:275)
    try:
        steps.loaded = _loaded(config, card, args, given, steps.resolved)
        steps.weights = _weights(args, given, steps.loaded)
        steps.budgets = _budgets(config, card, args, steps, given)
    except (WeightsError, ConfigError, MissingFactError) as error:
        if fixed is None:
            steps.failures.append(error)
            return steps
    stages = len(steps.resolved.stages)
    if fixed is not None:
        steps.available = (fixed,) * stages
    else:
        steps.available = tuple(budget.available.expected for budget in steps.budgets)
    try:
        if given.available is None:
            _check_free(args, steps.budgets, given)
            steps.doubt = _check_assumed_free(card, args, steps.budgets, given)
            _check_weights(steps.budgets)
        cache = plan_cache(steps.resolved.stages, steps.available, steps.resolved.limits)
        if given.available is None and steps.budgets:
            steps.fit = fit_of(args, cache, steps.budgets, given.free)
        if steps.fit is not None and (short := shortage(steps.fit)):
            raise StartError(field_of(args), short)
        steps.cache = cache
    except (StartError, CacheError) as error:
        steps.failures.append(error)
    return steps


def cache_at(resolved: Resolved, available: Sequence[int], like: CachePlan | None = None) -> CachePlan | None:
    """The cache with other memory; None where vLLM would refuse. A plan of the same question, `like`, saves time."""
    limits = resolved.limits
    fixed = limits.auto_fit or limits.num_gpu_blocks_override is not None or len(resolved.stages) > 1
    if like is not None and like.groups and not fixed:
        return _scaled(like, available[0])
    try:
        return plan_cache(resolved.stages, available, limits)
    except CacheError:
        return None


def layout_of(steps: Steps) -> CacheLayout | None:
    """The cache's layout, with a plan or without; None where vLLM could not lay it out with any memory."""
    if steps.cache is not None:
        return CacheLayout.of(steps.cache)
    if steps.resolved is None:
        return None
    enough = replace(steps.resolved, limits=replace(steps.resolved.limits, num_gpu_blocks_override=None))
    cache = cache_at(enough, [PLENTY] * len(enough.stages))
    return CacheLayout.of(cache) if cache else None


def _scaled(like: CachePlan, available: int) -> CachePlan | None:
    """On one stage more memory means more blocks, and nothing else changes."""
    if available <= 0 or available < like.needed_bytes:
        return None
    blocks = available // like.bytes_per_block
    concurrency = blocks / like.blocks_per_request
    tokens = int(concurrency * like.max_model_len)
    scaled = replace(like, num_gpu_blocks=blocks, max_concurrency=concurrency, kv_cache_size_tokens=tokens)
    return replace(scaled, log_lines=log_lines("0.26.0", scaled))


def _weights(args: EngineArgs, given: Given, loaded: tuple[Loaded, ...]) -> tuple[int, ...]:
    """Of one rank of each stage."""
    if given.weights is not None:
        return (given.weights,) * args.pipeline_parallel_size
    return tuple(stage.total for stage in loaded)


def _loaded(config: ModelConfig, gpu: Gpu, args: EngineArgs, given: Given, resolved: Resolved) -> tuple[Loaded, ...]:
    """What is counted: the parameters, the drafter's on the last stage, and what loading leaves beside them."""
    if given.weights is not None:
        return ()
    capability = gpu.compute_capability
    counted = _WEIGHTS.get(
        config, gpu, args, lambda: tuple(size.num_bytes for size in stage_sizes(config, args, capability))
    )
    drafters = (*(0,) * (len(counted) - 1), drafter_bytes(config, args, gpu))
    batched = resolved.max_num_batched_tokens
    beside = _BESIDE.get(config, gpu, args, lambda: beside_weights(config, args, batched, capability))
    return tuple(
        Loaded(parameters, drafter, more.rotary_tables, more.mla_copies, more.buffers)
        for parameters, drafter, more in zip(counted, drafters, beside, strict=True)
    )


def _budgets(config: ModelConfig, gpu: Gpu, args: EngineArgs, steps: Steps, given: Given) -> tuple[Budget, ...]:
    resolved = steps.resolved
    assert resolved is not None
    are_given = given.weights is not None
    budgets = tuple(
        estimate_budget(config, gpu, args, resolved, weights, are_given, pp_rank=rank)
        for rank, weights in enumerate(steps.weights)
    )
    if are_given:
        return budgets
    return tuple(replace(budget, loaded=loaded) for budget, loaded in zip(budgets, steps.loaded, strict=True))


def _check_numbers(args: EngineArgs) -> None:
    """What fits no field of vLLM's."""
    utilization = args.gpu_memory_utilization
    if not 0 < utilization <= 1:  # config/cache.py:68: Field(gt=0, le=1)
        bound = "less than or equal to 1" if utilization > 1 else "greater than 0"
        raise EngineArgsError("gpu_memory_utilization", f"Input should be {bound}, got {utilization}")
    for name, value in vars(args).items():
        if isinstance(value, int) and value > LARGEST:
            raise EngineArgsError(name, f"{name} is larger than 2**62; no card holds that much")


def _check_free(args: EngineArgs, budgets: Sequence[Budget], given: Given) -> None:
    """v1/worker/utils.py:425 request_memory."""
    for total in {budget.total_bytes for budget in budgets} if given.free is not None else ():
        message = free_memory_error(given.free or 0, total, args.gpu_memory_utilization)
        if message is not None:
            fits = largest_utilization(given.free or 0, total)
            mend = f"--gpu-memory-utilization {fits:.2f} asks for no more than is free." if fits else "Free the card."
            raise StartError("gpu_memory_utilization", message, mend)


def _check_assumed_free(card: Gpu, args: EngineArgs, budgets: Sequence[Budget], given: Given) -> StartError | None:
    """The same for a card that runs nothing else: raised where it surely refuses, returned where it may."""
    free = assumed_free(budgets[0].total_bytes, kind_of_card(card, args)) if budgets and given.free is None else None
    if free is None:
        return None
    total, (surely, at_most) = budgets[0].total_bytes, free
    passes = largest_utilization(surely, total)
    if refused := free_memory_error(at_most, total, args.gpu_memory_utilization):
        raise StartError("gpu_memory_utilization", refused, utilization=passes)
    doubted = free_memory_error(surely, total, args.gpu_memory_utilization)
    return StartError("gpu_memory_utilization", doubted, utilization=passes) if doubted else None


def _check_weights(budgets: Sequence[Budget]) -> None:
    """Weights beyond the card end the start while they are loaded, whatever the utilization."""
    for budget in budgets:
        if budget.weights_bytes > budget.total_bytes:
            raise StartError(
                "tensor_parallel_size",
                f"CUDA out of memory: the weights take {log_gib(budget.weights_bytes)} GiB of a card with "
                f"{log_gib(budget.total_bytes)} GiB.",
            )
