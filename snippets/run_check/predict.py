"""What the planner says about a run: its memory before the start, and its cache from the memory that it reported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import ModelConfig
from snippets.planner import blocks
from snippets.planner.engine_args import EngineArgs
from snippets.planner.evidence.predict import Figures, Server, predict
from snippets.planner.plan import Plan, make_plan
from snippets.planner.settings.resolve import resolve
from snippets.planner.steps.unnamed_card import unnamed_card
from snippets.planner.versions import VersionError, max_in_flight_tokens, rules_for
from snippets.run_check.run import Run
from snippets.units import GIB

HALF_OF_LAST_DIGIT = round(0.005 * GIB)  # the log prints 0.01 GiB
ESTIMATED_SINCE = (0, 17)  # the logs that the memory before a start is fitted to begin here
CPU_BLOCK_SIZE = 128
VERSION = "0.26.0"
WORDS = {
    "cpu": "On a CPU nothing is measured before the cache: its size is what was asked for.",
    "old": "vLLM {version} measured its memory in another way: compared is what follows from the memory it reports.",
    "model": "The model is not in the list here: choose one of the same shape, and the memory can be compared.",
    "card": "The text does not say how much memory the card has: choose the card, and the memory can be compared.",
    "version": "The version of vLLM is not in the text; {version} is assumed.",
    "no plan": "The planner has no prediction for these settings: {reason}",
}


@dataclass(frozen=True)
class Ends:
    """The cache from the reported memory: at the least and at the most that the print stands for."""

    low: Figures
    high: Figures


@dataclass(frozen=True)
class Prediction:
    """What there is; `notes` say why a part is missing."""

    args: EngineArgs
    plan: Plan | None = None  # from the card alone
    cache: Ends | None = None  # from the memory that the run reported
    notes: tuple[str, ...] = ()


def engine_args(run: Run, config: ModelConfig | None) -> EngineArgs:
    """The arguments that the run names. A hybrid's block size is a result, so it is not handed in."""
    given: dict[str, Any] = dict(run.settings)
    if run.is_cpu:
        given.setdefault("block_size", CPU_BLOCK_SIZE)
    if config is not None and config.is_hybrid:
        given.pop("block_size", None)
    return EngineArgs(**given, usage=run.usage)


def predict_run(run: Run, config: ModelConfig | None, card: Gpu | None) -> Prediction:
    """Both predictions, as far as they can be made."""
    args = engine_args(run, config)
    plan, why = _before(run, config, card, args)
    cache, missing = _from_reported(run, config, card, args)
    assumed = () if run.version or run.shape else (WORDS["version"].format(version=VERSION),)
    return Prediction(args, plan, cache, (*assumed, *why, *missing))


def version_of(run: Run) -> str:
    """The run's version where it names a release, else the site's."""
    try:
        rules_for(run.version)
    except VersionError:
        return VERSION
    return run.version


def _is_old(version: str) -> bool:
    major, minor = (int(part) for part in version.removeprefix("v").split(".")[:2])
    return (major, minor) < ESTIMATED_SINCE


def _before(
    run: Run, config: ModelConfig | None, card: Gpu | None, args: EngineArgs
) -> tuple[Plan | None, tuple[str, ...]]:
    if run.is_cpu:
        return None, (WORDS["cpu"],)
    if _is_old(version_of(run)):
        return None, (WORDS["old"].format(version=run.version),)
    if config is None:
        return None, (WORDS["model"],)
    if run.total is None and (card is None or card.visible_gib is None):
        return None, (WORDS["card"],)
    plan = make_plan(config, card, args, total_bytes=run.total, free_bytes=run.free)
    if plan.budget is None and plan.errors:
        return plan, (WORDS["no plan"].format(reason=plan.errors[0].message),)
    return plan, ()


def _from_reported(
    run: Run, config: ModelConfig | None, card: Gpu | None, args: EngineArgs
) -> tuple[Ends | None, tuple[str, ...]]:
    if run.available is None:
        return None, ()
    slack = 0 if run.is_exact else HALF_OF_LAST_DIGIT
    ends = (run.available - slack, run.available + slack)
    if run.shape is not None:
        return Ends(*(_uniform(run, args, size) for size in ends)), ()
    if config is None:
        return None, ()
    try:
        server = _server(run, config, card, args)
    except ValueError as error:  # a setting that vLLM would refuse with this model
        return None, (WORDS["no plan"].format(reason=error),)
    low, high = (predict(server, [size] * len(server.stages)) for size in ends)
    return Ends(low, high), ()


def _server(run: Run, config: ModelConfig, card: Gpu | None, args: EngineArgs) -> Server:
    """What was started, by the rules of its version."""
    resolved = resolve(config, args, card or unnamed_card(run.total))
    version = version_of(run)
    batched = resolved.max_num_batched_tokens
    in_flight = max_in_flight_tokens(version, batched, resolved.limits.max_in_flight_tokens // batched)
    limits = replace(resolved.limits, max_in_flight_tokens=in_flight)
    return Server(version, resolved.stages, limits, resolved.block_size)


def _uniform(run: Run, args: EngineArgs, available: int) -> Figures:
    """A cache whose layers are alike, from its five numbers."""
    shape = run.shape
    assert shape is not None
    block_size = args.block_size or blocks.DEFAULT_BLOCK_SIZE
    heads = max(shape.num_kv_heads // args.tensor_parallel_size, 1)
    page = 2 * block_size * heads * shape.head_dim * shape.dtype_bytes
    found = args.num_gpu_blocks_override or blocks.num_gpu_blocks(available, page, shape.num_layers)
    length = args.max_model_len
    if not isinstance(length, int):
        return Figures(gpu_blocks=found)
    return Figures(
        gpu_blocks=found,
        kv_tokens=blocks.kv_cache_size_tokens(found, block_size, length),
        max_concurrency=blocks.max_concurrency(found, block_size, length),
    )
