"""Where the decoder's fields stand: at the top, or in text_config and kin; and what absent ones default to."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from snippets.model_config.fields import Fields

# transformers' get_text_config and vLLM's own config classes (_CONFIG_ATTRS_MAPPING, language_config of DeepSeek-VL2)
NESTED = ("text_config", "llm_config", "language_config", "thinker_config", "wrapped_model_config")
# A nested config is published as the difference from its class, so it may lack its sizes; a whole one never does.
# Composite models whose config class also takes the decoder's fields at the top, and LLaVA's original form
FLAT = ("qwen2_vl", "qwen2_5_vl", "hunyuan_vl", "paddleocr_vl", "isaac", "fuyu", "llava")
SIZES = ("num_hidden_layers", "hidden_size", "num_attention_heads")
ALIASES: Mapping[str, tuple[str, ...]] = {
    "num_hidden_layers": ("n_layer", "n_layers", "num_layers"),
    "hidden_size": ("n_embd", "d_model", "n_embed"),
    "num_attention_heads": ("n_head", "n_heads"),
    "vocab_size": ("padded_vocab_size",),
}


@dataclass(frozen=True)
class ClassDefaults:
    """What transformers' config classes fill in, by model_type."""

    text_model_type: Mapping[str, str]  # of a composite model's decoder
    aliases: Mapping[str, Mapping[str, str]]  # canonical name → the name in the file
    defaults: Mapping[str, Mapping[str, int]]
    served: frozenset[str]  # class names vLLM 0.26.0 has (model_executor/models/registry.py)


@cache
def class_defaults() -> ClassDefaults:
    """The table of class_defaults.json, written by tests/oracle/class_defaults.py from the classes themselves."""
    data = json.loads(pkgutil.get_data("snippets.model_config", "class_defaults.json") or b"{}")
    return ClassDefaults(data["text_model_type"], data["aliases"], data["defaults"], frozenset(data["served"]))


def text_fields(root: Fields) -> tuple[Fields, str]:
    """The decoder's fields and its model_type."""
    found, model_type = root, root.text("model_type") or ""
    for _ in range(3):  # Qwen-Omni: thinker_config, then its text_config
        nested = [child for name in NESTED if (child := found.child(name)) is not None and child.values]
        if not nested:
            break
        found = nested[0]
        own = found.text("model_type")
        model_type = own or class_defaults().text_model_type.get(model_type, model_type)
    if found is root and model_type in class_defaults().text_model_type:
        if model_type not in FLAT:
            raise root.error("text_config", f'is missing: model_type "{model_type}" keeps its decoder there.')
        model_type = class_defaults().text_model_type[model_type]
    return with_defaults(found, model_type, is_nested=found is not root), model_type


def with_defaults(fields: Fields, model_type: str, is_nested: bool) -> Fields:
    """The same fields with the class's defaults and other names behind them."""
    table = class_defaults()
    defaults = dict(table.defaults.get(model_type, {}))
    if not is_nested:
        defaults = {key: value for key, value in defaults.items() if key not in SIZES}
    aliases = dict(ALIASES)
    for key, name in table.aliases.get(model_type, {}).items():
        aliases[key] = (name, *(other for other in aliases.get(key, ()) if other != name))
    return Fields(fields.values, fields.record, fields.path, defaults, aliases)
