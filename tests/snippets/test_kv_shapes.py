"""KV cache sizes of every attention kind, against papers, hand computation and a token-by-token count."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snippets import kv_cache_size
from snippets.catalog.models import Model, model, models
from snippets.kv_shapes import (
    KVShape,
    ShapeError,
    effective_kv_heads,
    elements_per_token_per_layer,
    first_batch_at_least,
    first_seq_len_at_least,
    kv_bytes,
    kv_bytes_per_token,
    kv_head_choices,
)

GQA = KVShape("gqa", num_layers=80, num_attention_heads=64, num_kv_heads=8, head_dim=128)
LLAMA_3_70B_WEIGHTS = 141_107_412_992  # 2 bytes for each of 70,553,706,496 parameters


def shape(key: str) -> KVShape:
    return KVShape.of(model(key))


def test_llama_2_70b_takes_320_kib_per_token_and_2_5_mib_only_as_a_hypothetical_mha() -> None:
    llama = shape("llama-2-70b")
    assert kv_bytes_per_token(llama, 2) == 320 * 1024
    assert kv_bytes_per_token(replace(llama, attention="mha", num_kv_heads=64), 2) == 2.5 * 2**20


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("qwen2.5-7b", 57_344),  # 2 × 28 × 4 × 128 × 2
        ("opt-13b", 819_200),  # arXiv 2309.06180 section 3: 800 KB
        ("deepseek-v3", 70_272),  # 61 layers × (512 + 64) × 2
        ("santacoder", 12_288),  # 2 × 24 × 1 × 128 × 2
        ("mistral-7b-v0.1", 131_072),  # 2 × 32 × 8 × 128 × 2
        ("gpt-oss-20b", 49_152),  # 2 × 24 × 8 × 64 × 2: hidden_size / heads = 45 would be wrong
    ],
)
def test_bytes_of_the_first_token(key: str, expected: int) -> None:
    assert kv_bytes_per_token(shape(key), 2) == expected


def test_deepseek_v2_caches_34560_elements_per_token() -> None:
    # arXiv 2405.04434 Table 1: (d_c + d_h^R) · l = (512 + 64) · 60, as much as GQA with 2.25 groups
    v2 = KVShape("mla", 60, 128, 1, 128, kv_lora_rank=512, qk_rope_head_dim=64)
    assert elements_per_token_per_layer(v2) * v2.num_layers == 34_560
    assert elements_per_token_per_layer(v2) / (2 * 128) == 2.25


def test_deepseek_v2_s_93_3_percent_needs_its_6_bit_cache() -> None:
    # arXiv 2405.04434: 93.3 % less than DeepSeek-67B (GQA-8, 95 layers, head_dim 128, 16 bit), at 6 bits on average
    v2_elements = 60 * (512 + 64)
    before = KVShape("gqa", 95, 64, 8, 128)
    assert kv_bytes_per_token(before, 2) == 194_560 * 2
    assert round(1 - v2_elements * 6 / 8 / kv_bytes_per_token(before, 2), 4) == 0.9334
    assert round(1 - v2_elements * 2 / kv_bytes_per_token(before, 2), 3) == 0.822


@pytest.mark.parametrize(
    ("key", "seq_len", "expected_mib"),
    [
        ("mistral-7b-v0.1", 4096, 512),
        ("mistral-7b-v0.1", 4097, 512),  # the window is full
        ("mistral-7b-v0.1", 32_768, 512),  # arXiv 2310.06825: an eighth at 32k
        ("mistral-7b-v0.3", 32_768, 4096),
    ],
)
def test_mistral_7b_stops_growing_at_its_window_in_v0_1_only(key: str, seq_len: int, expected_mib: int) -> None:
    assert kv_bytes(shape(key), seq_len, 1, 2) == expected_mib * 2**20


def test_gemma_3_27b_takes_2_91_gib_at_32k_instead_of_15_5() -> None:
    # by hand: 8,192 B per token and layer × (10 × 32,768 + 52 × 1,024)
    gemma = shape("gemma-3-27b")
    assert kv_bytes(gemma, 32_768, 1, 2) == 8192 * (10 * 32_768 + 52 * 1024)
    assert round(kv_bytes(gemma, 32_768, 1, 2) / 2**30, 2) == 2.91
    assert kv_bytes(replace(gemma, num_sliding_layers=0), 32_768, 1, 2) == 15.5 * 2**30


def test_an_8_bit_cache_is_half_as_large() -> None:
    assert 2 * kv_bytes(GQA, 8192, 8, 1) == kv_bytes(GQA, 8192, 8, 2) == 20 * 2**30


@given(
    st.integers(1, 200),
    st.integers(1, 64),
    st.sampled_from([16, 64, 128, 256]),
    st.integers(0, 10**6),
    st.integers(0, 1024),
)
def test_full_attention_agrees_with_the_lesson_s_calculator(
    layers: int, kv_heads: int, head_dim: int, seq_len: int, batch: int
) -> None:
    lesson = kv_cache_size.ModelConfig("any", layers, kv_heads, head_dim)
    here = KVShape("gqa", layers, 2 * kv_heads, kv_heads, head_dim)
    assert kv_bytes_per_token(here, 2) == kv_cache_size.kv_bytes_per_token(lesson)
    assert kv_bytes(here, seq_len, batch, 2) == kv_cache_size.kv_bytes(lesson, seq_len, batch)


def test_llama_3_70b_kv_reaches_its_weights_where_the_published_figures_say() -> None:
    # closed form W / (κ · B): 430,625.0…, 53,828.2…, 13,457.0… tokens, so the first whole ones
    found = [first_seq_len_at_least(GQA, LLAMA_3_70B_WEIGHTS, batch, 2, 1_048_576) for batch in (1, 8, 32)]
    assert found == [430_626, 53_829, 13_458]
    assert first_batch_at_least(GQA, LLAMA_3_70B_WEIGHTS, 8192, 2) == 53


def test_turned_into_mha_llama_3_70b_s_crossing_comes_7_06_times_sooner() -> None:
    mha = replace(GQA, attention="mha", num_kv_heads=64)
    mha_weights = 2 * 79_948_947_456  # transformers 5.24.0, LlamaForCausalLM with 64 KV heads on the meta device
    gqa_tokens = first_seq_len_at_least(GQA, LLAMA_3_70B_WEIGHTS, 1, 2, 1_048_576)
    mha_tokens = first_seq_len_at_least(mha, mha_weights, 1, 2, 1_048_576)
    assert gqa_tokens is not None and mha_tokens is not None
    assert round(gqa_tokens / mha_tokens, 2) == 7.06


def test_a_cache_whose_layers_all_slide_may_never_reach_the_weights() -> None:
    assert first_seq_len_at_least(shape("mistral-7b-v0.1"), 14_483_464_192, 1, 2, 1_048_576) is None


def test_a_crossing_beyond_the_limit_is_none() -> None:
    assert first_seq_len_at_least(GQA, LLAMA_3_70B_WEIGHTS, 1, 2, 430_625) is None
    assert first_seq_len_at_least(GQA, LLAMA_3_70B_WEIGHTS, 1, 2, 430_626) == 430_626


SHAPES = st.builds(
    lambda layers, sliding, window, heads, group: KVShape(
        "gqa", layers, heads * group, heads, 4, sliding_window=window, num_sliding_layers=min(sliding, layers)
    ),
    layers=st.integers(1, 6),
    sliding=st.integers(0, 6),
    window=st.integers(1, 20),
    heads=st.integers(1, 3),
    group=st.integers(1, 3),
)


@given(SHAPES, st.integers(1, 20_000), st.integers(1, 4))
def test_the_first_context_is_the_one_a_search_finds(shape: KVShape, target: int, batch: int) -> None:
    limit = 60
    searched = next((s for s in range(1, limit + 1) if kv_bytes(shape, s, batch, 2) >= target), None)
    assert first_seq_len_at_least(shape, target, batch, 2, limit) == searched
    assert first_seq_len_at_least(shape, target - 0.5, batch, 2, limit) == searched


@given(SHAPES, st.integers(1, 200_000), st.integers(1, 40))
def test_the_first_batch_is_the_one_that_reaches(shape: KVShape, target: int, seq_len: int) -> None:
    found = first_batch_at_least(shape, target, seq_len, 2)
    assert kv_bytes(shape, seq_len, found, 2) >= target
    assert found == 1 or kv_bytes(shape, seq_len, found - 1, 2) < target


@given(SHAPES, st.integers(0, 50))
def test_each_token_adds_one_row_per_layer_until_a_window_is_full(shape: KVShape, seq_len: int) -> None:
    rows = 0
    for token in range(seq_len):
        rows += shape.num_full_layers + (shape.num_sliding_layers if token < shape.sliding_window else 0)
    assert kv_bytes(shape, seq_len, 1, 2) == rows * elements_per_token_per_layer(shape) * 2


@pytest.mark.parametrize("found", models().values(), ids=models())
def test_a_catalog_model_s_cache_grows_until_its_full_context(found: Model) -> None:
    here = KVShape.of(found)
    assert 0 < kv_bytes(here, 1, 1, 2) <= kv_bytes(here, found.max_position_embeddings, 1, 2)


def test_the_choices_of_kv_heads_are_the_divisors() -> None:
    assert kv_head_choices(28) == (1, 2, 4, 7, 14, 28)


def test_attention_decides_the_kv_heads_except_for_gqa() -> None:
    assert [effective_kv_heads(kind, 64, 8) for kind in ("mha", "gqa", "mqa", "mla")] == [64, 8, 1, 1]


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"num_layers": 0}, "num_layers", "num_layers is 0; it must be a whole number, 1 or more"),
        ({"num_layers": True}, "num_layers", "num_layers is True; it must be a whole number, 1 or more"),
        ({"head_dim": 128.5}, "head_dim", "head_dim is 128.5; it must be a whole number, 1 or more"),
        ({"num_attention_heads": -64}, "num_attention_heads", "num_attention_heads is -64"),
        ({"num_kv_heads": 7}, "num_kv_heads", "does not divide 64 query heads evenly; choose one of 1, 2, 4, 8, 16"),
        ({"attention": "mha"}, "num_kv_heads", "MHA with 64 query heads has 64; set it to 64 or choose GQA"),
        ({"attention": "mqa"}, "num_kv_heads", "MQA with 64 query heads has 1; set it to 1 or choose GQA"),
        ({"attention": "linear"}, "attention", "attention is 'linear'; it must be one of mha, gqa, mqa, mla"),
        ({"attention": "mla", "num_kv_heads": 1}, "kv_lora_rank", "kv_lora_rank is 0, but MLA caches a latent"),
        ({"kv_lora_rank": 512}, "kv_lora_rank", "kv_lora_rank is 512, but only MLA has one"),
        ({"qk_rope_head_dim": 64}, "qk_rope_head_dim", "qk_rope_head_dim is 64, but only MLA has one"),
        ({"num_sliding_layers": 81, "sliding_window": 1}, "num_sliding_layers", "more than the 80 layers there are"),
        ({"num_sliding_layers": 40}, "sliding_window", "sliding_window is 0, but 40 layers slide"),
        ({"sliding_window": -1}, "sliding_window", "sliding_window is -1; it must be a whole number, 0 or more"),
    ],
)
def test_a_shape_no_model_can_have_is_refused_naming_the_field(
    change: dict[str, object], field: str, message: str
) -> None:
    with pytest.raises(ShapeError) as caught:
        replace(GQA, **change)  # type: ignore[arg-type]
    assert caught.value.field == field
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("field", "arguments"),
    [("seq_len", (-1, 1, 2)), ("batch", (1, -1, 2)), ("dtype_bytes", (1, 1, 0))],
)
def test_a_negative_size_is_refused_naming_the_field(field: str, arguments: tuple[int, int, int]) -> None:
    with pytest.raises(ShapeError) as caught:
        kv_bytes(GQA, *arguments)
    assert caught.value.field == field
