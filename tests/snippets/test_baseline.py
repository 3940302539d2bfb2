"""The site's baseline, against the same sums done by hand."""

import pytest

from snippets import baseline
from snippets.planner import blocks

GIB = 2**30


def test_the_baseline_is_qwen2_5_7b_on_an_rtx_4090_at_0_92() -> None:
    assert (baseline.MODEL.key, baseline.CARD.key, baseline.UTILIZATION) == ("qwen2.5-7b", "rtx-4090", 0.92)
    assert baseline.WEIGHTS_BYTES == 15_231_233_024
    assert round(23.64 * GIB) == baseline.VISIBLE_BYTES


def test_6_16_gib_are_left_for_the_kv_cache() -> None:
    # 23.64 × 0.92 − 14.1852 − 1.4
    assert baseline.available_bytes() / GIB == pytest.approx(6.1636, abs=1e-4)


def test_that_is_115408_tokens() -> None:
    # 6.1636 GiB / (16 × 57,344 B) = 7,213.3 blocks
    assert baseline.num_blocks() == 7213
    assert baseline.tokens() == 7213 * 16 == 115_408


@pytest.mark.parametrize(
    ("weights_bytes", "kv_dtype_bytes", "expected"),
    [
        (baseline.WEIGHTS_BYTES, 2, "14.09"),
        (baseline.WEIGHTS_BYTES, 1, "28.18"),
        (baseline.AWQ_LOADED_BYTES, 2, "34.62"),
        (baseline.AWQ_LOADED_BYTES, 1, "69.25"),
    ],
)
def test_sequences_of_8192_tokens_that_fit(weights_bytes: int, kv_dtype_bytes: int, expected: str) -> None:
    # (21.7488 GiB − weights − 1.4 GiB) / (16 × κ), in whole blocks, by 512 blocks
    found = baseline.sequences(weights_bytes=weights_bytes, kv_dtype_bytes=kv_dtype_bytes)
    assert f"{found:.2f}" == expected


@pytest.mark.parametrize(("other_gib", "expected"), [(2.0, 12.7), (1.0, 15.0)])
def test_the_unknown_other_memory_moves_it_between_12_7_and_15(other_gib: float, expected: float) -> None:
    assert other_gib in (baseline.OTHER_GIB_HIGH, baseline.OTHER_GIB_LOW)
    assert round(baseline.sequences(other_gib), 1) == expected


def test_at_0_90_about_13_fit() -> None:
    # (23.64 × 0.90 − 14.1852 − 1.4) GiB = 5.6908 GiB → 6,659 blocks / 512
    assert round(baseline.sequences(utilization=0.90), 2) == 13.01


def test_a_shorter_max_model_len_changes_the_concurrency_and_not_the_blocks() -> None:
    assert baseline.sequences(max_model_len=4096) == 2 * baseline.sequences(max_model_len=8192)
    assert baseline.tokens(max_model_len=4096) == baseline.tokens(max_model_len=8192)


def test_the_log_would_say_so() -> None:
    assert blocks.log_lines(baseline.num_blocks(), baseline.BLOCK_SIZE, baseline.MAX_MODEL_LEN) == (
        "GPU KV cache size: 115,408 tokens",
        "Maximum concurrency for 8,192 tokens per request: 14.09x",
    )


def test_awq_as_loaded_is_a_little_more_than_counted() -> None:
    # vLLM printed 5.20 GiB; 5.188 GiB by counting
    assert 0 < baseline.AWQ_LOADED_BYTES - baseline.AWQ_WEIGHTS_BYTES < 0.02 * GIB
