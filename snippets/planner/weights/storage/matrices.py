"""Bytes of one linear layer's weight and of a layer's experts, on one rank."""

from __future__ import annotations

from collections.abc import Sequence

from snippets.planner.weights.errors import ANOTHER_SPLIT, WeightsError
from snippets.planner.weights.storage.scheme import Scheme
from snippets.planner.weights.storage.size import Size

_FP32 = 4


def linear(scheme: Scheme, inputs: int, outputs: Sequence[int], plain_bytes: int, all_inputs: int = 0) -> Size:
    """A weight of `inputs` × sum(`outputs`); `outputs` are the logical matrices that vLLM merges (q, k and v).

    `all_inputs` are the inputs over all ranks where they are split: act_order keeps every group's scale on each rank.
    """
    rows, parts = sum(outputs), len(outputs)
    return Size(inputs * rows, _bytes(scheme, inputs, rows, parts, plain_bytes, all_inputs or inputs))


def _bytes(scheme: Scheme, inputs: int, rows: int, parts: int, plain_bytes: int, all_inputs: int) -> int:
    weights = inputs * rows
    scales = parts * _FP32 * (2 if scheme.static_inputs else 1)  # one per logical matrix, and one for its input
    if scheme.kind == "plain" or scheme.experts_only:
        return weights * plain_bytes
    if scheme.kind == "tensor8":
        return weights + scales
    if scheme.kind == "channel8":
        return weights + rows * _FP32 + (parts * _FP32 if scheme.static_inputs else 0)
    if scheme.kind == "block8":
        return weights + scheme.scale_bytes * -(-rows // scheme.block[0]) * -(-inputs // scheme.block[1])
    if scheme.kind == "nvfp4":
        return weights // 2 + weights // scheme.group_size + scales
    if scheme.group_size and inputs % scheme.group_size:
        message = f"One rank's {inputs:,} inputs are no multiple of the {scheme.group_size} that share a scale."
        raise WeightsError("tensor_parallel_size", message, ANOTHER_SPLIT)
    groups = (all_inputs if scheme.act_order else inputs) // scheme.group_size if scheme.group_size else 1
    packed = weights * scheme.bits // 8 + groups * rows * plain_bytes
    zeros = groups * rows * scheme.bits // 8
    if scheme.kind == "awq":
        return packed + zeros
    if scheme.kind == "gptq":
        return packed + zeros + inputs * _FP32  # g_idx, one 32-bit group number per input
    return packed + (zeros if scheme.zero_points else 0) + 2 * 8  # weight_shape, two 64-bit numbers


def experts(scheme: Scheme, count: int, hidden: int, intermediate: int, gated: bool, plain_bytes: int) -> Size:
    """`count` experts of `hidden` → `intermediate` → `hidden`, merged as w13 and w2 (fused_moe RoutedExperts)."""
    parts = 2 if gated else 1
    parameters = count * (parts + 1) * hidden * intermediate
    if scheme.kind == "block8":  # w13's two halves are rounded up to blocks one by one
        out_block, in_block = scheme.block
        up = parts * -(-intermediate // out_block) * -(-hidden // in_block)
        down = -(-hidden // out_block) * -(-intermediate // in_block)
        return Size(parameters, parameters + count * _FP32 * (up + down))
    if scheme.kind == "tensor8":
        return Size(parameters, parameters + count * _FP32 * (parts + 1 + (2 if scheme.static_inputs else 0)))
    if scheme.kind == "gptq":
        return Size(parameters, count * _grouped_expert(scheme, hidden, intermediate, parts, plain_bytes, zeros=True))
    if scheme.kind == "packed":
        shapes = 2 * 2 * plain_bytes  # weight_shape of w13 and of w2, here in 16 bits
        expert = _grouped_expert(scheme, hidden, intermediate, parts, plain_bytes, zeros=False)
        return Size(parameters, count * (expert + shapes))
    up_bytes = _bytes(scheme, hidden, parts * intermediate, parts, plain_bytes, hidden)
    return Size(parameters, count * (up_bytes + _bytes(scheme, intermediate, hidden, 1, plain_bytes, intermediate)))


def _grouped_expert(scheme: Scheme, hidden: int, intermediate: int, parts: int, plain_bytes: int, zeros: bool) -> int:
    """One expert of gptq and pack-quantized: beside the packed weights two index vectors per matrix."""
    weights = (parts + 1) * hidden * intermediate
    groups_up = hidden // scheme.group_size if scheme.group_size else 1
    groups_down = intermediate // scheme.group_size if scheme.group_size else 1
    scales = groups_up * parts * intermediate + groups_down * hidden
    indices = 2 * _FP32 * (hidden + intermediate)
    zero_bytes = scales * scheme.bits // 32 * plain_bytes if zeros else 0  # 32-bit words held in the model's dtype
    return weights * scheme.bits // 8 + scales * plain_bytes + indices + zero_bytes


def mxfp4_experts(
    count: int, hidden: int, intermediate: int, padding: tuple[int, int], plain_bytes: int, *, parameters: int
) -> Size:
    """gpt-oss: 4-bit weights with one 8-bit scale per 32, sizes rounded up to what the card's kernel wants.

    `padding` are the multiples of hidden and of intermediate size (fused_moe/oracle/mxfp4.py:635).
    """
    wide, inner = (
        -(-size // multiple) * multiple for size, multiple in zip((hidden, intermediate), padding, strict=True)
    )
    matrices = 2 * inner * wide + wide * inner
    return Size(parameters, count * (matrices // 2 + matrices // 32 + (2 * inner + wide) * plain_bytes))
