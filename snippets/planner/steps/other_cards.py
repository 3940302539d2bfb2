"""Where no attention backend runs on the card: what the model needs in one line, and the cards that have it."""

from __future__ import annotations

from snippets.catalog.gpus import Gpu, MissingFactError, gpus
from snippets.model_config.model_config import ConfigError, ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings import resolve

NO_BACKEND = "No valid attention backend found"


def plain_line(config: ModelConfig, args: EngineArgs, card: Gpu) -> tuple[str, str]:
    """(what is needed and what the card has, the cards of the catalog that will do)."""
    able = [other for other in gpus().values() if _resolves(config, args, other)]
    needed = sorted({other.compute_capability for other in able if other.vendor == card.vendor})
    if not able:
        return "No card of the catalog has an attention kernel for this model with these settings.", ""
    names = ", ".join(other.name for other in able)
    if not needed:
        return "No card of this vendor has an attention kernel for this model.", f"Cards that have one: {names}."
    *most, last = map(_dotted, needed)
    capabilities = f"{', '.join(most)} or {last}" if most else last
    has = _dotted(card.compute_capability)
    return (
        f"This model's attention needs compute capability {capabilities}; this card has {has}.",
        f"Cards that have it: {names}.",
    )


def _resolves(config: ModelConfig, args: EngineArgs, card: Gpu) -> bool:
    try:
        resolve(config, args, card)
    except (EngineArgsError, ConfigError, MissingFactError):
        return False
    return True


def _dotted(capability: tuple[int, int]) -> str:
    return f"{capability[0]}.{capability[1]}"
