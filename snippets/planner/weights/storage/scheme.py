"""A checkpoint's quantization as vLLM's layers hold it (model_executor/layers/quantization)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from snippets.model_config.model_config import Quantization
from snippets.planner.weights.errors import WeightsError

Kind = Literal["plain", "tensor8", "channel8", "block8", "awq", "gptq", "packed", "nvfp4", "mxfp4"]


@dataclass(frozen=True)
class Scheme:
    """Which matrices are quantised is another question: see skipped.py."""

    kind: Kind = "plain"
    bits: int = 16
    group_size: int = 0  # inputs that share a scale; 0 for none
    block: tuple[int, int] = (0, 0)  # block8: outputs and inputs that share a scale
    scale_bytes: int = 4  # block8: of one scale
    static_inputs: bool = False  # one activation scale per matrix is stored too
    zero_points: bool = False
    act_order: bool = False  # gptq: an index per input, and every rank holds all groups
    experts_only: bool = False  # mxfp4: the other matrices stay 16-bit
    quantises_head: bool = False  # lm_head too, unless it is excluded
    attention_scalars: int = 0  # bytes of KV scales that each attention layer holds until loading ends


PLAIN = Scheme()
_LISTS = ("ignore", "exclude_modules", "modules_to_not_convert", "ignored_layers")
_FP8_SCALARS = 4 * 2  # q, k, v and prob scale in 16 bits: quantization/kv_cache.py BaseKVCacheMethod
_CT_SCALARS = 3 * 4 + 3 * 2  # k, v, q scales and zero points: compressed_tensors.py CompressedTensorsKVCacheMethod


def scheme_of(quantization: Quantization | None) -> Scheme:
    """The scheme of a checkpoint. Raises WeightsError for one that is not counted here."""
    if quantization is None:
        return PLAIN
    method, fields = quantization.method, quantization.fields
    if method == "fp8":
        return _fp8(fields)
    if method == "awq":
        return Scheme("awq", quantization.bits or 4, _group(quantization), zero_points=True)
    if method == "gptq":
        return Scheme("gptq", quantization.bits or 4, _group(quantization), act_order=fields.get("desc_act") is True)
    if method == "mxfp4":
        return Scheme("mxfp4", 4, 32, experts_only=True)
    if method.startswith("modelopt") and not exclusions(fields):
        raise WeightsError("hf_quant_config.exclude_modules", "The list of modules left in 16 bits is missing.")
    if method == "modelopt_fp4":
        return Scheme("nvfp4", 4, 16, static_inputs=True, quantises_head=True, attention_scalars=_FP8_SCALARS)
    if method == "modelopt":
        return Scheme("tensor8", 8, static_inputs=True, quantises_head=True, attention_scalars=_FP8_SCALARS)
    if method == "compressed-tensors":
        return _compressed_tensors(fields)
    raise WeightsError("quantization_config.quant_method", f"Weights stored as “{method}” are not counted here.")


def _group(quantization: Quantization) -> int:
    """128 where the config does not say; -1 means one group for all inputs."""
    return max(quantization.group_size if quantization.group_size is not None else 128, 0)


def _fp8(fields: Mapping[str, object]) -> Scheme:
    """fp8.py: one scale per matrix, or per block of weight_block_size."""
    block = fields.get("weight_block_size")
    if isinstance(block, list | tuple) and len(block) == 2:
        return Scheme("block8", 8, block=(int(block[0]), int(block[1])), attention_scalars=_FP8_SCALARS)
    static = fields.get("activation_scheme") == "static"
    return Scheme("tensor8", 8, static_inputs=static, attention_scalars=_FP8_SCALARS)


def _compressed_tensors(fields: Mapping[str, object]) -> Scheme:
    """compressed_tensors.py: the first group's weights and input activations decide."""
    groups = fields.get("config_groups")
    group = next(iter(groups.values()), None) if isinstance(groups, Mapping) else None
    weights = group.get("weights") if isinstance(group, Mapping) else None
    if not isinstance(group, Mapping) or not isinstance(weights, Mapping):
        raise WeightsError("quantization_config.config_groups", "config_groups names no weights.")
    inputs = group.get("input_activations")
    static = isinstance(inputs, Mapping) and inputs.get("dynamic") is False
    strategy, bits = weights.get("strategy"), weights.get("num_bits")
    if fields.get("format") == "pack-quantized" and isinstance(bits, int):
        size = weights.get("group_size")
        zeros = weights.get("symmetric") is False
        return Scheme(
            "packed", bits, size if isinstance(size, int) else 0, zero_points=zeros, attention_scalars=_CT_SCALARS
        )
    if bits == 8 and strategy == "channel":
        return Scheme("channel8", 8, static_inputs=static, attention_scalars=_CT_SCALARS)
    if bits == 8 and strategy == "tensor":
        return Scheme("tensor8", 8, static_inputs=static, attention_scalars=_CT_SCALARS)
    block = weights.get("block_structure")
    if bits == 8 and strategy == "block" and isinstance(block, list | tuple) and len(block) == 2:
        return Scheme("block8", 8, block=(int(block[0]), int(block[1])), attention_scalars=_CT_SCALARS)
    raise WeightsError(
        "quantization_config.config_groups",
        f"compressed-tensors with {bits} bits per {strategy} in format {fields.get('format')} is not counted here.",
    )


def exclusions(fields: Mapping[str, object]) -> list[str]:
    """The modules that a quantization_config leaves in 16 bits, as it writes them."""
    inner = fields.get("quantization")
    sources = (fields, inner) if isinstance(inner, Mapping) else (fields,)
    lists = (source.get(name) for source in sources for name in _LISTS)
    return [entry for names in lists if isinstance(names, list | tuple) for entry in names if isinstance(entry, str)]
