"""Mamba and gated delta net layers on one rank (layers/mamba)."""

from __future__ import annotations

from snippets.model_config.model_config import StateCache
from snippets.planner.weights.counting import Counting
from snippets.planner.weights.split import divided
from snippets.planner.weights.storage.size import Size


def mamba1(c: Counting, cache: StateCache) -> Size:
    """mamba_mixer.py MambaMixer: everything but the step's rank is split over channels."""
    state, kernel = cache.dim("state_size"), cache.dim("conv_kernel")
    channels = c.split.of_rank(cache.dim("intermediate_size"), "intermediate_size")
    rank = _step_rank(c)
    bias = c.text.flag("use_bias") or c.text.flag("mamba_proj_bias")
    size = c.float32(channels * state) + c.numbers(channels)  # A and D
    size += c.plain_matrix(kernel, channels) + c.numbers(channels if _conv_bias(c) else 0)
    size += c.plain_matrix(c.hidden, 2 * channels) + c.numbers(2 * channels if bias else 0)  # in_proj
    size += c.plain_matrix(channels, rank + 2 * state)  # x_proj
    size += c.plain_matrix(rank, channels) + c.numbers(channels)  # dt_proj with its bias
    size += c.plain_matrix(channels, c.hidden) + c.numbers(c.hidden if bias else 0)
    if c.config.model_type == "jamba":  # norms of the step, B and C
        size += c.numbers(rank + 2 * state)
    return size


def _step_rank(c: Counting) -> int:
    """time_step_rank or mamba_dt_rank; "auto" and absence mean hidden_size / 16, rounded up."""
    for key in ("time_step_rank", "mamba_dt_rank"):
        if isinstance(c.text.values.get(key), int):
            return c.number(key)
    return -(-c.hidden // 16)


def _conv_bias(c: Counting) -> bool:
    return c.text.flag("use_conv_bias", c.text.flag("mamba_conv_bias", True))


def mamba2(c: Counting, cache: StateCache, name: str, gated_norm: bool) -> Size:
    """mamba_mixer2.py MambaMixer2; one group is copied to every rank, more must divide."""
    heads = c.split.of_rank(cache.dim("num_heads"), "mamba_num_heads")
    channels = c.split.of_rank(cache.dim("intermediate_size"), "mamba_num_heads")
    all_groups = cache.dim("n_groups")
    groups = 1 if all_groups == 1 else divided(all_groups, c.split.tensor, "n_groups")
    mixed = channels + 2 * groups * cache.dim("state_size")
    bias = c.text.flag("use_bias") or c.text.flag("mamba_proj_bias")
    states = groups * cache.dim("state_size")
    merged = (channels, channels, states, states, heads)  # gate, x, B, C and the step
    size = c.float32(heads) + c.numbers(2 * heads)  # A, D and dt_bias
    size += c.plain_matrix(cache.dim("conv_kernel"), mixed) + c.numbers(mixed if _conv_bias(c) else 0)
    size += c.matrix(f"{name}.in_proj", c.hidden, *merged, bias=sum(merged) if bias else 0)
    size += c.matrix(f"{name}.out_proj", channels, c.hidden, bias=c.hidden if bias else 0)
    return size + c.numbers(channels if gated_norm else 0)


def gated_delta_net(c: Counting, cache: StateCache) -> Size:
    """Qwen3-Next and 3.5 (models/qwen3_next.py, layers/mamba/gdn)."""
    key_heads = c.split.of_rank(cache.dim("num_k_heads"), "linear_num_key_heads")
    value_heads = c.split.of_rank(cache.dim("num_v_heads"), "linear_num_value_heads")
    keys, values = key_heads * cache.dim("head_k_dim"), value_heads * cache.dim("head_v_dim")
    size = c.numbers(value_heads) + c.float32(value_heads)  # dt_bias and A_log
    size += c.plain_matrix(cache.dim("conv_kernel"), 2 * keys + values)
    size += c.matrix("linear_attn.in_proj_qkv", c.hidden, 2 * keys + values, values)
    size += c.plain_matrix(c.hidden, 2 * value_heads)  # in_proj_ba
    size += c.numbers(cache.dim("head_v_dim"))
    return size + c.matrix("linear_attn.out_proj", values, c.hidden)
