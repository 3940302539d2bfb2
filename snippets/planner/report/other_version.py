"""The log lines of another vLLM version for the same memory."""

from __future__ import annotations

from dataclasses import replace

from snippets.planner.plan import Plan
from snippets.planner.steps.take import cache_at
from snippets.planner.versions import log_lines, max_in_flight_tokens, rules_for


def lines_of_version(plan: Plan, version: str) -> tuple[str, ...]:
    """What that version prints about the cache; none without a plan. Raises VersionError for what is no version.

    Settings and memory are those of the plan; what counts is how the version words the lines, counts tokens and keeps
    room for batches in flight.
    """
    rules_for(version)  # a wrong version is refused even where there is nothing to print
    cache, resolved = plan.cache, plan.resolved
    if cache is None or resolved is None or plan.available_bytes is None:
        return ()
    limits, batched = resolved.limits, resolved.max_num_batched_tokens
    flight = max_in_flight_tokens(version, batched, limits.max_in_flight_tokens // batched)
    if flight != limits.max_in_flight_tokens:
        then = replace(resolved, limits=replace(limits, max_in_flight_tokens=flight))
        cache = cache_at(then, [plan.available_bytes] * len(resolved.stages)) or cache
    return log_lines(version, cache, limits.decode_context_parallel_size)
