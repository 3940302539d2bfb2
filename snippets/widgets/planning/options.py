"""The lists to choose from: models and cards of the catalog, and vLLM's own choices."""

from __future__ import annotations

from snippets.catalog.configs import config_entries
from snippets.catalog.gpus import gpus
from snippets.planner.settings.drafter import METHODS, WITH_DRAFT
from snippets.planner.settings.dtypes import KV_CACHE_DTYPES
from snippets.widgets.declare import Option

PASTE, OTHER_CARD, NONE = "paste", "other", "none"

# Beginnings of a catalog key, and the heading of its family; the rest stand under the last.
FAMILIES = (
    ("qwen", "Qwen"),
    ("llama", "Llama"),
    ("mistral mixtral devstral", "Mistral"),
    ("gemma", "Gemma"),
    ("deepseek kimi glm mimo", "DeepSeek, Kimi, GLM, MiMo"),
    ("gpt-oss", "gpt-oss"),
    ("jamba falcon nemotron-h nemotron-3", "Recurrent state and hybrids"),
    ("", "Others"),
)
CARD_FAMILIES = (("rtx gb10", "GeForce, RTX and Spark"), ("mi", "AMD Instinct"), ("", "Data centre"))
WORDS = {
    "paste": "Your own: paste a config.json",
    "own": "Yours",
    "other card": "Another card, by its memory",
    "none": "off",
    "auto": "auto: as the checkpoint says",
    "fp8_ds_mla": "fp8_ds_mla (DeepSeek's MLA)",
}


def _heading(key: str, families: tuple[tuple[str, str], ...]) -> int:
    return next(i for i, (starts, _) in enumerate(families) if not starts or key.startswith(tuple(starts.split())))


def _grouped(names: dict[str, str], families: tuple[tuple[str, str], ...]) -> tuple[Option, ...]:
    """Options under their headings, the catalog's order inside each."""
    ordered = sorted(names, key=lambda key: _heading(key, families))
    return tuple(Option(key, names[key], families[_heading(key, families)][1]) for key in ordered)


def models() -> tuple[Option, ...]:
    """Every model of the catalog, and one's own."""
    names = {key: entry.name for key, entry in config_entries().items()}
    return (Option(PASTE, WORDS["paste"], WORDS["own"]), *_grouped(names, FAMILIES))


def cards() -> tuple[Option, ...]:
    """Every card of the catalog, and any other."""
    names = {key: card.name for key, card in gpus().items()}
    return (*_grouped(names, CARD_FAMILIES), Option(OTHER_CARD, WORDS["other card"], WORDS["own"]))


def kv_cache_dtypes() -> tuple[Option, ...]:
    """vLLM's --kv-cache-dtype."""
    return tuple(Option(name, WORDS.get(name, name)) for name in KV_CACHE_DTYPES)


def methods() -> tuple[Option, ...]:
    """Speculative methods that are planned."""
    return (Option(NONE, WORDS["none"]), *(Option(name, name) for name in METHODS))


def drafters() -> tuple[Option, ...]:
    """Drafters of the catalog for the methods that need one, and one's own."""
    return models()


def needs_draft(method: str) -> bool:
    """Whether a method brings a drafter with a config of its own."""
    return method in WITH_DRAFT
