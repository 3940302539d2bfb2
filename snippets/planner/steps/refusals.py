"""Why there is no plan, in vLLM's words where it is vLLM that refuses, and what to change."""

from __future__ import annotations

from dataclasses import dataclass, replace

from snippets.catalog.gpus import Gpu, MissingFactError
from snippets.model_config.model_config import ConfigError, ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.estimate import Budget
from snippets.planner.resolved import Resolved
from snippets.planner.specs import CacheError
from snippets.planner.steps.other_cards import NO_BACKEND, plain_line
from snippets.planner.steps.take import PLENTY, StartError, Steps, cache_at
from snippets.planner.steps.ways_out import Attempt, sentence, sorted_out
from snippets.planner.steps.ways_out_memory import for_card, for_memory
from snippets.planner.steps.ways_out_settings import for_setting, for_split
from snippets.planner.weights.errors import ANOTHER_SPLIT, WeightsError

GIVE_MEMORY = "Give the memory of the card as the driver reports it, or choose another card."
NO_WAY = "Nothing tried here lets one request in: take a larger card, more cards, or a smaller model."


@dataclass(frozen=True)
class PlanError:
    """Why there is no (full) plan."""

    field: str  # the setting or config field that can mend it
    message: str  # vLLM's own words where it is vLLM that refuses
    way_out: str  # what to change, with the value that works where one is known
    from_vllm: bool = True  # False: a fact is missing here, vLLM itself may well start


def explain_failure(
    failure: Exception, config: ModelConfig, card: Gpu, args: EngineArgs, steps: Steps, attempt: Attempt
) -> PlanError:
    """One failed step as a sentence for the person who typed the input."""
    message = str(failure)
    if isinstance(failure, CacheError):
        return _too_small(failure, args, steps, attempt)
    if isinstance(failure, StartError):
        if failure.utilization is not None:
            return PlanError(failure.field, message, _less_of_the_card(failure.utilization, args, attempt))
        mend = failure.way_out or sentence(for_card(args, steps.fit, attempt), NO_WAY)
        return PlanError(failure.field, message, mend)
    if isinstance(failure, EngineArgsError) and failure.field == "gpu" and message.startswith(NO_BACKEND):
        needed, cards = plain_line(config, args, card)
        return PlanError("gpu", f"{needed} In vLLM's words: {message}", cards)
    if isinstance(failure, EngineArgsError):
        found = for_setting(failure, config.max_model_len, args, attempt)
        ours = failure.field == "config" or not failure.from_vllm  # an architecture that is not planned here
        return PlanError(failure.field, message, sentence(found, ""), from_vllm=not ours)
    if isinstance(failure, WeightsError):
        return _uncounted(failure, args, attempt)
    if isinstance(failure, MissingFactError):
        return PlanError("gpu", message, GIVE_MEMORY, from_vllm=False)
    field = failure.field if isinstance(failure, ConfigError) else ""
    return PlanError(field, message, "Mend that field of config.json.", from_vllm=False)


def _too_small(failure: CacheError, args: EngineArgs, steps: Steps, attempt: Attempt) -> PlanError:
    assert steps.resolved is not None
    if failure.field:
        return PlanError(failure.field, str(failure), "")
    needed = failure.needed_bytes or _needed(steps.resolved)
    budget = steps.budget if not args.kv_cache_memory_bytes and not steps.memory_given else None
    found = for_memory(failure, needed, args, steps, budget, attempt)
    field = "max_model_len" if failure.estimated_max_model_len else _memory_field(args, budget)
    return PlanError(field, str(failure), sentence(found, NO_WAY))


def _less_of_the_card(utilization: float, args: EngineArgs, attempt: Attempt) -> str:
    """The largest share of the card that passes the check of free memory."""
    changed = replace(args, gpu_memory_utilization=utilization)
    found = [(changed, f"--gpu-memory-utilization {utilization:.2f}")] if utilization else []
    return sentence(sorted_out(found, attempt), NO_WAY)


def _uncounted(failure: WeightsError, args: EngineArgs, attempt: Attempt) -> PlanError:
    field = failure.field or "weights_bytes"
    if failure.way_out == ANOTHER_SPLIT:
        return PlanError(field, failure.told, sentence(for_split(args, attempt), ANOTHER_SPLIT))
    return PlanError(field, failure.told, failure.way_out, from_vllm=False)


def _memory_field(args: EngineArgs, budget: Budget | None) -> str:
    if budget is not None:
        return "gpu_memory_utilization"
    return "kv_cache_memory_bytes" if args.kv_cache_memory_bytes else "available_bytes"


def _needed(resolved: Resolved) -> int:
    """Bytes that one request of max_model_len takes on one rank."""
    cache = cache_at(resolved, [PLENTY] * len(resolved.stages))
    return cache.blocks_per_request * cache.bytes_per_block if cache else 0
