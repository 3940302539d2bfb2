"""How the controls look: what stands in the empty ones, where sliders stop, what does not apply."""

from __future__ import annotations

from bisect import bisect_left

from snippets.planner.plan import Plan
from snippets.planner.resolved import Resolved
from snippets.units import count
from snippets.widgets.declare import ControlState, Values
from snippets.widgets.planning import options
from snippets.widgets.planning.groups import POWERS
from snippets.widgets.planning.question import Answered, answered

WORDS = {
    "read": "{architecture}, {layers} layers",
    "resolved": "= {value}",
}


def _config_shown(found: Answered | None, values: Values) -> str:
    if found is None or values["model"] != options.PASTE:
        return ""
    config = found.question.config
    return WORDS["read"].format(architecture=config.architecture, layers=len(config.layers))


def _length(plan: Plan | None, resolved: Resolved | None, values: Values) -> ControlState:
    """Stops up to the model's own maximum; the slider stands at what is in force."""
    if plan is None:
        return ControlState()
    most = max(plan.config.max_model_len, 1)
    stops = tuple(str(n) for n in (*(power for power in POWERS if power < most), most))
    force = plan.cache.max_model_len if plan.cache else resolved.max_model_len if resolved else most
    at = min(bisect_left([int(stop) for stop in stops], force), len(stops) - 1)
    typed = str(values["max_model_len"])
    shown = "" if resolved is None or typed == str(force) or not typed else WORDS["resolved"].format(value=count(force))
    return ControlState(shown=shown, stops=stops, position=at, if_empty=str(force))


def looks(values: Values) -> dict[str, ControlState]:
    """Every control whose look depends on what is set."""
    found = answered(values)
    plan = found.plan if found else None
    resolved = plan.resolved if plan else None
    config = found.question.config if found else None
    method = str(values["method"])
    pasted = values["model"] == options.PASTE
    own_drafter = values["drafter"] == options.PASTE
    drafts = options.needs_draft(method)
    cards = found.question.cards if found else 1
    is_moe = config is not None and config.num_experts > 0

    def empty(name: str) -> ControlState:
        return ControlState(if_empty=getattr(resolved, name) if resolved else None)

    def asked(name: str) -> ControlState:
        value = getattr(resolved, name, None) if resolved else None
        value = resolved.dtype if resolved and value == "auto" else value
        shown = WORDS["resolved"].format(value=value) if value and str(values[name]) == "auto" else ""
        return ControlState(shown=shown)

    return {
        "config": ControlState(shown=_config_shown(found, values), hidden=not pasted),
        "gpu_gib": ControlState(hidden=values["gpu"] != options.OTHER_CARD),
        "max_model_len": _length(plan, resolved, values),
        "kv_cache_dtype": asked("kv_cache_dtype"),
        "dtype": asked("dtype"),
        "max_num_seqs": empty("max_num_seqs"),
        "max_num_batched_tokens": empty("max_num_batched_tokens"),
        "block_size": empty("block_size"),
        "enable_prefix_caching": _three(resolved.enable_prefix_caching if resolved else None, values),
        "enable_expert_parallel": ControlState(hidden=not is_moe and values["enable_expert_parallel"] == "no"),
        "num_speculative_tokens": ControlState(hidden=method == options.NONE),
        "drafter": ControlState(hidden=not drafts),
        "draft_config": ControlState(hidden=not (drafts and own_drafter)),
        "cards": ControlState(if_empty=cards),
    }


def _three(state: bool | None, values: Values) -> ControlState:
    if state is None or values["enable_prefix_caching"] != "auto":
        return ControlState()
    return ControlState(shown=WORDS["resolved"].format(value="on" if state else "off"))
