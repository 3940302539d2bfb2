"""How many requests of full length run at once."""

from __future__ import annotations

from snippets.planner.plan import Plan


def requests_at_once(plan: Plan) -> int | None:
    """The smaller of what memory holds and what the scheduler takes into a step; None without a plan."""
    if plan.cache is None or plan.resolved is None:
        return None
    return min(int(plan.cache.max_concurrency), plan.resolved.max_num_seqs)
