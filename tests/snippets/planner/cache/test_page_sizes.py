"""Page sizes by hand, from the formulas of vLLM 0.26.0's v1/kv_cache_interface.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from snippets.planner.cache.pages import page_size_bytes, spec_of
from snippets.planner.specs import CacheError, Kind, LayerSpec


def page(layer: LayerSpec) -> int:
    spec = spec_of(layer)
    assert spec is not None
    return page_size_bytes(spec)


def llama(block_size: int = 16, **fields: object) -> LayerSpec:
    """A layer of Llama-3.1-8B: 8 KV heads of 128."""
    return LayerSpec("full", block_size, 8, 128, **fields)  # type: ignore[arg-type]


def test_keys_and_values_of_llama_3_1_8b() -> None:
    assert page(llama()) == 16 * 8 * (128 + 128) * 2 == 65536


def test_fp8_takes_exactly_half() -> None:
    assert page(llama(dtype="uint8", cache_dtype="fp8")) == 32768


def test_values_may_be_narrower_than_keys() -> None:
    # MiMo-V2: keys of 192, values of 128
    assert page(LayerSpec("full", 16, 4, 192, 128)) == 16 * 4 * (192 + 128) * 2


def test_per_token_head_scales_are_two_floats_per_token_and_head() -> None:
    # published: 33,792 of 65,536 bytes, so 0.516 and not one half
    assert page(llama(dtype="uint8", cache_dtype="fp8_per_token_head")) == 32768 + 2 * 16 * 8 * 4 == 33792
    assert page(llama(dtype="int8", cache_dtype="int8_per_token_head")) == 33792


def test_int4_per_token_head_halves_the_head_and_keeps_the_scales() -> None:
    assert page(llama(dtype="uint8", cache_dtype="int4_per_token_head")) == 16 * 8 * (64 + 64) + 1024


def test_int4_is_not_halved_under_a_sliding_window() -> None:
    # SlidingWindowSpec.real_page_size_bytes knows nvfp4 only
    layer = LayerSpec("sliding", 16, 8, 128, dtype="uint8", cache_dtype="int4_per_token_head", sliding_window=1024)
    assert page(layer) == 16 * 8 * (128 + 128) + 1024


@pytest.mark.parametrize("kind", ["full", "sliding", "chunked"])
def test_nvfp4_packs_half_a_byte_and_a_scale_per_16(kind: Kind) -> None:
    packed = llama(dtype="uint8", cache_dtype="nvfp4", sliding_window=1024 * (kind == "sliding"))
    assert page(replace(packed, kind=kind, attention_chunk_size=8192 * (kind == "chunked"))) == 16 * 8 * 2 * (64 + 8)


def test_turboquant_counts_slots() -> None:
    # 4bit_nc at 128: keys ceil(128 * 4 / 8) + 2 = 66, values 64 + 4 = 68; published page of 32 tokens: 34,304 bytes
    layer = LayerSpec("turboquant", 32, 8, 128, dtype="uint8", cache_dtype="turboquant_4bit_nc", tq_slot_size=66 + 68)
    assert page(layer) == 32 * 8 * 134 == 34304


def test_mla_keeps_one_latent_for_all_heads() -> None:
    # DeepSeek-V3: kv_lora_rank 512 + qk_rope_head_dim 64
    assert page(LayerSpec("mla", 16, 1, 576)) == 16 * 576 * 2


def test_fp8_ds_mla_is_656_bytes_a_token() -> None:
    # 512 FP8 + 4 float32 scales + 64 BF16
    assert 512 + 4 * 4 + 64 * 2 == 656
    assert page(LayerSpec("mla", 64, 1, 576, dtype="uint8", cache_dtype="fp8_ds_mla")) == 64 * 656


def test_the_indexer_of_v3_2_is_132_bytes_a_token() -> None:
    # 128 FP8 and one float32 scale per 128
    assert page(LayerSpec("mla", 64, 1, 128 + 4, dtype="uint8", cache_dtype=None)) == 64 * 132


@pytest.mark.parametrize(
    ("compress_ratio", "unpadded", "padded"),
    [(4, 64 * 584, 37440), (128, 2 * 584, 1728)],
)
def test_deepseek_v4_compresses_and_aligns(compress_ratio: int, unpadded: int, padded: int) -> None:
    # 584 bytes a stored token, pages rounded up to multiples of 576
    assert padded == -(-unpadded // 576) * 576
    layer = LayerSpec(
        "mla", 256, 1, 512, dtype="uint8", cache_dtype="fp8_ds_mla", compress_ratio=compress_ratio, alignment=576,
        model_version="deepseek_v4",
    )  # fmt: skip
    assert page(layer) == padded


def test_a_deepseek_v4_window_has_the_page_of_its_latents() -> None:
    layer = LayerSpec(
        "sliding_mla", 64, 1, 512, dtype="uint8", cache_dtype="fp8_ds_mla", sliding_window=128, alignment=576,
        model_version="deepseek_v4",
    )  # fmt: skip
    assert page(layer) == 37440


@pytest.mark.parametrize("kind", ["chunked", "cross"])
def test_chunked_and_cross_layers_know_one_head_size(kind: Kind) -> None:
    assert page(LayerSpec(kind, 16, 8, 128, 64, attention_chunk_size=8192)) == 2 * 16 * 8 * 128 * 2


def test_a_state_layer_is_the_sum_of_its_states() -> None:
    # Qwen3-Next: convolution (8192, 3) in BF16, recurrent (32, 128, 128) in FP32
    layer = LayerSpec("mamba", 544, shapes=((8192, 3), (32, 128, 128)), dtypes=("bfloat16", "float32"))
    assert page(layer) == 8192 * 3 * 2 + 32 * 128 * 128 * 4 == 2146304


def test_a_padded_page_is_as_large_as_its_padding() -> None:
    assert page(llama(page_size_padded=70000)) == 70000


def test_padding_that_would_shrink_a_page_is_refused() -> None:
    with pytest.raises(CacheError, match="page_size_padded is 65535"):
        page(llama(page_size_padded=65535))


def test_encoder_only_layers_cache_nothing() -> None:
    assert spec_of(LayerSpec("encoder_only", 16, 12, 64)) is None


@pytest.mark.parametrize(
    ("layer", "field"),
    [
        (LayerSpec("sink", 16, 8, 128), "kind"),  # type: ignore[arg-type]
        (LayerSpec("full", 16, 8, 128, dtype="fp3"), "dtype"),
        (LayerSpec("full", 16, 0, 128), "num_kv_heads"),
        (LayerSpec("full", 0, 8, 128), "block_size"),
        (LayerSpec("sliding", 16, 8, 128), "sliding_window"),
        (LayerSpec("chunked", 16, 8, 128), "attention_chunk_size"),
        (LayerSpec("mamba", 16), "shapes"),
        (LayerSpec("mamba", 16, shapes=((2, 3),)), "dtypes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_impossible_layer_names_its_field(layer: LayerSpec, field: str) -> None:
    with pytest.raises(CacheError) as error:
        spec_of(layer)
    assert error.value.field == field
    assert field in str(error.value)
