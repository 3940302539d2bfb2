"""Whole plans, against published start-up lines and hand computation of vLLM 0.26.0's rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from snippets.planner.cache import plan_cache
from snippets.planner.specs import CacheError, LayerRun, LayerSpec, Limits, Stage
from snippets.units import GIB

LLAMA = LayerSpec("full", 16, 8, 128)
FULL = LayerSpec("full", 16, 16, 128)
SLIDING = LayerSpec("sliding", 16, 16, 128, sliding_window=1024)
STATE = LayerSpec("mamba", 544, shapes=((8192, 3), (32, 128, 128)), dtypes=("bfloat16", "float32"))
LLAMA_8B: Stage = (LayerRun(32, LLAMA),)
GEMMA_3_27B: Stage = (*[LayerRun(5, SLIDING), LayerRun(1, FULL)] * 10, LayerRun(2, SLIDING))


def test_llama_3_1_8b_in_20_gib() -> None:
    # 20 GiB / 65,536 bytes / 32 layers = 10,240 blocks of 16 tokens; 8192 / 16 = 512 a request
    plan = plan_cache([LLAMA_8B], [20 * GIB], Limits(8192))
    assert (plan.num_gpu_blocks, plan.blocks_per_request, plan.max_concurrency) == (10240, 512, 20.0)
    assert plan.bytes_per_block == 32 * 65536
    assert plan.needed_bytes == GIB
    assert plan.log_lines == (
        "GPU KV cache size: 163,840 tokens",
        "Maximum concurrency for 8,192 tokens per request: 20.00x",
    )


def test_too_long_a_context_is_refused_in_vllms_words_with_the_longest_that_fits() -> None:
    # published with 0.26.0: Llama-3.1-8B in BF16 and 10 GiB, estimate 81,920
    with pytest.raises(CacheError) as error:
        plan_cache([LLAMA_8B], [10 * GIB], Limits(131072))
    assert str(error.value) == (
        "To serve at least one request with the model's max seq len (131072), (16.0 GiB KV cache is needed, which is "
        "larger than the available KV cache memory (10.0 GiB). Based on the available memory, the estimated maximum "
        "model length is 81920. Try increasing `gpu_memory_utilization` (which also controls CPU memory on the CPU "
        "backend) or decreasing `max_model_len` when initializing the engine. See "
        "https://docs.vllm.ai/en/latest/configuration/conserving_memory/ for more details."
    )
    assert (error.value.needed_bytes, error.value.available_bytes) == (16 * GIB, 10 * GIB)
    assert error.value.estimated_max_model_len == 81920


@pytest.mark.parametrize("available", [0, -GIB])
def test_no_memory_left_is_refused_in_vllms_words(available: int) -> None:
    with pytest.raises(CacheError, match=r"^No available memory for the cache blocks\. Try increasing"):
        plan_cache([LLAMA_8B], [available], Limits(8192))


def test_less_than_one_token_has_no_estimate() -> None:
    with pytest.raises(CacheError, match=r"memory \(0\.0 GiB\)\. Try increasing") as error:
        plan_cache([LLAMA_8B], [1000], Limits(8192))
    assert error.value.estimated_max_model_len == 0


def test_auto_fit_shortens_to_what_fits_and_says_so() -> None:
    plan = plan_cache([LLAMA_8B], [10 * GIB], Limits(131072, auto_fit=True))
    assert plan.max_model_len == 81920
    assert plan.log_lines[0] == (
        "Auto-fit max_model_len: reduced from 131072 to 81920 to fit in available GPU memory "
        "(10.0 GiB available for KV cache)"
    )


def test_gemma_3_27b_gets_seven_groups_with_eight_padding_layers() -> None:
    # 10 full and 52 sliding layers: groups of 10, ceil(52 / 10) = 6 of windows, 8 places empty
    plan = plan_cache([GEMMA_3_27B], [20 * GIB], Limits(131072))
    assert [group.num_layers for group in plan.groups] == [9, 9, 9, 9, 8, 8, 10]
    assert plan.warnings == ("Add 8 padding layers, may waste at most 15.38% KV cache memory",)
    assert plan.bytes_per_block == 10 * 131072
    # windows: ceil((1023 + 16384) / 16) + 1 = 1089 blocks each; full: 8192
    assert plan.blocks_per_request == 8192 + 6 * 1089


def test_kinds_of_almost_equal_number_are_padded_to_the_larger() -> None:
    # gpt-oss-20b with a drafter: 12 windows and 13 full layers make two groups of up to 13
    plan = plan_cache([(LayerRun(12, SLIDING), LayerRun(13, FULL))], [20 * GIB], Limits(8192))
    assert [group.num_layers for group in plan.groups] == [12, 13]
    assert plan.bytes_per_block == 13 * 131072


def test_a_smaller_page_gets_a_larger_block() -> None:
    # Gemma-4-31B: windows of 16 heads x 256, full layers of 4 heads x 512: pages in the ratio of 2, blocks 16 and 32
    windows = LayerSpec("sliding", 16, 16, 256, sliding_window=1024)
    plan = plan_cache([(LayerRun(50, windows), LayerRun(10, LayerSpec("full", 16, 4, 512)))], [60 * GIB], Limits(8192))
    assert {(group.kind, group.block_size) for group in plan.groups} == {
        ("SlidingWindowSpec", 16),
        ("FullAttentionSpec", 32),
    }


def test_pages_that_do_not_divide_are_refused_unless_the_backend_strides() -> None:
    odd = LayerSpec("sliding", 16, 3, 128, sliding_window=1024)
    with pytest.raises(CacheError) as error:
        plan_cache([(LayerRun(2, FULL), LayerRun(2, odd, "model.layers.7"))], [GIB], Limits(4096))
    assert str(error.value) == (
        "Layer model.layers.7: page size is not divisible by the maximum page size and cannot be padded. Padding is "
        "only supported for attention layers whose backend indexes KV pages by the block stride "
        "(indexes_kv_by_block_stride is True)."
    )
    strided = replace(odd, indexes_kv_by_block_stride=True)
    plan = plan_cache([(LayerRun(2, FULL), LayerRun(2, strided))], [GIB], Limits(4096))
    assert {group.page_size_bytes for group in plan.groups} == {131072}


def test_layers_of_one_type_and_several_pages_share_one_group() -> None:
    # DeepSeek-V3.2: 61 latents of 656 bytes a token and 61 indexers of 132
    latent = LayerSpec("mla", 64, 1, 576, dtype="uint8", cache_dtype="fp8_ds_mla")
    indexer = LayerSpec("mla", 64, 1, 132, dtype="uint8", cache_dtype=None)
    plan = plan_cache([[LayerRun(1, latent), LayerRun(1, indexer)] * 61], [10 * GIB], Limits(65536))  # type: ignore[list-item]
    (group,) = plan.groups
    assert group.kind == "UniformTypeKVCacheSpecs"
    assert plan.bytes_per_block == group.page_size_bytes == 61 * 64 * (656 + 132)
    assert plan.num_gpu_blocks == 10 * GIB // plan.bytes_per_block


def test_without_the_hybrid_manager_windows_count_as_full() -> None:
    off = Limits(8192, disable_hybrid_kv_cache_manager=True)
    plan = plan_cache([GEMMA_3_27B], [20 * GIB], off)
    assert [group.num_layers for group in plan.groups] == [62]
    assert plan.bytes_per_block == 62 * 131072
    assert plan.warnings[0].startswith("Hybrid KV cache manager is disabled for this hybrid model, This means")


def test_without_the_hybrid_manager_states_beside_attention_are_refused() -> None:
    with pytest.raises(CacheError, match="failed to convert the KV cache specs to one unified type"):
        plan_cache([(LayerRun(4, FULL), LayerRun(4, STATE))], [GIB], Limits(512, disable_hybrid_kv_cache_manager=True))


@pytest.mark.parametrize(("mode", "blocks"), [("none", 1), ("align", 2), ("all", 16)])
def test_states_take_blocks_by_cache_mode(mode: str, blocks: int) -> None:
    # all: ceil(8192 / 544) = 16
    plan = plan_cache([(LayerRun(36, STATE),)], [2 * GIB], Limits(8192, mamba_cache_mode=mode))
    assert plan.blocks_per_request == blocks


def test_speculative_states_come_on_top() -> None:
    plan = plan_cache([(LayerRun(36, replace(STATE, num_speculative_blocks=3)),)], [GIB], Limits(8192))
    assert plan.blocks_per_request == 4


def test_cross_attention_keeps_the_encoders_tokens() -> None:
    # Whisper: 1500 encoder tokens are ceil(1500 / 16) = 94 blocks, beside 28 for 448 tokens
    cross = replace(LLAMA, kind="cross")
    plan = plan_cache(
        [(LayerRun(32, LLAMA), LayerRun(32, cross))], [GIB], Limits(448, max_num_encoder_input_tokens=1500)
    )
    assert plan.blocks_per_request == 28 + 94


def test_chunks_keep_one_chunk_and_what_is_in_flight() -> None:
    chunked = replace(FULL, kind="chunked", attention_chunk_size=8192)
    plan = plan_cache([(LayerRun(36, chunked), LayerRun(12, FULL))], [60 * GIB], Limits(131072))
    assert [group.blocks_per_request for group in plan.groups] == [(8192 + 16384) // 16] * 3 + [8192]


def test_context_parallel_ranks_share_a_request() -> None:
    plan = plan_cache([(LayerRun(32, LLAMA),)], [10 * GIB], Limits(131072, decode_context_parallel_size=4))
    assert plan.blocks_per_request == 131072 // 4 // 16


def test_context_parallelism_with_windows_is_refused_by_name() -> None:
    with pytest.raises(CacheError, match="decode_context_parallel_size is 2") as error:
        plan_cache([GEMMA_3_27B], [20 * GIB], Limits(8192, decode_context_parallel_size=2))
    assert error.value.field == "decode_context_parallel_size"


def test_the_stage_with_the_fewest_blocks_decides() -> None:
    # 11, 11 and 10 layers: 1 GiB holds 1489 blocks of 11 layers
    stages: list[Stage] = [(LayerRun(count, LLAMA),) for count in (11, 11, 10)]
    plan = plan_cache(stages, [GIB] * 3, Limits(8192))
    assert plan.num_gpu_blocks == GIB // (11 * 65536) == 1489
    assert plan_cache(stages, [GIB, GIB, GIB // 2], Limits(4096)).num_gpu_blocks == GIB // 2 // (10 * 65536)


def test_groups_are_dealt_over_stages_so_that_each_stage_stays_even() -> None:
    # two stages of 1 full and 2 sliding layers: groups of 2, one layer of each group on each stage
    stage = (LayerRun(1, FULL), LayerRun(2, SLIDING))
    plan = plan_cache([stage, stage], [GIB, GIB], Limits(4096))
    assert [group.layers_per_stage for group in plan.groups] == [(1, 1), (1, 1), (1, 1)]
    assert plan.bytes_per_block == 131072


def test_an_override_stands_for_its_memory() -> None:
    plan = plan_cache([LLAMA_8B], [GIB], Limits(8192, num_gpu_blocks_override=1000))
    assert plan.num_gpu_blocks == 1000
    assert plan.log_lines[0] == "Overriding num_gpu_blocks=512 with num_gpu_blocks_override=1000"


def test_a_model_without_a_cache_has_the_null_block_only() -> None:
    plan = plan_cache([(LayerRun(12, LayerSpec("encoder_only", 16, 12, 64)),)], [0], Limits(512))
    assert (plan.num_gpu_blocks, plan.groups, plan.max_concurrency, plan.log_lines) == (1, (), 0.0, ())


def test_a_stage_without_a_cache_is_refused() -> None:
    with pytest.raises(CacheError, match="pipeline stage 1 has no layer with a cache"):
        plan_cache([LLAMA_8B, ()], [GIB, GIB], Limits(8192))


def test_memory_is_given_per_stage() -> None:
    with pytest.raises(CacheError, match="one value per stage"):
        plan_cache([LLAMA_8B], [GIB, GIB], Limits(8192))
