"""Whether a plan can be made of a pasted config: fields that are right one by one may still leave nothing to count."""

from __future__ import annotations

from snippets.model_config.model_config import ConfigError
from snippets.widgets.declare import Values
from snippets.widgets.planning import options
from snippets.widgets.planning.question import answered

WORDS = {"uncountable": "vLLM could make no layers of this config.json: {reason}."}
PASTED = (("model", "config"), ("drafter", "draft_config"))


def uncountable(values: Values) -> dict[str, str]:
    """What is wrong with the pasted config, by control; nothing for a catalog's, whose faults would be ours."""
    pasted = [text for choice, text in PASTED if values[choice] == options.PASTE and str(values[text]).strip()]
    if not pasted:
        return {}
    try:
        answered(values)
    except ConfigError as error:
        return {pasted[0]: str(error)}
    except (ArithmeticError, LookupError) as error:  # vLLM divides and looks up the same, and stops too
        reason = f"{type(error).__name__}: {error}"
        return {pasted[0]: WORDS["uncountable"].format(reason=reason)}
    return {}
