"""A config cut down to the fields that count: what a short link carries instead of the whole file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from snippets.model_config.model_config import ModelConfig

# Fields that count weights (not the cache); they ride along where the config has them.
WEIGHT_FIELDS = (
    "tie_word_embeddings", "moe_intermediate_size", "shared_expert_intermediate_size", "n_shared_experts",
    "num_shared_experts", "first_k_dense_replace", "moe_layer_freq", "mlp_only_layers", "decoder_sparse_step",
    "num_experts_per_tok", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim",
    "attention_bias", "mlp_bias", "qkv_bias", "index_n_heads", "index_head_dim", "interleave_moe_layer_step",
    "attn_output_gate", "mtp_num_hidden_layers", "num_nextn_predict_layers", "hidden_size_per_layer_input",
    "vocab_size_per_layer_input", "o_lora_rank", "o_groups", "mamba_dt_rank", "expert_layer_period",
    "expert_layer_offset", "moe_shared_expert_intermediate_size", "moe_latent_size", "mlp_layer_types",
)  # fmt: skip


def reduce(config: ModelConfig, keep: Iterable[str] = WEIGHT_FIELDS) -> dict[str, object]:
    """The part of `config.fields` that the reader used, and the fields of `keep` at the top or in the decoder's part.

    Reading the result gives an equal ModelConfig, `fields`, `text_fields` and `used` aside. A side file is not in it.
    """
    reduced: dict[str, object] = {}
    for name in config.used:
        _copy(config.fields, reduced, tuple(name.split(".")))
    path = _path_to(config.fields, config.text_fields, 3) or ()
    for name in keep:
        for prefix in {(), path}:
            _copy(config.fields, reduced, (*prefix, name))
    return reduced


def _path_to(fields: Mapping[str, object], wanted: Mapping[str, object], depth: int) -> tuple[str, ...] | None:
    """Where one object stands inside another."""
    if fields is wanted:
        return ()
    for name, value in fields.items():
        if depth and isinstance(value, Mapping) and (found := _path_to(value, wanted, depth - 1)) is not None:
            return (name, *found)
    return None


def _copy(source: Mapping[str, object], target: dict[str, object], path: tuple[str, ...]) -> None:
    """Copy one dotted field if the source has it."""
    name, rest = path[0], path[1:]
    if name not in source:
        return
    value = source[name]
    if not rest:
        target[name] = value
    elif isinstance(value, Mapping):
        child = target.setdefault(name, {})
        if isinstance(child, dict) and child is not value:
            _copy(value, child, rest)
