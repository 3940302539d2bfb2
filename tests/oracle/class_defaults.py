# ruff: noqa: E402
# mypy: ignore-errors
"""Writes snippets/model_config/class_defaults.json: what the config classes of transformers and vLLM fill in.

usage: PYTHONPATH=. ORACLE_ENV/bin/python tests/oracle/class_defaults.py > snippets/model_config/class_defaults.json
Static defaults alone (of dataclass fields and __init__), for the model types the reader has a rule for.
"""

import dataclasses
import inspect
import json
import sys

import vllm.platforms
from vllm.platforms.cpu import CpuPlatform

vllm.platforms._current_platform = CpuPlatform()
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from vllm.model_executor.models.registry import ModelRegistry
from vllm.transformers_utils.config import _CONFIG_REGISTRY

from snippets.model_config.layers.rules import RULES

FIELDS = """num_hidden_layers hidden_size num_attention_heads num_key_value_heads head_dim vocab_size intermediate_size
max_position_embeddings n_layer n_head n_embd n_positions n_layers n_heads d_model max_seq_len seq_length num_layers
model_max_length sliding_window max_window_layers attention_chunk_size no_rope_layer_interval sliding_window_pattern
kv_lora_rank q_lora_rank qk_rope_head_dim qk_nope_head_dim v_head_dim index_topk index_head_dim index_n_heads
linear_conv_kernel_dim linear_key_head_dim linear_value_head_dim linear_num_key_heads linear_num_value_heads
attn_layer_period attn_layer_offset mamba_expand mamba_d_state mamba_d_conv mamba_n_groups mamba_n_heads mamba_d_head
mamba_d_ssm state_size conv_kernel expand n_groups num_heads ssm_state_size mamba_num_heads mamba_head_dim conv_L_cache
conv_dim global_head_dim num_kv_shared_layers num_kv_heads n_head_kv multi_query_group_num num_attention_groups
decoder_layers encoder_layers decoder_attention_heads encoder_attention_heads max_source_positions max_target_positions
num_experts num_local_experts n_routed_experts moe_num_experts num_nextn_predict_layers mtp_num_hidden_layers"""
RENAMED = (
    "num_hidden_layers", "hidden_size", "num_attention_heads", "max_position_embeddings", "num_kv_heads", "n_head_kv",
    "intermediate_size", "num_key_value_heads", "vocab_size",
)  # fmt: skip
# Later transformers turned this field into per-layer settings; vLLM 0.26.0 reads the field (gemma4.py).
KEPT = {"gemma4_text": {"global_head_dim": 512}, "gemma4_unified_text": {"global_head_dim": 512}}


def config_class(model_type):
    """The class vLLM would take; None for remote code."""
    try:
        return _CONFIG_REGISTRY[model_type] if model_type in _CONFIG_REGISTRY else CONFIG_MAPPING[model_type]
    except KeyError:
        return None


def static_defaults(cls):
    """Whole-number defaults that do not depend on other fields."""
    found = {}
    if dataclasses.is_dataclass(cls):
        found = {field.name: field.default for field in dataclasses.fields(cls)}
    if "__init__" in vars(cls) or not found:
        found |= {name: parameter.default for name, parameter in inspect.signature(cls.__init__).parameters.items()}
    return {name: value for name, value in found.items() if type(value) is int}


def text_types():
    """model_type of a composite's decoder, for decoders the reader knows."""
    found = {}
    for model_type in sorted({*CONFIG_MAPPING.keys(), *_CONFIG_REGISTRY.keys()}):
        try:
            config = config_class(model_type)()
            text = config.get_text_config()
        except Exception:
            continue
        if text is not config and text.model_type in RULES:
            found[model_type] = text.model_type
    return found


def main():
    defaults, aliases = {}, {}
    for model_type in sorted(RULES):
        cls = config_class(model_type)
        if cls is None:
            continue
        found, renamed = static_defaults(cls), getattr(cls, "attribute_map", None) or {}
        row = {name: found[name] for name in FIELDS.split() if name in found}
        for name, native in renamed.items():
            if name in FIELDS.split() and native in found:
                row[name] = found[native]
                row.pop(native, None)
        defaults[model_type] = row | KEPT.get(model_type, {})
        if own := {name: native for name, native in renamed.items() if name in RENAMED}:
            aliases[model_type] = own
    source = (
        f"transformers {transformers.__version__} and vLLM 0.26.0 transformers_utils/configs: "
        "defaults of their config classes, by model_type"
    )
    lines = ["{", f' "source": {json.dumps(source)},', f' "text_model_type": {json.dumps(text_types())},']
    lines += [
        f' "aliases": {json.dumps(aliases)},',
        f' "served": {json.dumps(sorted(ModelRegistry.get_supported_archs()))},',
    ]
    lines += [
        ' "defaults": {',
        ",\n".join(f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in defaults.items()),
        " }",
        "}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")


main()
