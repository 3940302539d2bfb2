"""A drafter's windows: its layers without one of their own take the target's, whatever its config says.

attention/attention.py:261 takes cache_config.sliding_window, which is made of the target's config alone
(engine/arg_utils.py:1889): its one window, or none where its layers differ.
"""

from __future__ import annotations

from dataclasses import replace

from snippets.model_config.layers.rules import RULES
from snippets.model_config.layers.windows import PLAIN, SLIDING, Windows
from snippets.model_config.model_config import AttentionCache, Cache, ModelConfig
from snippets.planner.engine_args import EngineArgsError

FILLED_MAPS = ("gemma", "gpt_oss")  # transformers fills layer_types, so the layers are known to differ


def with_windows_of(target: ModelConfig, draft: ModelConfig) -> ModelConfig:
    """The drafter as it is built beside this target. Raises EngineArgsError where the target's window is not known."""
    if draft.model_type.startswith("mimo_v2"):  # its layers get no cache_config (mimo_v2.py:397)
        return draft
    own = _names_its_windows(draft)
    if not any(_takes_one(cache, own) for layer in draft.layers for cache in layer):
        return draft
    window = _one_window(target)
    made: dict[Cache, Cache] = {}
    for cache in {cache for layer in draft.layers for cache in layer}:
        made[cache] = _with(cache, window) if _takes_one(cache, own) else cache
    return replace(draft, layers=tuple(tuple(made[cache] for cache in layer) for layer in draft.layers))


def _takes_one(cache: Cache, own: bool) -> bool:
    return cache.kind == "full" or (cache.kind == "sliding" and not own)


def _with(cache: Cache, window: int) -> Cache:
    assert isinstance(cache, AttentionCache)
    return replace(cache, kind="sliding" if window else "full", sliding_window=window)


def _names_its_windows(config: ModelConfig) -> bool:
    """Whether the class gives each sliding layer its window."""
    rule = RULES.get(config.model_type, PLAIN)
    if not isinstance(rule, Windows):
        return True
    return rule.by_layer and (rule.derive is not None or _map_has(config, SLIDING))


def _map_has(config: ModelConfig, word: str) -> bool:
    types = config.text_fields.get("layer_types")
    return isinstance(types, list | tuple) and word in types


def _one_window(config: ModelConfig) -> int:
    """cache_config.sliding_window; 0 for none."""
    caches = {cache for layer in config.layers for cache in layer if isinstance(cache, AttentionCache)}
    windows = {cache.sliding_window if cache.kind == "sliding" else 0 for cache in caches}
    stated = config.text_fields.get("sliding_window")
    types = config.text_fields.get("layer_types")
    if stated is None and windows <= {0}:
        return 0
    if isinstance(RULES.get(config.model_type, PLAIN), Windows):
        return windows.pop() if len(windows) == 1 else 0
    if isinstance(types, list | tuple) and len({str(word) for word in types}) > 1:
        return 0
    if config.model_type.startswith(FILLED_MAPS) and len(windows) > 1:
        return 0
    if windows == {stated}:
        return windows.pop()
    raise EngineArgsError(
        "speculative",
        f"A draft model beside {config.model_type} is not planned here: its layers would take a window that this "
        "planner does not know.",
        from_vllm=False,
    )
