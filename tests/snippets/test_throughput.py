"""Ceilings of the baseline, against sums written out by hand from the published config and data sheet."""

from __future__ import annotations

import pytest

from snippets.catalog.gpus import gpu
from snippets.catalog.models import model
from snippets.throughput import (
    arithmetic_ceiling,
    cache_ceiling,
    decode_flops_per_token,
    reading_ceiling,
    weights_ceiling,
)

QWEN, RTX_4090 = model("qwen2.5-7b"), gpu("rtx-4090")
BANDWIDTH = 1_008e9  # bytes per second, NVIDIA's data sheet
# 7,615,616,512 parameters of 2 bytes, less the input embedding, of which a step reads single rows.
WEIGHTS_READ = 2 * (7_615_616_512 - 152_064 * 3_584)
KV_PER_SEQUENCE = 57_344 * 8_192


def test_one_long_sequence_gets_69_tokens_per_second_at_most() -> None:
    expected = BANDWIDTH / (WEIGHTS_READ + KV_PER_SEQUENCE)
    assert expected == pytest.approx(68.99, abs=0.005)
    assert reading_ceiling(QWEN, RTX_4090, 1, 8192) == pytest.approx(expected)


def test_weights_alone_allow_71_tokens_per_second_and_sequence() -> None:
    expected = BANDWIDTH / WEIGHTS_READ
    assert expected == pytest.approx(71.28, abs=0.005)
    assert weights_ceiling(QWEN, RTX_4090, 14) == pytest.approx(14 * expected)


def test_cache_alone_allows_the_same_for_any_number_of_sequences() -> None:
    assert cache_ceiling(QWEN, RTX_4090, 8192) == pytest.approx(BANDWIDTH / KV_PER_SEQUENCE)
    assert reading_ceiling(QWEN, RTX_4090, 10**6, 8192) == pytest.approx(cache_ceiling(QWEN, RTX_4090, 8192), rel=1e-4)


def test_half_the_cache_ceiling_is_reached_where_kv_reads_equal_weight_reads() -> None:
    # 246,604 tokens in flight are 30.1 sequences of 8,192.
    assert reading_ceiling(QWEN, RTX_4090, 30, 8192) == pytest.approx(cache_ceiling(QWEN, RTX_4090, 8192) / 2, rel=0.01)


def test_fp8_cache_doubles_the_cache_ceiling_only() -> None:
    assert cache_ceiling(QWEN, RTX_4090, 8192, 1) == 2 * cache_ceiling(QWEN, RTX_4090, 8192, 2)
    assert reading_ceiling(QWEN, RTX_4090, 1, 8192, 1) < 1.02 * reading_ceiling(QWEN, RTX_4090, 1, 8192, 2)


def test_flops_of_a_token_are_two_per_weight_and_four_per_head_element_and_cached_token() -> None:
    per_layer = 3_584 * (28 * 128) * 2 + 3_584 * (4 * 128) * 2 + 3 * 3_584 * 18_944  # Q and O, K and V, the MLP
    weights = 28 * per_layer + 152_064 * 3_584  # and lm_head
    attention = 4 * 28 * 28 * 128 * 8_192  # layers, query heads, head_dim, cached tokens
    assert decode_flops_per_token(QWEN, 8192) == 2 * weights + attention


def test_arithmetic_would_allow_about_9_500_tokens_per_second() -> None:
    # 165.2 TFLOP/s dense BF16 with FP32 accumulation, NVIDIA's Ada whitepaper; 17.43 GFLOP per token.
    assert arithmetic_ceiling(QWEN, RTX_4090, 8192) == pytest.approx(165.2e12 / 17.429e9, rel=1e-3)
