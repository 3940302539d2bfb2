"""Bytes against length and FP8's gain, by hand from published layer counts and from a published measurement."""

from __future__ import annotations

import pytest

from snippets.planner.answers.length_curve import fp8_gain, length_curve, spread
from snippets.planner.cache import plan_cache
from snippets.planner.resolved import Resolved
from snippets.planner.specs import CachePlan, LayerRun, LayerSpec, Limits, Stage

GIB = 2**30


def planned(stage: Stage, limits: Limits, available_gib: float = 40) -> tuple[CachePlan, Resolved]:
    resolved = Resolved(
        max_model_len=limits.max_model_len,
        dtype="bfloat16",
        kv_cache_dtype="auto",
        block_size=16,
        attention_backend="",
        max_num_seqs=256,
        max_num_batched_tokens=8192,
        enable_prefix_caching=True,
        enable_chunked_prefill=True,
        async_scheduling=True,
        mamba_cache_mode="none",
        quantization=None,
        uses_cuda_graphs=True,
        limits=limits,
        stages=(stage,),
        reasons={},
    )
    return plan_cache([stage], [int(available_gib * GIB)], limits), resolved


def attention(layers: int, kv_heads: int, head_size: int, **given: object) -> LayerRun:
    fields = {"kind": "full", "block_size": 16, "dtype": "bfloat16", **given}
    return LayerRun(layers, LayerSpec(num_kv_heads=kv_heads, head_size=head_size, **fields))  # type: ignore[arg-type]


def test_qwen2_5_7b_has_no_fixed_bytes_and_56_kib_per_token() -> None:
    curve = length_curve(*planned((attention(28, 4, 128),), Limits(32_768)))
    assert (curve.fixed_bytes, curve.bytes_per_token) == (0, 2 * 28 * 4 * 128 * 2)


def test_gpt_oss_20b_has_twelve_full_windows_and_grows_in_twelve_layers_only() -> None:
    # 12 sliding layers of 128 tokens and 12 full ones, 8 KV heads of 64, 2 bytes: 2,048 bytes a token and layer.
    stage = (attention(12, 8, 64, kind="sliding", sliding_window=128), attention(12, 8, 64))
    curve = length_curve(*planned(stage, Limits(131_072)), lengths=[64, 131_072])
    assert curve.bytes_per_token == 12 * 2_048
    assert curve.fixed_bytes == 8 * 16 * 12 * 2_048  # the window's 127 older tokens and the next lie in 8 blocks of 16
    assert [point.held_bytes for point in curve.points] == [
        (4 + 4) * 16 * 12 * 2_048,
        (8_192 + 8) * 16 * 12 * 2_048,
    ]


def test_gpt_oss_120b_reserves_4_54_gib_for_131072_tokens_and_holds_less() -> None:
    # vllm issue 27508: "4.54 GiB KV cache is needed" with 1,024 batched tokens. 36 layers, half of them windows of 128.
    stage = (attention(18, 8, 64, kind="sliding", sliding_window=128), attention(18, 8, 64))
    limits = Limits(131_072, max_in_flight_tokens=1_024)
    point = length_curve(*planned(stage, limits), lengths=[131_072]).points[0]
    assert point.reserved_bytes / GIB == pytest.approx(4.54, abs=0.005)
    assert point.held_bytes == (8_192 + 8) * 16 * 18 * 2_048


def hybrid(kv_bytes: int) -> tuple[CachePlan, Resolved]:
    """Qwen3.5-27B on one card: 48 GDN layers with a float32 state, 16 of attention; blocks of 784 or 1,568 tokens."""
    state = 48 * 128 * 128 * 4 + 10_240 * 3 * 2
    block = {2: 784, 1: 1_568}[kv_bytes]
    assert -(-state // (4 * 2 * 256 * kv_bytes) // 16) * 16 == block
    gdn = LayerSpec(
        "mamba",
        262_144,
        shapes=((3, 10_240), (48, 128, 128)),
        dtypes=("bfloat16", "float32"),
        page_size_padded=3_211_264,
    )
    dtype = {2: "bfloat16", 1: "uint8"}[kv_bytes]
    return planned((LayerRun(48, gdn), attention(16, 4, 256, block_size=block, dtype=dtype)), Limits(262_144))


def test_fp8_gains_nothing_at_first_and_1_84_times_at_32k_for_a_gated_deltanet_hybrid() -> None:
    # vllm issue 55196: FP8 KV on GDN hybrids gave 1.84 times at 32K and 1.00 for short contexts, not 2.
    short, medium = fp8_gain(*hybrid(2), *hybrid(1), lengths=[500, 32_768])
    assert short.held == 1
    assert medium.held == pytest.approx(1.84, abs=0.04)
    assert medium.requests == pytest.approx(medium.held, rel=1e-2)


def test_fp8_halves_plain_attention_at_every_length() -> None:
    bf16, fp8 = ((attention(28, 4, 128, dtype=dtype),) for dtype in ("bfloat16", "uint8"))
    gains = fp8_gain(*planned(bf16, Limits(32_768)), *planned(fp8, Limits(32_768)))
    assert {(gain.held, gain.reserved) for gain in gains} == {(2.0, 2.0)}


def test_lengths_run_from_one_token_to_the_maximum() -> None:
    assert spread(32_768)[0] == 1
    assert spread(32_768)[-1] == 32_768
    assert spread(3) == (1, 2, 3)
    assert spread(1) == (1,)
