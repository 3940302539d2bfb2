"""A config cut down to the fields that count: what a short link carries instead of the whole file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from snippets.model_config.model_config import ModelConfig

# Fields that the planner reads beside the reader (weights, rotary tables, state dtypes), where the config has them.
WEIGHT_FIELDS = (
    "add_bias_linear", "add_full_attention_sink_bias", "add_qkv_bias", "add_swa_attention_sink_bias",
    "attention_bias", "attention_chunk_size", "attention_out_bias", "attention_qkv_bias", "attention_sink_bias",
    "attn_output_gate", "audio_config", "bias", "chunk_size", "decoder_ffn_dim", "decoder_sparse_step",
    "encoder_attention_heads", "encoder_ffn_dim", "encoder_layers", "expert_layer_offset", "expert_layer_period",
    "ffn_config", "ffn_hidden_size", "first_k_dense_replace", "hc_mult", "hidden_size",
    "hidden_size_per_layer_input", "index_head_dim", "index_n_heads", "index_topk", "indexer_rope_interleave",
    "interleave_moe_layer_step", "intermediate_size", "intermediate_size_mlp", "is_mm_prefix_lm", "kv_lora_rank",
    "mamba_chunk_size", "mamba_conv_bias", "mamba_dt_rank", "mamba_proj_bias", "mamba_rms_norm",
    "mamba_ssm_cache_dtype", "mamba_ssm_dtype", "max_source_positions", "mlp_bias", "mlp_layer_types",
    "mlp_only_layers", "moe_intermediate_size", "moe_latent_size", "moe_layer_freq",
    "moe_shared_expert_intermediate_size",
    "mtp_hybrid_override_pattern", "mtp_num_hidden_layers", "multimodal_projector_bias", "n_positions",
    "n_routed_experts", "n_shared_experts", "no_bias", "num_experts", "num_experts_per_tok", "num_hash_layers",
    "num_local_experts", "num_mel_bins", "num_nextn_predict_layers", "num_shared_experts", "o_groups",
    "o_lora_rank", "parallel_attn", "projector_input_dim", "projector_output_dim", "q_lora_rank",
    "qk_nope_head_dim", "qk_norm", "qk_rope_head_dim", "qkv_bias", "shared_expert_intermediate_size",
    "spatial_merge_size", "tie_embedding", "tie_word_embeddings", "topk_method", "use_bias",
    "use_bidirectional_attention", "use_conv_bias", "use_qk_norm", "v_head_dim", "vision_config",
    "vision_feature_layer", "vocab_size_per_layer_input", "word_embed_proj_dim",
    "max_position_embeddings", "partial_rotary_factor", "rope_theta", "sliding_window", "swa_rope_theta",
    *(
        f"{rope}.{name}" for rope in ("rope_parameters", "rope_scaling") for name in (
            "factor", "full_attention", "mrope_section", "original_max_position_embeddings", "partial_rotary_factor",
            "rope_type", "sliding_attention", "type",
        )
    ),
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
            _copy(config.fields, reduced, (*prefix, *name.split(".")))
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
