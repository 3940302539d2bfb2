"""What a decode step reads, against published figures and hand computation."""

import pytest

from snippets import decode_step
from snippets.catalog.gpus import gpu
from snippets.catalog.models import model

QWEN = model("qwen2.5-7b")
AWQ = model("qwen2.5-7b-awq")
RTX_4090 = 1008e9  # bytes per second


def test_a_step_reads_all_weights_but_the_input_embedding() -> None:
    # by hand: 15,231,233,024 − 152,064 × 3,584 × 2
    assert decode_step.weights_read_bytes(QWEN) == 15_231_233_024 - 1_089_994_752 == 14_141_238_272


def test_a_tied_matrix_is_read_as_lm_head() -> None:
    # OPT-13B: everything but 2,050 learned positions of 5,120
    assert decode_step.weights_read_bytes(model("opt-13b")) == 2 * (12_853_473_280 - 2050 * 5120)
    assert decode_step.weights_read_bytes(model("qwen3-4b")) == 2 * 4_022_468_096


def test_reading_the_weights_takes_14_03_ms_on_an_rtx_4090_or_71_3_tokens_a_second() -> None:
    seconds = decode_step.step_seconds(decode_step.weights_read_bytes(QWEN), RTX_4090)
    assert (round(1000 * seconds, 2), round(1 / seconds, 1)) == (14.03, 71.3)


def test_awq_weights_take_4_45_ms() -> None:
    # (5,570,747,392 − 1,089,994,752) / 1,008e9
    assert round(1000 * decode_step.step_seconds(decode_step.weights_read_bytes(AWQ), RTX_4090), 2) == 4.45


def test_one_cache_of_8192_tokens_adds_0_466_ms() -> None:
    assert decode_step.kv_read_bytes(QWEN, 8192) == 8192 * 57_344
    assert round(1000 * decode_step.step_seconds(decode_step.kv_read_bytes(QWEN, 8192), RTX_4090), 3) == 0.466


@pytest.mark.parametrize(("sequences", "expected"), [(1, 3.2), (13, 30.2)])
def test_kv_is_a_small_share_of_a_step_s_bytes(sequences: int, expected: float) -> None:
    # 469,762,048 B per sequence of 8,192 tokens, beside 14,141,238,272 B of weights
    assert round(100 * decode_step.kv_share(QWEN, sequences * 8192), 1) == expected


def test_kv_reads_equal_weight_reads_at_246604_tokens_in_flight() -> None:
    found = decode_step.tokens_where_kv_reads_equal_weight_reads(QWEN)
    assert found == 246_604
    assert decode_step.kv_share(QWEN, found) >= 0.5 > decode_step.kv_share(QWEN, found - 1)


def test_kv_memory_equals_weight_memory_at_265612_tokens() -> None:
    # 15,231,233,024 / 57,344 = 265,611.5: more than above, because the input embedding is held but not read
    assert decode_step.tokens_where_kv_memory_equals_weight_memory(QWEN) == 265_612


def test_an_fp8_cache_doubles_the_tokens_of_both_crossings() -> None:
    # 14,141,238,272 / 28,672 = 493,207.25 and 15,231,233,024 / 28,672 = 531,223.25
    assert decode_step.tokens_where_kv_reads_equal_weight_reads(QWEN, 1) == 493_208
    assert decode_step.tokens_where_kv_memory_equals_weight_memory(QWEN, 1) == 531_224


@pytest.mark.parametrize(
    ("batch", "milliseconds", "tokens_per_second"),
    [(1, 4.98, 200.61), (8, 12.13, 659.30), (16, 20.30, 787.99), (32, 36.65, 873.21), (64, 69.33, 923.13)],
)
def test_the_step_law_reproduces_the_scaling_book_s_table(
    batch: int, milliseconds: float, tokens_per_second: float
) -> None:
    # "How to Scale Your Model", chapter 7: LLaMA-2-13B on 8 TPU v5e, 26e9 B of weights, 6.7e9 B of KV per sequence
    seconds = decode_step.step_seconds(26e9 + batch * 6.7e9, 8 * 8.2e11)
    assert 1000 * seconds == pytest.approx(milliseconds, abs=0.006)
    assert round(batch / seconds, 2) == tokens_per_second


def test_an_rtx_4090_computes_and_reads_equally_long_at_163_9_flops_per_byte() -> None:
    # 165.2e12 / 1,008e9
    assert round(decode_step.critical_intensity(gpu("rtx-4090")), 1) == 163.9


def test_a_bf16_linear_layer_does_one_flop_per_byte_and_token() -> None:
    assert decode_step.linear_intensity(tokens=164) == 164
    assert decode_step.linear_intensity(tokens=1, weight_bytes_each=1) == 2


@pytest.mark.parametrize(("key", "expected"), [("qwen2.5-7b", 7), ("llama-2-7b", 1), ("llama-3-70b", 8)])
def test_decode_attention_does_as_many_flops_per_byte_as_query_heads_share_a_kv_head(key: str, expected: int) -> None:
    assert decode_step.decode_attention_intensity(model(key)) == expected


def test_a_prompt_of_8192_tokens_costs_106_91_tflop_in_linear_layers_and_13_47_in_attention() -> None:
    # by hand: 2 × 6,525,288,448 × 8,192; and 4 FLOPs × 28 layers × 3,584 × 8,192 × 8,193 / 2 pairs
    assert decode_step.prefill_linear_flops(QWEN, 8192) == 106_910_325_932_032
    assert decode_step.prefill_attention_flops(QWEN, 8192) == 4 * 28 * 3584 * 33_558_528
    assert round(decode_step.prefill_attention_flops(QWEN, 8192) / 1e12, 2) == 13.47


def test_that_prompt_takes_at_least_0_729_s_on_an_rtx_4090() -> None:
    seconds = decode_step.prefill_seconds(decode_step.prefill_flops(QWEN, 8192), gpu("rtx-4090").flops_per_second)
    assert round(seconds, 3) == 0.729


def test_twice_the_prompt_doubles_linear_flops_and_quadruples_attention_flops() -> None:
    assert decode_step.prefill_linear_flops(QWEN, 16_384) == 2 * decode_step.prefill_linear_flops(QWEN, 8192)
    growth = decode_step.prefill_attention_flops(QWEN, 16_384) / decode_step.prefill_attention_flops(QWEN, 8192)
    assert growth == pytest.approx(4, rel=1e-3)


def test_attention_computes_as_much_as_linear_layers_from_65023_tokens_on() -> None:
    found = decode_step.seq_len_where_attention_flops_equal_linear(QWEN)
    assert found == 65_023
    linear, attention = decode_step.prefill_linear_flops, decode_step.prefill_attention_flops
    assert attention(QWEN, found) >= linear(QWEN, found)
    assert attention(QWEN, found - 1) < linear(QWEN, found - 1)


@pytest.mark.parametrize("key", ["mixtral-8x7b", "deepseek-v3", "qwen3-30b-a3b"])
def test_experts_are_refused_because_a_step_reads_only_some(key: str) -> None:
    with pytest.raises(ValueError, match="has experts"):
        decode_step.weights_read_bytes(model(key))


@pytest.mark.parametrize("key", ["mistral-7b-v0.1", "gemma-3-27b", "deepseek-v3"])
def test_windows_and_latents_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="choose a model with full attention"):
        decode_step.kv_read_bytes(model(key), 8192)


def test_mla_has_no_such_simple_decode_intensity() -> None:
    with pytest.raises(ValueError, match="DeepSeek-V3 has MLA"):
        decode_step.decode_attention_intensity(model("deepseek-v3"))
