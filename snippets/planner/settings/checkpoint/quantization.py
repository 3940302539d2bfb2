"""Quantization method in force: the checkpoint's, under vLLM's name; a contradicting argument is refused."""

from __future__ import annotations

from snippets.model_config.model_config import ModelConfig, Quantization
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings.card import Card

METHODS = (
    "awq",
    "auto_awq",
    "fp8",
    "fbgemm_fp8",
    "fp_quant",
    "modelopt",
    "modelopt_fp4",
    "modelopt_mxfp8",
    "modelopt_mixed",
    "auto_gptq",
    "gptq",
    "gptq_marlin",
    "awq_marlin",
    "humming",
    "compressed-tensors",
    "bitsandbytes",
    "experts_int8",
    "quark",
    "moe_wna16",
    "torchao",
    "inc",
    "mxfp4",
    "gpt_oss_mxfp4",
    "deepseek_v4_fp8",
    "online",
    "fp8_per_tensor",
    "fp8_per_block",
    "fp8_per_channel",
    "int8_per_channel_weight_only",
    "nvfp4_per_token",
    "mxfp8",
)  # model_executor/layers/quantization/__init__.py
OVER_ANY_ARGUMENT = ("modelopt", "modelopt_fp4", "modelopt_mxfp8", "modelopt_mixed", "gpt_oss_mxfp4", "deepseek_v4_fp8")
FROM_CHECKPOINT = (
    "awq", "auto_awq", "awq_marlin", "gptq", "auto_gptq", "gptq_marlin", "modelopt", "modelopt_fp4", "modelopt_mxfp8",
    "modelopt_mixed", "moe_wna16", "inc", "compressed-tensors", "torchao", "quark",
)  # fmt: skip
DEPRECATED = ("fbgemm_fp8", "fp_quant")

OVERRIDES = {
    "gptq": ("auto_gptq", ("gptq", "gptq_marlin", "auto_gptq", "marlin")),
    "awq": ("auto_awq", ("awq", "awq_marlin", "auto_awq", "marlin")),
}  # checkpoint's method → (vLLM's, arguments that agree); override_quantization_method of auto_gptq.py, auto_awq.py

MIN_CAPABILITY = {
    "awq": 75,
    "auto_awq": 75,
    "awq_marlin": 75,
    "gptq": 60,
    "auto_gptq": 60,
    "gptq_marlin": 60,
    "bitsandbytes": 70,
    "experts_int8": 80,
    "fp8": 75,
    "modelopt": 89,
    "modelopt_fp4": 75,
    "modelopt_mxfp8": 80,
    "moe_wna16": 70,
    "mxfp4": 80,
    "gpt_oss_mxfp4": 80,
    "torchao": 75,
    "compressed-tensors": 70,
}  # get_min_capability of each config class

HALF, REVERSED = ("float16", "bfloat16"), ("bfloat16", "float16")
ACTIVATION_DTYPES = {
    "auto_awq": HALF,
    "auto_gptq": HALF,
    "inc": HALF,
    "quark": HALF,
    "fp8": REVERSED,
    "deepseek_v4_fp8": REVERSED,
    "modelopt": REVERSED,
    "modelopt_mixed": REVERSED,
    "experts_int8": REVERSED,
    "moe_wna16": REVERSED,
    "modelopt_fp4": (*REVERSED, "float8_e4m3fn"),
    "modelopt_mxfp8": ("bfloat16",),
    "gpt_oss_mxfp4": ("bfloat16",),
    "mxfp4": ("bfloat16",),
}  # get_supported_act_dtypes of each config class; the others take float32 too
UNREACHED = ("deepseek_v4", "mimo_v2")  # attention classes of their own, which do not look at this
WITH_CACHE_SCALES = ("fp8", "deepseek_v4_fp8", "modelopt", "modelopt_fp4", "modelopt_mixed", "modelopt_mxfp8", "quark")


def verify_dtypes(config: ModelConfig, method: str | None, dtype: str, kv_cache_dtype: str) -> None:
    """Dtypes that a quantized checkpoint does not go with (config/vllm.py:695, attention/attention.py:180)."""
    allowed = ACTIVATION_DTYPES.get(method or "")
    if allowed is not None and dtype not in allowed:
        listed = ", ".join(f"torch.{name}" for name in allowed)
        raise EngineArgsError(
            "dtype",
            f"torch.{dtype} is not supported for quantization method {method}. Supported dtypes: [{listed}]",
        )
    if kv_cache_dtype != "fp8_e5m2" or config.quantization is None or config.model_type.startswith(UNREACHED):
        return
    has_scales = config.quantization.fields.get("kv_cache_scheme") is not None
    if method in WITH_CACHE_SCALES or (method == "compressed-tensors" and has_scales):
        raise EngineArgsError("kv_cache_dtype", "fp8_e5m2 kv-cache is not supported with fp8 checkpoints.")


def resolve_quantization(config: ModelConfig, args: EngineArgs, card: Card) -> tuple[str | None, str]:
    """The method in force (None for none) and why (config/model.py:1034 _verify_quantization)."""
    asked = args.quantization.lower() if args.quantization else None
    if config.quantization is not None:
        method, why = _of_checkpoint(config, config.quantization, asked)
    else:
        method, why = asked, "given" if asked else "the checkpoint is not quantized"
    if method is None:
        return None, why
    if method not in METHODS:
        raise EngineArgsError("quantization", f"Unknown quantization method: {method}. Must be one of {list(METHODS)}.")
    if method in DEPRECATED:
        raise EngineArgsError(
            "quantization",
            f"The quantization method {method} is deprecated and will be removed in future versions of vLLM. "
            "To bypass, set `--allow-deprecated-quantization`.",
        )
    if config.quantization is None and method in FROM_CHECKPOINT:
        raise EngineArgsError(
            "quantization",
            f"Cannot find the config file for {method}: it describes a quantized checkpoint, and this one is not.",
        )
    capability = 10 * card.capability[0] + card.capability[1]
    if not card.is_rocm and capability < MIN_CAPABILITY.get(method, 0):
        raise EngineArgsError(
            "quantization",
            f"The quantization method {method} is not supported for the current GPU. Minimum capability: "
            f"{MIN_CAPABILITY[method]}. Current capability: {capability}.",
        )
    return method, why


def _of_checkpoint(config: ModelConfig, quantization: Quantization, asked: str | None) -> tuple[str | None, str]:
    """What the checkpoint says, unless the argument contradicts it."""
    stored = checkpoint_method(config, quantization, asked) or None
    why = "the checkpoint's quantization_config (config/model.py:1034 _verify_quantization)"
    if asked is not None and asked != stored:
        if stored in OVER_ANY_ARGUMENT:
            return stored, f"{why}; the argument {asked} does not count here"
        if stored is None or not _agrees(quantization.method, asked):
            raise EngineArgsError(
                "quantization",
                f"Quantization method specified in the model config ({stored}) does not match the quantization method "
                f"specified in the `quantization` argument ({asked}).",
            )
    return stored, why


def checkpoint_method(config: ModelConfig, quantization: Quantization, asked: str | None) -> str:
    """vLLM's name for what the checkpoint says."""
    method = quantization.method.lower().replace("compressed_tensors", "compressed-tensors")
    if method == "mxfp4" and config.model_type == "gpt_oss":
        return "gpt_oss_mxfp4"
    if method == "fp8" and config.model_type == "deepseek_v4":
        return "deepseek_v4_fp8"
    override = OVERRIDES.get(method)
    if asked == "moe_wna16" and method in ("awq", "gptq") and not quantization.fields.get("desc_act"):
        return asked  # moe_wna16.py override_quantization_method
    if override is not None:
        return override[0] if asked is None or asked in override[1] else method
    if method.startswith("modelopt"):
        return _modelopt_method(quantization) or method
    return method


def _agrees(stored: str, asked: str) -> bool:
    return asked in OVERRIDES.get(stored, ("", ()))[1]


def _modelopt_method(quantization: Quantization) -> str | None:
    """By algorithm (modelopt.py override_quantization_method of each class)."""
    inner = quantization.fields.get("quantization")
    source = inner if isinstance(inner, dict) else quantization.fields
    algorithm = str(source.get("quant_algo") or quantization.fields.get("quant_algo") or "").upper()
    if algorithm == "FP8":
        return "modelopt"
    if "FP4" in algorithm:
        return "modelopt_fp4"
    if "MXFP8" in algorithm:
        return "modelopt_mxfp8"
    return "modelopt_mixed" if algorithm == "MIXED_PRECISION" else None
