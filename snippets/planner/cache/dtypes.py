"""Storage types: vLLM's names for them, their bytes, and how --kv-cache-dtype packs a cache."""

from __future__ import annotations

from snippets.planner.specs import CacheError

# utils/torch_utils.py STR_DTYPE_TO_TORCH_DTYPE: what a name stores, by torch's name
STORED_AS = {
    "float32": "float32",
    "float": "float32",
    "float16": "float16",
    "half": "float16",
    "bfloat16": "bfloat16",
    "int8": "int8",
    "fp8": "uint8",
    "fp8_e4m3": "uint8",
    "fp8_e5m2": "uint8",
    "fp8_inc": "float8_e4m3fn",
    "fp8_ds_mla": "uint8",
    "int4_per_token_head": "uint8",
    "int8_per_token_head": "int8",
    "fp8_per_token_head": "uint8",
    "nvfp4": "uint8",
    "turboquant_k8v4": "uint8",
    "turboquant_4bit_nc": "uint8",
    "turboquant_k3v4_nc": "uint8",
    "turboquant_3bit_nc": "uint8",
}
DTYPE_BYTES = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int8": 1,
    "uint8": 1,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "int32": 4,
    "int64": 8,
}
PER_TOKEN_HEAD = {"int4_per_token_head", "int8_per_token_head", "fp8_per_token_head"}


def torch_dtype(name: str) -> str:
    """Torch's name for a storage type. Raises CacheError for a name vLLM does not know."""
    found = STORED_AS.get(name, name)
    if found not in DTYPE_BYTES:
        raise CacheError(f"dtype is {name!r}; known are {', '.join({**DTYPE_BYTES, **STORED_AS})}", field="dtype")
    return found


def quant_mode(cache_dtype: str | None) -> str:
    """How the cache is packed, after kv_cache_interface.py get_kv_quant_mode. Every per-tensor FP8 is "fp8"."""
    if cache_dtype in PER_TOKEN_HEAD or cache_dtype == "nvfp4":
        return cache_dtype
    return "fp8" if cache_dtype is not None and cache_dtype.startswith("fp8") else "none"
