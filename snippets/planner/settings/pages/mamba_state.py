"""State of recurrent layers: shapes and dtypes on one rank (model_executor/layers/mamba/mamba_utils.py)."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from snippets.model_config.model_config import ModelConfig, StateCache
from snippets.planner.engine_args import EngineArgs, EngineArgsError

Shapes = tuple[tuple[int, ...], ...]

BYTES: Mapping[str, int] = {
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "uint8": 1,
    "int8": 1,
    "float8_e4m3fn": 1,
    "float64": 8,
}

TORCH_NAMES: Mapping[str, str] = {  # utils/torch_utils.py STR_DTYPE_TO_TORCH_DTYPE, as far as names differ
    "float": "float32",
    "half": "float16",
    "fp8": "uint8",
    "fp8_e4m3": "uint8",
    "fp8_e5m2": "uint8",
    "fp8_inc": "float8_e4m3fn",
}
OF_CONFIG = ("auto", "float32", "float16", "bfloat16", "int8", *TORCH_NAMES)

MAMBA_TYPES = {  # v1/attention/backends/registry.py MambaAttentionBackendEnum
    "mamba1": "MAMBA1",
    "mamba2": "MAMBA2",
    "gdn": "GDN_ATTN",
    "kda": "GDN_ATTN",
    "short_conv": "SHORT_CONV",
    "linear": "LINEAR",
}
MAMBA_DTYPES = ("auto", "float32", "float16", "bfloat16")
NEMOTRON_H = ("NemotronHForCausalLM", "NemotronHPuzzleForCausalLM", "NemotronH_Nano_VL_V2")
QWEN3_5 = ("Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration", "ColQwen3_5")

NO_SPEC_IN_CONV = (  # their get_mamba_state_shape_from_config passes no num_spec; the layer itself counts it
    "FalconH1ForCausalLM",
    "GraniteMoeHybridForCausalLM",
    "Zamba2ForCausalLM",
    "Plamo2ForCausalLM",
)


def state_shapes(cache: StateCache, tensor_parallel_size: int, num_speculative_tokens: int = 0) -> Shapes:
    """Shapes on one rank. A size that tensor parallelism cannot divide is refused with its name."""
    size = dict(cache.dims)
    tp, spec = tensor_parallel_size, num_speculative_tokens
    match cache.kind:
        case "mamba1":
            inner = divide(size["intermediate_size"], tp, "mamba intermediate_size")
            return (size["conv_kernel"] - 1, inner), (inner, size["state_size"])
        case "mamba2":
            groups = size["n_groups"] + (0 if size["n_groups"] % tp == 0 else tp - size["n_groups"])
            conv = divide(size["intermediate_size"] + 2 * groups * size["state_size"], tp, "mamba conv_dim")
            heads = divide(size["num_heads"], tp, "mamba num_heads")
            return (size["conv_kernel"] - 1 + spec, conv), (heads, size["head_dim"], size["state_size"])
        case "gdn":
            conv = 2 * size["head_k_dim"] * size["num_k_heads"] + size["head_v_dim"] * size["num_v_heads"]
            heads = divide(size["num_v_heads"], tp, "linear_num_value_heads")
            return (
                (size["conv_kernel"] - 1 + spec, divide(conv, tp, "linear attention conv_dim")),
                (heads, size["head_v_dim"], size["head_k_dim"]),
            )
        case "kda":
            conv = size["num_v_heads"] * size["head_v_dim"] + 2 * size["num_k_heads"] * size["head_k_dim"]
            heads = divide(size["num_v_heads"], tp, "linear_attn_config.num_heads")
            return (
                (size["conv_kernel"] - 1, divide(conv, tp, "linear attention conv_dim")),
                (heads, size["head_v_dim"], size["head_v_dim"]),
            )
        case "short_conv":
            return ((size["conv_kernel"] - 1, divide(size["intermediate_size"], tp, "short conv width")),)
        case "linear":
            return ((size["num_heads"] // tp, size["head_dim"], size["head_dim"]),)


def divide(size: int, parts: int, name: str) -> int:
    """vLLM's divide(): a remainder is refused (distributed/utils.py:60)."""
    if size % parts:
        raise EngineArgsError(
            "tensor_parallel_size", f"{name} ({size}) must be divisible by tensor_parallel_size ({parts})"
        )
    return size // parts


def state_dtypes(config: ModelConfig, args: EngineArgs, cache: StateCache, dtype: str) -> tuple[str, ...]:
    """dtypes of the shapes above (mamba_utils.py MambaStateDtypeCalculator)."""
    conv = dtype if args.mamba_cache_dtype == "auto" else args.mamba_cache_dtype
    if cache.kind in ("short_conv", "linear"):
        return (conv,)
    if cache.kind == "kda":
        return conv, "float32"
    ssm = ssm_cache_dtype(config, args)
    return conv, (conv if ssm == "auto" else ssm)


def ssm_cache_dtype(config: ModelConfig, args: EngineArgs) -> str:
    """mamba_ssm_cache_dtype after the model's own wish (model_executor/models/config.py:629, 738)."""
    asked = args.mamba_ssm_cache_dtype
    for name, value in (("mamba_cache_dtype", args.mamba_cache_dtype), ("mamba_ssm_cache_dtype", asked)):
        if value not in MAMBA_DTYPES:
            raise EngineArgsError(name, f"{name} must be one of {', '.join(MAMBA_DTYPES)}; got {value!r}")
    if asked != "auto":
        return asked
    if config.architecture in NEMOTRON_H:
        return _of_config("mamba_ssm_cache_dtype", config.text_fields.get("mamba_ssm_cache_dtype", "float32"))
    if config.architecture in QWEN3_5:
        return _of_config("mamba_ssm_dtype", config.text_fields.get("mamba_ssm_dtype") or "auto")
    return "auto"


def _of_config(name: str, value: object) -> str:
    """torch's name of a dtype in the config; vLLM ends with a KeyError or TypeError for one it does not know."""
    if not isinstance(value, str) or value not in OF_CONFIG:
        raise EngineArgsError(
            "mamba_ssm_cache_dtype",
            f"{name} of the config is {value!r}, and vLLM knows {', '.join(OF_CONFIG)}; mend the config.",
        )
    return TORCH_NAMES.get(value, value)


def state_bytes(shapes: Shapes, dtypes: tuple[str, ...]) -> int:
    """Bytes of one state, unpadded (v1/kv_cache_interface.py:697)."""
    return sum(prod(shape) * BYTES[dtype] for shape, dtype in zip(shapes, dtypes, strict=True))
