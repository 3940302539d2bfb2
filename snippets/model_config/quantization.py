"""How a checkpoint's weights are stored, from quantization_config wherever it stands or a side file."""

from __future__ import annotations

from collections.abc import Mapping

from snippets.model_config.fields import Fields, shown
from snippets.model_config.model_config import Quantization

FP8_MODELOPT = ("FP8", "FP8_PER_CHANNEL_PER_TOKEN", "FP8_PB_WO")
MODELOPT_KV = {"fp8": "fp8_e4m3", "nvfp4": "nvfp4"}  # utils/torch_utils.py MODELOPT_TO_VLLM_KV_CACHE_DTYPE_MAP
BITS = {"fp8": 8, "fbgemm_fp8": 8, "ptpc_fp8": 8, "mxfp4": 4, "gpt_oss_mxfp4": 4, "mxfp8": 8, "deepseek_v4_fp8": 8}
GROUP = {"mxfp4": 32, "gpt_oss_mxfp4": 32, "mxfp8": 32}
MAX_BITS = 64


def read_quantization(root: Fields, text: Fields, quant_fields: Mapping[str, object] | None) -> Quantization | None:
    """The quantization vLLM would detect (model_arch_config_convertor.py get_quantization_config); None for none.

    The config's own quantization_config wins over the side file hf_quant_config.json (transformers_utils/config.py).
    """
    config = root.child("quantization_config")
    if config is None and quant_fields is not None:
        config = Fields(quant_fields, root.record, "hf_quant_config")
    for fields, key in ((root, "compression_config"), (text, "quantization_config"), (text, "compression_config")):
        config = config or fields.child(key)
    if config is None:
        return None
    root.record.used[config.path] = None
    method = _method(config)
    return Quantization(
        method, _bits(config, method), _group_size(config, method), _kv_dtype(config, method), config.values
    )


def _inner(config: Fields) -> Fields:
    """modelopt's older form keeps everything under `quantization`."""
    return config.child("quantization") or config


def _method(config: Fields) -> str:
    """quant_method with vLLM's repairs: ModelOpt's algorithm names one, an empty one is told by its fields."""
    method = (config.text("quant_method") or "").lower().replace("compressed_tensors", "compressed-tensors")
    inner = _inner(config)
    algorithm = inner.text("quant_algo")
    producer = config.child("producer")
    by_modelopt = producer is not None and producer.text("name") == "modelopt"
    if algorithm is not None and (by_modelopt or method in ("", "modelopt")):
        upper = algorithm.upper()
        if upper in FP8_MODELOPT:
            return "modelopt"
        if upper == "NVFP4":
            return "modelopt_fp4"
        if method == "":
            raise inner.error("quant_algo", f"is {shown(algorithm)}: FP8 and NVFP4 are what vLLM 0.26.0 knows.")
    if not method:
        method = _unnamed(config)
    return method


def _unnamed(config: Fields) -> str:
    """The method of a quantization_config without quant_method."""
    for key, method in (("config_groups", "compressed-tensors"), ("weight_block_size", "fp8"), ("fmt", "fp8")):
        if config.has(key):
            config.note(f"{config.name('quant_method')} is missing; {key} says {method}.")
            return method
    raise config.error("quant_method", "is missing: it says how the weights are stored.")


def _scheme(config: Fields) -> Fields | None:
    """The weights' scheme of the first of config_groups (compressed-tensors and newer modelopt)."""
    groups = config.child("config_groups")
    if groups is None:
        return None
    for name in groups.values:
        group = groups.child(name)
        weights = group.child("weights") if group is not None else None
        if weights is not None:
            return weights
    return None


def _bits(config: Fields, method: str) -> int | None:
    scheme = _scheme(config)
    if scheme is not None and scheme.has("num_bits"):
        return scheme.integer("num_bits", maximum=MAX_BITS)
    for key in ("bits", "w_bit", "wbits", "num_bits", "weight_bits"):
        if config.has(key):
            return config.integer(key, maximum=MAX_BITS)
    if method == "bitsandbytes":
        return 4 if config.flag("load_in_4bit") else 8
    algorithm = (_inner(config).text("quant_algo") or "").upper()
    if algorithm:
        return 4 if "FP4" in algorithm else 8
    return BITS.get(method)


def _group_size(config: Fields, method: str) -> int | None:
    """Weights that share one scale; None per channel, per tensor, or in blocks."""
    scheme = _scheme(config)
    for fields in (scheme, config, _inner(config)):
        if fields is None:
            continue
        for key in ("group_size", "q_group_size"):
            value = fields.optional_integer(key, minimum=-1)
            if value is not None and value > 0:
                return value
    if (_inner(config).text("quant_algo") or "").upper() == "NVFP4":
        return 16
    return GROUP.get(method)


def _kv_dtype(config: Fields, method: str) -> str | None:
    """What --kv-cache-dtype auto becomes (utils/torch_utils.py get_kv_cache_quant_algo_string, attention.py)."""
    inner = _inner(config)
    if method.startswith("modelopt"):
        for fields in (inner, config):
            scheme = fields.raw("kv_cache_scheme")
            if isinstance(scheme, Mapping) and scheme:
                return _modelopt_scheme(fields)
        algorithm = inner.text("kv_cache_quant_algo") or config.text("kv_cache_quant_algo")
        return MODELOPT_KV.get(algorithm.lower()) if algorithm else None
    if method == "compressed-tensors" and config.child("kv_cache_scheme") is not None:
        return "fp8"
    return None


def _modelopt_scheme(fields: Fields) -> str | None:
    scheme = fields.child("kv_cache_scheme")
    if scheme is None or scheme.text("type") != "float":
        return None
    bits = scheme.optional_integer("num_bits", maximum=MAX_BITS)
    if bits == 8 and scheme.raw("dynamic") is False:
        return MODELOPT_KV["fp8"]
    return MODELOPT_KV["nvfp4"] if bits == 4 else None
