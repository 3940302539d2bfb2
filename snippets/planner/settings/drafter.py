"""Speculative decoding: the drafter's layers, and what vLLM refuses of it (config/speculative.py)."""

from __future__ import annotations

from dataclasses import replace

from snippets.model_config.model_config import AttentionCache, Layer, ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError, SpeculativeConfig
from snippets.planner.mtp import MTP_TYPES, drafts_by_mtp, n_predict, num_mtp_layers
from snippets.planner.settings.drafter_windows import with_windows_of
from snippets.planner.settings.kind import has_state

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
    if draft is not None and draft.architecture != config.architecture and has_state(draft):
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
    if num_mtp_layers(config) < 1:
        raise EngineArgsError(
            "speculative", f"this checkpoint has no MTP layers ({MTP_TYPES[config.model_type]} is absent or 0)"
        )
    stated = n_predict(speculative.draft or config)
    if stated and tokens > stated and tokens % stated:
        raise EngineArgsError("speculative", f"num_speculative_tokens:{tokens} must be divisible by n_predict={stated}")


def _verify_mtp_draft(config: ModelConfig, draft: ModelConfig) -> None:
    """vLLM takes the class from the drafter's config and sizes from the target's; some classes read both."""
    if config.model_type in WITH_PATTERN and num_mtp_layers(config) != 1 and draft.model_type in WITH_PATTERN:
        raise EngineArgsError("speculative", "Only one MTP layer is supported for NemotronH-MTP")
    is_kin = (_type_of(draft), draft.architecture) == (_type_of(config), config.architecture)
    is_alike = config.model_type not in READ_BOTH or _sizes(draft) == _sizes(config)
    if is_kin and is_alike and num_mtp_layers(draft) == num_mtp_layers(config):
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


def drafter_config(config: ModelConfig, args: EngineArgs) -> ModelConfig | None:
    """The drafter as a model of its own, None where the method keeps no cache."""
    speculative = args.speculative
    if speculative is None or speculative.method in WITHOUT_CACHE:
        return None
    if speculative.method == "mtp":
        return replace(config, layers=_mtp_step(config) * num_mtp_layers(config))
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
