"""Speculative decoding: the drafter's layers, and what vLLM refuses of it (config/speculative.py)."""

from __future__ import annotations

from dataclasses import replace

from snippets.model_config.model_config import AttentionCache, Layer, ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError, SpeculativeConfig

WITHOUT_CACHE = ("ngram", "ngram_gpu", "suffix", "medusa", "mlp_speculator")
WITH_DRAFT = ("eagle", "eagle3", "draft_model")
NOT_PLANNED = ("dflash", "dspark", "extract_hidden_states", "custom_class")
METHODS = ("mtp", *WITH_DRAFT, *WITHOUT_CACHE)

MTP_TYPES = {  # model_type → where the checkpoint counts its MTP layers (config/speculative.py hf_config_override)
    "deepseek_v3": "num_nextn_predict_layers",
    "deepseek_v32": "num_nextn_predict_layers",
    "glm_moe_dsa": "num_nextn_predict_layers",
    "glm4_moe": "num_nextn_predict_layers",
    "glm4_moe_lite": "num_nextn_predict_layers",
    "mimo": "num_nextn_predict_layers",
    "ernie4_5_moe": "num_nextn_predict_layers",
    "qwen3_next": "num_nextn_predict_layers",
    "qwen3_5": "mtp_num_hidden_layers",
    "qwen3_5_moe": "mtp_num_hidden_layers",
    "qwen3_5_text": "mtp_num_hidden_layers",
    "qwen3_5_moe_text": "mtp_num_hidden_layers",
    "hy_v3": "num_nextn_predict_layers",
}
MTP_DEFAULT_LAYERS = {"qwen3_next": 1, "qwen3_5": 1, "qwen3_5_moe": 1}  # the class's own default where none is stated


def verify_speculative(config: ModelConfig, speculative: SpeculativeConfig) -> None:
    """Refuse what vLLM refuses, and name what this planner does not plan."""
    method, tokens = speculative.method, speculative.num_speculative_tokens
    if method in NOT_PLANNED:
        raise EngineArgsError(
            "speculative",
            f"speculative method {method!r} is not planned here; choose one of \
{', '.join(METHODS)}",
        )
    if method not in METHODS:
        raise EngineArgsError(
            "speculative",
            f"Unsupported speculative method: {method!r}; vLLM 0.26.0 knows \
{', '.join((*METHODS, *NOT_PLANNED))}",
        )
    if tokens < 1:
        raise EngineArgsError("speculative", f"Expected num_speculative_tokens to be greater than zero ({tokens}).")
    if method in WITH_DRAFT:
        _verify_draft(config, speculative)
    if method == "mtp":
        _verify_mtp(config, tokens)


def _verify_draft(config: ModelConfig, speculative: SpeculativeConfig) -> None:
    draft = speculative.draft
    if draft is None:
        raise EngineArgsError("speculative", "num_speculative_tokens was provided but without speculative model.")
    if speculative.method == "draft_model" and draft.vocab_size != config.vocab_size:
        raise EngineArgsError(
            "speculative",
            "Target and draft model should have the same vocabulary size. "
            f"Target model vocab_size={config.vocab_size}. Draft model vocab_size={draft.vocab_size}. "
            "Using models with different tokenizers can cause out-of-bounds errors during speculative decoding.",
        )


def _verify_mtp(config: ModelConfig, tokens: int) -> None:
    if config.model_type not in MTP_TYPES:
        raise EngineArgsError(
            "speculative",
            f"Unsupported speculative method: 'mtp' for {config.model_type}: \
MTP layers are planned for {', '.join(MTP_TYPES)}",
        )
    layers = mtp_layers(config)
    if layers < 1:
        raise EngineArgsError(
            "speculative", f"this checkpoint has no MTP layers ({MTP_TYPES[config.model_type]} is absent or 0)"
        )
    if tokens > layers and tokens % layers:
        raise EngineArgsError("speculative", f"num_speculative_tokens:{tokens} must be divisible by n_predict={layers}")


def mtp_layers(config: ModelConfig) -> int:
    """MTP layers that the drafter builds."""
    return config.num_nextn_predict_layers or MTP_DEFAULT_LAYERS.get(config.model_type, 0)


def drafter_config(config: ModelConfig, args: EngineArgs) -> ModelConfig | None:
    """The drafter as a model of its own, None where the method keeps no cache."""
    speculative = args.speculative
    if speculative is None or speculative.method in WITHOUT_CACHE:
        return None
    if speculative.method == "mtp":
        return replace(config, layers=(_mtp_layer(config),) * mtp_layers(config))
    return speculative.draft


def _mtp_layer(config: ModelConfig) -> Layer:
    """An MTP layer attends to everything: the last layer of the target that does (with its indexer)."""
    for layer in reversed(config.layers):
        kinds = {cache.kind for cache in layer if isinstance(cache, AttentionCache)}
        if kinds & {"full", "mla"}:
            return tuple(cache for cache in layer if isinstance(cache, AttentionCache))
    raise EngineArgsError("speculative", f"{config.architecture} has no layer of full attention for an MTP layer")
