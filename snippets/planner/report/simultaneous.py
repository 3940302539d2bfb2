"""How many requests of full length run at once."""

from __future__ import annotations

from snippets.planner.plan import Plan


def requests_at_once(plan: Plan) -> int | None:
    """What CachePlan.requests_at_once says of a plan; None without one."""
    if plan.cache is None or plan.resolved is None:
        return None
    return plan.cache.requests_at_once(plan.resolved.max_num_seqs)
