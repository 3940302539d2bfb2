"""vLLM 0.26.0's KV cache planning: layer specs and bytes in, groups, blocks and log lines out, one step per module.

The steps in vLLM's order (v1/core/kv_cache_utils.py `get_kv_cache_configs`): spec, pages → merge, unify → grouping or
packed → pools (bytes per block and per request on each stage) → admission → plan.
"""

from snippets.planner.cache.plan import plan_cache

__all__ = ["plan_cache"]
