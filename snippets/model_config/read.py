"""From a config.json to a ModelConfig: the two functions the rest of the site calls."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from snippets.model_config.dtypes import auto_dtype
from snippets.model_config.fields import Fields, Record, shown
from snippets.model_config.json_text import other_file, parse
from snippets.model_config.layers.mamba import idle_state
from snippets.model_config.layers.mla import uses_mla
from snippets.model_config.layers.pick import pick_rule
from snippets.model_config.lengths import lengths
from snippets.model_config.model_config import ConfigError, ModelConfig
from snippets.model_config.nesting import text_fields
from snippets.model_config.quantization import read_quantization
from snippets.model_config.registry import beside_the_config, is_pooling, stranger, unsupported
from snippets.model_config.sizes import read_decoder
from snippets.model_config.traits import encoder_tokens, is_multimodal, mtp_layers, num_experts


def read_text(text: str, quant_text: str | None = None) -> ModelConfig:
    """Read a config.json as text, and hf_quant_config.json beside it where there is one.

    Raises ConfigError with line and column where the text is not JSON, with the field where a value is at fault.
    """
    repeated: list[str] = []
    fields = parse(text, repeated)
    config = read_config(fields, parse(quant_text) if quant_text is not None else None)
    notes = tuple(
        f"{shown(name)} stands twice in one object: the last one counts." for name in list(dict.fromkeys(repeated))[:5]
    )
    return dataclasses.replace(config, notes=config.notes + notes)


def read_config(fields: Mapping[str, object], quant_fields: Mapping[str, object] | None = None) -> ModelConfig:
    """Read a config.json that is already parsed. Raises ConfigError naming the field at fault."""
    wrong = other_file(fields)
    if wrong is not None:
        raise ConfigError("", wrong)
    record = Record()
    root = Fields(fields, record)
    text, model_type = text_fields(root)
    architecture = _architecture(root)
    rule = pick_rule(model_type, architecture, text, root)
    decoder = read_decoder(text, root, model_type, architecture)
    layers = rule(decoder)
    pooling = is_pooling(architecture)
    length = lengths(text, model_type)
    root_type = root.text("model_type") or model_type
    tokens = encoder_tokens(text, root, model_type)
    config = ModelConfig(
        architecture=architecture,
        model_type=model_type,
        layers=layers,
        hidden_size=decoder.hidden_size,
        num_attention_heads=decoder.num_heads,
        num_kv_heads=decoder.num_kv_heads,
        vocab_size=text.optional_integer("vocab_size") or root.optional_integer("vocab_size"),
        intermediate_size=_intermediate_size(text),
        max_model_len=length.longest,
        max_model_len_key=length.key,
        dtype=auto_dtype(root, text, root_type, pooling),
        quantization=read_quantization(root, text, quant_fields),
        num_experts=num_experts(text),
        is_multimodal=is_multimodal(root, model_type),
        is_encoder_decoder=tokens > 0,
        max_encoder_tokens=tokens,
        num_nextn_predict_layers=mtp_layers(text),
        fields=fields,
        text_fields=text.values,
        used=(),
        notes=(),
        head_size=decoder.head_size,
        use_mla=uses_mla(model_type, text),
        default_max_model_len=length.default,
        is_pooling=pooling,
        unsupported=unsupported(architecture),
        idle_state=idle_state(decoder, layers),
    )
    return dataclasses.replace(config, used=tuple(record.used), notes=tuple(record.notes))


def _architecture(root: Fields) -> str:
    names = root.items("architectures")
    if not names:
        root.note("The config names no architectures: vLLM needs --hf-overrides for it, or takes it for an embedder.")
        return ""
    if not isinstance(names[0], str):
        raise root.error("architectures[0]", f"is {shown(names[0])}: a class name is needed there.")
    for note in (stranger(names[0]), beside_the_config(names[0])):
        if note:
            root.note(note)
    return names[0]


def _intermediate_size(text: Fields) -> int | None:
    """Of the widest dense MLP; Gemma 3n gives one number per layer."""
    for key in ("intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "decoder_ffn_dim"):
        value = text.raw(key)
        if isinstance(value, list | tuple):
            return max(text.integers(key, minimum=1) or (0,)) or None
        if value is not None:
            return text.integer(key, minimum=0) or None
    return None
