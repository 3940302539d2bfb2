"""Which rule a config gets: by its decoder's model_type, by its class, or as the plain decoder it plainly is."""

from __future__ import annotations

import re
from collections.abc import Mapping

from snippets.model_config.fields import Fields, shown
from snippets.model_config.layers.rules import RULES, Rule
from snippets.model_config.layers.windows import PLAIN
from snippets.model_config.model_config import ConfigError

# Names of fields that say a layer may keep something else than plain keys and values.
HINTS = re.compile(
    r"layer_types|layer_pattern|block_type|block_config|layers_block|hybrid|sliding|window|lora_rank|ssm|mamba|conv|linear_"
    r"|compress|chunk|recurr|rwkv|retention|cross_attention|kv_shar|shared_kv|indexer|index_|global_|attn_type|attention_type"
    r"|latent|v_head_dim|nope|swa_|state_size|memory|cache_|lightning|decay|loop|ut_steps|per_layer_config|kv_heads_per|sparse|cycles"
)
HARMLESS = ("use_cache", "index_topk_freq", "cache_implementation", "image_token_index", "pad_token_index")
GENERATES = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration", "ChatModel")
NEEDED = ("num_hidden_layers", "hidden_size", "num_attention_heads")


def pick_rule(model_type: str, architecture: str, text: Fields, root: Fields) -> Rule:
    """The rule for a model. Raises ConfigError naming what is not known."""
    rule = RULES.get(model_type)
    if rule is not None:
        return rule
    if root.flag("is_encoder_decoder"):
        raise root.error(
            "is_encoder_decoder", f"is true: of encoder-decoders Whisper is known, not {_model(model_type)}."
        )
    return _plain(model_type, architecture, text)


def _model(model_type: str) -> str:
    return f'model_type "{model_type}"' if model_type else "a config without model_type"


def _plain(model_type: str, architecture: str, text: Fields) -> Rule:
    """A plain decoder's rule for an unknown model_type, if nothing in it hints at another cache."""
    if not any(text.has(key) for key in NEEDED):
        raise ConfigError(
            text.name("model_type"),
            f"This is no model's config.json: {_model(model_type)}, and none of {', '.join(NEEDED)} is there.",
        )
    if not architecture.endswith(GENERATES) or HINTS.search(model_type) or not text.has("num_key_value_heads"):
        state = f"is {shown(model_type)}, which is not known here" if model_type else "is missing"
        raise text.error(
            "model_type",
            f"{state}. Only a class that generates text, with num_key_value_heads in its config, is read as a plain "
            "decoder. Give the layer specs directly.",
        )
    for key, value in text.values.items():
        if key in HARMLESS or not HINTS.search(key) or _says_nothing(value):
            continue
        raise text.error(
            key, f"is {shown(value)}, and {_model(model_type)} is not known here: its layers may cache something else."
        )
    text.note(
        f"{_model(model_type)[:1].upper()}{_model(model_type)[1:]} is not known here: read as a plain decoder, "
        "every layer keeping keys and values of all its KV heads."
    )
    return PLAIN


def _says_nothing(value: object) -> bool:
    """Whether a hinting field is switched off: null, false, 0, empty, or a map of full attention alone."""
    if isinstance(value, list | tuple):
        return all(item in ("full_attention", "attention") for item in value)
    return value is None or value is False or value == 0 or (isinstance(value, Mapping) and not value)
