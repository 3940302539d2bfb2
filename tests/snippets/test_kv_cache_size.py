"""The lesson's calculator, against figures published elsewhere."""

import subprocess
import sys
from dataclasses import replace

import pytest

from snippets.kv_cache_size import QWEN2_5_7B, QWEN2_5_7B_QUERY_HEADS, ModelConfig, gib, kv_bytes, kv_bytes_per_token

PRINTED = """\
Qwen2.5-7B-Instruct: 57344 bytes/token = 56 KiB/token
  seq_len=  2048: 0.11 GiB (1 sequence)
  seq_len=  8192: 0.44 GiB (1 sequence)
  seq_len= 32768: 1.75 GiB (1 sequence)
MHA would be 7x larger: 392 KiB/token
"""


def test_the_program_prints_exactly_the_lesson_s_five_lines() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "snippets.kv_cache_size"], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout == PRINTED
    assert run.stderr == ""


@pytest.mark.parametrize(
    ("cfg", "expected"),
    [
        (QWEN2_5_7B, 2 * 28 * 4 * 128 * 2),  # 57,344 by hand
        # PagedAttention (arXiv 2309.06180) section 3: 2 (key and value) × 5120 × 40 layers × 2 bytes = 800 KB
        (ModelConfig("OPT-13B", 40, 40, 128), 819_200),
        (ModelConfig("Llama-3-70B", 80, 8, 128), 320 * 1024),
        (replace(QWEN2_5_7B, dtype_bytes=1), 28_672),  # FP8: page size halves in vLLM 0.26.0
    ],
)
def test_bytes_per_token(cfg: ModelConfig, expected: int) -> None:
    assert kv_bytes_per_token(cfg) == expected


def test_opt_13b_request_of_2048_tokens_takes_the_paper_s_1_6_gb() -> None:
    opt = ModelConfig("OPT-13B", 40, 40, 128)
    assert kv_bytes(opt, 2048) == 1_677_721_600  # section 3 prints 1.6 GB, cutting the digits off
    assert gib(kv_bytes(opt, 2048)) == 1.5625


def test_paged_attention_table_1_slots_come_out_in_gib() -> None:
    # arXiv 2309.06180 Table 1: 13B, 12 "GB" of KV cache, 15.7K slots; decimal GB would give 14.6K
    opt = ModelConfig("OPT-13B", 40, 40, 128)
    assert round(12 * 2**30 / kv_bytes_per_token(opt) / 1000, 1) == 15.7
    assert round(12 * 10**9 / kv_bytes_per_token(opt) / 1000, 1) == 14.6


def test_eight_sequences_at_full_context_take_14_gib() -> None:
    assert gib(kv_bytes(QWEN2_5_7B, 32_768, batch=8)) == 14.0


def test_a_kv_head_for_every_query_head_would_take_seven_times_as_much() -> None:
    mha = replace(QWEN2_5_7B, num_kv_heads=QWEN2_5_7B_QUERY_HEADS)
    assert kv_bytes_per_token(mha) == 7 * kv_bytes_per_token(QWEN2_5_7B) == 392 * 1024


def test_self_check_shape_takes_128_kib_per_token() -> None:
    assert kv_bytes_per_token(ModelConfig("L 32, 8 KV heads", 32, 8, 128)) == 131_072
