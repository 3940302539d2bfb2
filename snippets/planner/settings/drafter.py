"""Speculative decoding: the drafter's layers, and what vLLM refuses of it (config/speculative.py)."""

from __future__ import annotations

from dataclasses import replace

from snippets.model_config.model_config import AttentionCache, Layer, ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError, SpeculativeConfig
from snippets.planner.mtp import drafts_by_mtp
from snippets.planner.settings.drafter_windows import with_windows_of
from snippets.planner.settings.kind import is_attention_free

WITHOUT_CACHE = ("ngram", "ngram_gpu", "suffix", "medusa")
WITH_DRAFT = ("eagle", "eagle3", "draft_model")
NOT_PLANNED = ("dflash", "dspark", "extract_hidden_states", "custom_class", "mlp_speculator")
WITH_PIPELINE = ("nemotron_h", "nemotron_h_puzzle", "glm4_moe_lite")  # their MTP classes have SupportsPP, no others
WITH_MODEL = (*WITH_DRAFT, "medusa", "mlp_speculator", "dflash")  # config/speculative.py:748: refused without one
METHODS = ("mtp", *WITH_DRAFT, *WITHOUT_CACHE)
WITH_PATTERN = ("nemotron_h", "nemotron_h_puzzle")
# MTP classes whose layers read the drafter's config, and all else the target's (deepseek_mtp.py:87)
READ_BOTH = ("deepseek_v3", "deepseek_v32", "glm_moe_dsa", "deepseek_v4", "glm4_moe_lite")
DESCRIBING = ("_name_or_path", "auto_map", "transformers_version", "torch_dtype", "dtype", "use_cache")  # no size

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
    "nemotron_h": "num_nextn_predict_layers",
    "nemotron_h_puzzle": "num_nextn_predict_layers",
    "mimo_v2_flash": "one, in vLLM 0.26.0",
    "mimo_v2": "one, in vLLM 0.26.0",
    "deepseek_v4": "num_nextn_predict_layers",
}
MTP_DEFAULT_LAYERS = {"qwen3_next": 1, "qwen3_5": 1, "qwen3_5_moe": 1}  # the class's own default where none is stated


def verify_speculative(config: ModelConfig, args: EngineArgs) -> None:
    """Refuse what vLLM refuses, and name what this planner does not plan."""
    speculative = args.speculative
    if speculative is None:
        return
    method, tokens = speculative.method, speculative.num_speculative_tokens
    if method in WITH_MODEL and speculative.draft is None:
        raise EngineArgsError("speculative", "num_speculative_tokens was provided but without speculative model.")
    if method in NOT_PLANNED:
        raise EngineArgsError(
            "speculative",
            f"speculative method {method!r} is not planned here; choose one of {', '.join(METHODS)}",
            from_vllm=False,
        )
    if method not in METHODS:
        raise EngineArgsError(
            "speculative",
            f"Unsupported speculative method: {method!r}; vLLM 0.26.0 knows \
{', '.join((*METHODS, *NOT_PLANNED))}",
        )
    if tokens < 1:
        raise EngineArgsError("speculative", f"Expected num_speculative_tokens to be greater than zero ({tokens}).")
    if method == "draft_model":
        _verify_vocabulary(config, speculative)
        _verify_states(config, speculative)
    if method == "mtp":
        _verify_mtp(config, speculative)
    if args.pipeline_parallel_size > 1 and (
        method in ("eagle", "eagle3", "medusa") or (method == "mtp" and config.model_type not in WITH_PIPELINE)
    ):
        raise EngineArgsError(
            "pipeline_parallel_size",
            "Pipeline parallelism is not supported for this model. Supported models implement the `SupportsPP` "
            f"interface. The drafter of method {method} does not (config/speculative.py:1198).",
        )


def _verify_vocabulary(config: ModelConfig, speculative: SpeculativeConfig) -> None:
    draft = speculative.draft
    if draft is not None and draft.vocab_size != config.vocab_size:
        raise EngineArgsError(
            "speculative",
            "Target and draft model should have the same vocabulary size. "
            f"Target model vocab_size={config.vocab_size}. Draft model vocab_size={draft.vocab_size}. "
            "Using models with different tokenizers can cause out-of-bounds errors during speculative decoding.",
        )


def _verify_states(config: ModelConfig, speculative: SpeculativeConfig) -> None:
    """The drafter's class changes the settings of states once the target's stand (models/config.py:555)."""
    draft = speculative.draft
    if (
        draft is not None
        and draft.architecture != config.architecture
        and (draft.is_hybrid or is_attention_free(draft))
    ):
        raise EngineArgsError(
            "speculative",
            f"A draft model with recurrent layers ({draft.architecture}) is not planned here beside another class.",
            from_vllm=False,
        )


def _verify_mtp(config: ModelConfig, speculative: SpeculativeConfig) -> None:
    drafter, tokens = speculative.draft or config, speculative.num_speculative_tokens
    if not drafts_by_mtp(drafter):
        raise EngineArgsError("speculative", f"Unsupported speculative method: 'mtp' for {_type_of(drafter)}")
    if config.model_type not in MTP_TYPES:
        raise EngineArgsError(
            "speculative",
            f"MTP layers beside {config.model_type} are not planned here: they are for {', '.join(MTP_TYPES)}",
            from_vllm=False,
        )
    if speculative.draft is not None:
        _verify_mtp_draft(config, speculative.draft)
    layers = mtp_layers(config)
    if layers < 1:
        raise EngineArgsError(
            "speculative", f"this checkpoint has no MTP layers ({MTP_TYPES[config.model_type]} is absent or 0)"
        )
    if tokens > layers and tokens % layers:
        raise EngineArgsError("speculative", f"num_speculative_tokens:{tokens} must be divisible by n_predict={layers}")


def _verify_mtp_draft(config: ModelConfig, draft: ModelConfig) -> None:
    """vLLM takes the class from the drafter's config and sizes from the target's; some classes read both."""
    if config.model_type in WITH_PATTERN and mtp_layers(config) != 1 and draft.model_type in WITH_PATTERN:
        raise EngineArgsError("speculative", "Only one MTP layer is supported for NemotronH-MTP")
    is_kin = (_type_of(draft), draft.architecture) == (_type_of(config), config.architecture)
    reads_both = config.model_type in READ_BOTH
    if is_kin and mtp_layers(draft) == mtp_layers(config) and (not reads_both or _sizes(draft) == _sizes(config)):
        return
    raise EngineArgsError(
        "speculative",
        f"MTP layers of another model ({_type_of(draft)}) are not planned here: vLLM 0.26.0 mixes both configs. Leave "
        "the drafter's model out to draft with the model's own MTP layers.",
        from_vllm=False,
    )


def _type_of(config: ModelConfig) -> str:
    """model_type of the whole config: vLLM goes by it."""
    return str(config.fields.get("model_type", config.model_type))


def _sizes(config: ModelConfig) -> dict[str, object]:
    return {name: value for name, value in config.text_fields.items() if name not in DESCRIBING}


def mtp_layers(config: ModelConfig) -> int:
    """MTP layers that the drafter builds; vLLM 0.26.0 takes the first alone of MiMo-V2's."""
    if config.model_type.startswith("mimo_v2"):
        return 1
    return config.num_nextn_predict_layers or MTP_DEFAULT_LAYERS.get(config.model_type, 0)


def drafter_config(config: ModelConfig, args: EngineArgs) -> ModelConfig | None:
    """The drafter as a model of its own, None where the method keeps no cache."""
    speculative = args.speculative
    if speculative is None or speculative.method in WITHOUT_CACHE:
        return None
    if speculative.method == "mtp":
        return replace(config, layers=_mtp_step(config) * mtp_layers(config))
    return with_windows_of(config, speculative.draft) if speculative.draft is not None else None


def _mtp_step(config: ModelConfig) -> tuple[Layer, ...]:
    """Layers of one MTP step. Nemotron-H's follow a pattern of their own, MiMo-V2's attend to the window."""
    if config.model_type in WITH_PATTERN:
        pattern = config.text_fields.get("mtp_hybrid_override_pattern")
        if not isinstance(pattern, str) or not pattern:
            raise EngineArgsError("speculative", "mtp_hybrid_override_pattern is missing: it says what an MTP step is")
        attention = _last(config, "full")
        return tuple(attention if letter == "*" else () for letter in pattern)
    if config.model_type.startswith("mimo_v2"):
        return (_last(config, "sliding"),)
    if config.model_type == "deepseek_v4":
        return (tuple(c for c in _last(config, "sliding_mla") if c.kind == "sliding_mla"),)
    return (_last(config, "full", "mla"),)


def _last(config: ModelConfig, *kinds: str) -> Layer:
    """The attention of the target's last layer of one of these kinds, with its indexer."""
    for layer in reversed(config.layers):
        attention = tuple(cache for cache in layer if isinstance(cache, AttentionCache))
        if {cache.kind for cache in attention} & set(kinds):
            return attention
    raise EngineArgsError("speculative", f"{config.architecture} has no layer of kind {' or '.join(kinds)} for MTP")
