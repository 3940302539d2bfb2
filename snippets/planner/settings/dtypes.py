"""dtype of weights and activations, quantization, and the KV cache's dtype."""

from __future__ import annotations

from collections.abc import Mapping

from snippets.model_config.model_config import ModelConfig
from snippets.planner.engine_args import EngineArgs, EngineArgsError
from snippets.planner.settings.card import Card

DTYPE_NAMES = {
    "half": "float16",
    "float16": "float16",
    "float": "float32",
    "float32": "float32",
    "bfloat16": "bfloat16",
}
NO_FLOAT16 = ("gemma2", "gemma3", "gemma3_text", "plamo2", "glm4")  # config/model.py:2026

KV_CACHE_DTYPES = (
    "auto",
    "float16",
    "bfloat16",
    "fp8",
    "fp8_e4m3",
    "fp8_e5m2",
    "fp8_inc",
    "fp8_ds_mla",
    "turboquant_k8v4",
    "turboquant_4bit_nc",
    "turboquant_k3v4_nc",
    "turboquant_3bit_nc",
    "int4_per_token_head",
    "int8_per_token_head",
    "fp8_per_token_head",
    "nvfp4",
)  # config/cache.py:19 CacheDType

SIXTEEN_BIT = frozenset({"auto", "bfloat16", "float16"})  # of them; "auto" follows dtype

STORAGE_DTYPES = {
    "int8_per_token_head": "int8",
    "fp8_inc": "float8_e4m3fn",
    "float16": "float16",
    "bfloat16": "bfloat16",
}  # utils/torch_utils.py:33; every other named one is stored as uint8


def resolve_dtype(config: ModelConfig, args: EngineArgs, card: Card) -> tuple[str, str]:
    """dtype in force and why (config/model.py:2095 _get_and_verify_dtype)."""
    asked = args.dtype.lower()
    if asked == "auto":
        dtype = auto_dtype(config, card.dtypes)
        if config.dtype == dtype:
            return dtype, "the config's own (config/model.py:2051 _resolve_auto_dtype)"
        return dtype, f"{card.name} does not compute in {config.dtype} (config/model.py:2072)"
    if asked not in DTYPE_NAMES:
        raise EngineArgsError("dtype", f"Unknown dtype: {asked!r}")
    dtype = DTYPE_NAMES[asked]
    if dtype == "float16" and config.model_type in NO_FLOAT16:
        raise EngineArgsError(
            "dtype",
            f"The model type {config.fields.get('model_type', config.model_type)!r} does not support float16. "
            "Reason: Numerical instability. Please use bfloat16 or float32 instead.",
        )
    if dtype not in card.dtypes:
        raise EngineArgsError(
            "dtype",
            "Bfloat16 is only supported on GPUs with compute capability of at least 8.0. Your "
            f"{card.name} GPU has compute capability {card.capability[0]}.{card.capability[1]}. You can use float16 "
            "instead by explicitly setting the `dtype` flag in CLI, for example: --dtype=half.",
        )
    return dtype, "given"


def auto_dtype(config: ModelConfig, dtypes: tuple[str, ...]) -> str:
    """--dtype auto on a card that computes in these: the config's, else the card's first that the model takes."""
    usable = [name for name in dtypes if not (name == "float16" and config.model_type in NO_FLOAT16)]
    return config.dtype if config.dtype in usable else usable[0]


def resolve_kv_cache_dtype(config: ModelConfig, args: EngineArgs) -> tuple[str, str]:
    """--kv-cache-dtype after the checkpoint was asked, and why (utils/torch_utils.py:374, attention.py:284)."""
    asked = args.kv_cache_dtype
    if asked not in KV_CACHE_DTYPES:
        raise EngineArgsError(
            "kv_cache_dtype",
            f"argument --kv-cache-dtype: invalid choice: {asked!r} (choose from "
            f"{', '.join(repr(name) for name in KV_CACHE_DTYPES)})",
        )
    if asked == "bfloat16" and config.architecture == "DeepseekV32ForCausalLM":
        return "auto", "given as bfloat16, which is this model's auto (model_executor/models/config.py:36)"
    if asked != "auto":
        return asked, "given"
    quantization = config.quantization
    if quantization is None:
        return "auto", "the same as dtype (utils/torch_utils.py:395)"
    if quantization.method.startswith("modelopt"):
        algorithm = modelopt_kv_algorithm(quantization.fields)
        if algorithm is not None:
            return algorithm, "the checkpoint's kv_cache_quant_algo asks for it (utils/torch_utils.py:310)"
    elif quantization.method == "compressed-tensors" and quantization.fields.get("kv_cache_scheme") is not None:
        return "fp8", "the checkpoint's kv_cache_scheme asks for it (attention/attention.py:284)"
    return "auto", "the same as dtype: the checkpoint names no KV cache scheme (utils/torch_utils.py:395)"


def modelopt_kv_algorithm(fields: Mapping[str, object]) -> str | None:
    """What a ModelOpt checkpoint asks of the cache; "auto" for a scheme vLLM does not know."""
    inner = fields.get("quantization", fields)
    inner = inner if isinstance(inner, Mapping) else fields
    asked = next(
        (
            value
            for name in ("kv_cache_scheme", "kv_cache_quant_algo")
            for source in (inner, fields)
            if (value := source.get(name))
        ),
        None,
    )
    if isinstance(asked, Mapping):
        is_float = asked.get("type") == "float"
        if asked.get("dynamic") is False and asked.get("num_bits") == 8 and is_float:
            return "fp8_e4m3"
        return "nvfp4" if asked.get("num_bits") == 4 and is_float else "auto"
    if isinstance(asked, str):
        return {"fp8": "fp8_e4m3", "nvfp4": "nvfp4"}.get(asked.lower(), "auto")
    return None


def storage_dtype(kv_cache_dtype: str, dtype: str) -> str:
    """torch dtype of the cache's memory (utils/torch_utils.py:395 kv_cache_dtype_str_to_dtype)."""
    return dtype if kv_cache_dtype == "auto" else STORAGE_DTYPES.get(kv_cache_dtype, "uint8")
