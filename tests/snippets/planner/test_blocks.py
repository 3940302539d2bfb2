"""Blocks, tokens and log lines, against vLLM itself run on CPU and against logs of real servers."""

import pytest

from snippets.catalog.models import model
from snippets.kv_shapes import KVShape
from snippets.planner import blocks

GIB = 2**30
QWEN = KVShape.of(model("qwen2.5-7b"))


def gqa(layers: int, kv_heads: int) -> KVShape:
    return KVShape("gqa", layers, 8 * kv_heads, kv_heads, 128)


@pytest.mark.parametrize(
    ("block_size", "dtype_bytes", "num_blocks", "tokens", "concurrency"),
    [  # vLLM 0.26.0 built for CPU, 1 GiB of KV space, max_model_len 8192, Qwen2.5-7B's KV shape; run 2026-11-29
        (128, 2, 146, "18,688", "2.28"),
        (16, 2, 1170, "18,720", "2.29"),
        (128, 1, 292, "37,376", "4.56"),
    ],
)
def test_vllm_0_26_0_printed_the_same(
    block_size: int, dtype_bytes: int, num_blocks: int, tokens: str, concurrency: str
) -> None:
    page = blocks.page_size_bytes(QWEN, block_size, dtype_bytes)
    found = blocks.num_gpu_blocks(GIB, page, QWEN.num_layers)
    assert found == num_blocks
    assert blocks.log_lines(found, block_size, 8192) == (
        f"GPU KV cache size: {tokens} tokens",
        f"Maximum concurrency for 8,192 tokens per request: {concurrency}x",
    )


LOGS = [  # shape per GPU, bytes per element, printed GiB, tokens, max_model_len, concurrency; block size 16
    pytest.param(gqa(28, 4), 2, 5.01, 93_872, 16_384, "5.73", id="Qwen2-7B, A100, vLLM 0.10.1.1"),
    pytest.param(gqa(28, 2), 2, 12.02, 450_192, 16_384, "27.48", id="Qwen2-7B on two A100, vLLM 0.10.1.1"),
    pytest.param(gqa(32, 8), 2, 105.97, 868_080, 1_024, "847.73", id="Llama-3-8B, H200, vLLM 0.11.2"),
    pytest.param(gqa(36, 2), 2, 64.9, 1_890_400, 32_768, "57.69", id="Qwen2.5-3B, A100, vLLM 0.17.1"),
    pytest.param(gqa(64, 2), 2, 5.24, 85_760, 32_768, "2.62", id="Qwen2.5-32B on four RTX 3090, vLLM 0.18.1"),
    pytest.param(gqa(36, 8), 2, 37.81, 275_328, 8_192, "33.61", id="an 8B Qwen3, 80 GB card, vLLM 0.22.0"),
    pytest.param(gqa(36, 4), 2, 4.37, 63_584, 4_096, "15.52", id="Qwen3-8B on two T4, vLLM 0.22.1"),
    pytest.param(gqa(48, 8), 2, 10.39, 56_736, 8_192, "6.93", id="Qwen2.5-14B-AWQ, RTX A5000, vLLM 0.13.0"),
    # llm-d-planner's report on vLLM 0.19.0; no concurrency printed there
    pytest.param(gqa(32, 8), 2, 58.11, 476_016, 16_384, "", id="Llama-3.1-8B, llm-d-planner"),
    pytest.param(gqa(32, 8), 1, 58.11, 952_032, 16_384, "", id="Llama-3.1-8B with FP8 KV, llm-d-planner"),
    pytest.param(gqa(28, 4), 2, 58.53, 1_096_000, 16_384, "", id="Qwen2.5-7B, llm-d-planner"),
    pytest.param(gqa(28, 4), 1, 58.53, 2_192_000, 16_384, "", id="Qwen2.5-7B with FP8 KV, llm-d-planner"),
    pytest.param(gqa(28, 8), 2, 18.78, 175_856, 16_384, "", id="Qwen3-1.7B, 24 GB card, vllm issue 33263"),
]


@pytest.mark.parametrize(("shape", "dtype_bytes", "printed_gib", "tokens", "max_model_len", "concurrency"), LOGS)
def test_real_servers_printed_tokens_within_the_rounding_of_their_gib(
    shape: KVShape, dtype_bytes: int, printed_gib: float, tokens: int, max_model_len: int, concurrency: str
) -> None:
    page = blocks.page_size_bytes(shape, 16, dtype_bytes)

    def tokens_at(gib: float) -> int:
        found = blocks.num_gpu_blocks(int(gib * GIB), page, shape.num_layers)
        return blocks.kv_cache_size_tokens(found, 16, max_model_len)

    assert tokens_at(printed_gib - 0.005) - 16 <= tokens <= tokens_at(printed_gib + 0.005)
    if concurrency:
        assert blocks.log_lines(tokens // 16, 16, max_model_len)[1].endswith(f" {concurrency}x")


@pytest.mark.parametrize(("printed_gib", "printed_blocks"), [(3.81, 1952), (2.89, 1478)])
def test_an_rtx_3090_had_the_blocks_its_gib_allow(printed_gib: float, printed_blocks: int) -> None:
    # vllm issue 10517, Llama-3.1-8B: 2 MiB per block over all layers
    page = blocks.page_size_bytes(gqa(32, 8), 16, 2)
    least, most = (blocks.num_gpu_blocks(int((printed_gib + d) * GIB), page, 32) for d in (-0.005, 0.005))
    assert least <= printed_blocks <= most


def test_a_page_is_two_vectors_per_token_and_kv_head() -> None:
    # kv_cache_interface.py: block × heads × (head size of K + head size of V) × bytes
    assert blocks.page_size_bytes(QWEN, 16, 2) == 16 * 4 * (128 + 128) * 2


def test_tokens_are_not_blocks_times_16_when_the_longest_request_ends_inside_a_block() -> None:
    # by hand: 100 blocks, 1,000 tokens take 63 blocks: int(100 / 63 × 1,000)
    assert blocks.kv_cache_size_tokens(100, 16, 1000) == 1587
    assert blocks.kv_cache_size_tokens(100, 16, 1024) == 1600


def test_no_memory_means_no_blocks() -> None:
    assert blocks.num_gpu_blocks(-1_127_000_000, 32_768, 28) == 0
    assert blocks.max_concurrency(0, 16, 8192) == 0


@pytest.mark.parametrize("key", ["mistral-7b-v0.1", "gemma-3-27b", "gpt-oss-20b"])
def test_sliding_windows_are_refused(key: str) -> None:
    with pytest.raises(blocks.NotPlannedError, match="vLLM groups sliding layers apart") as caught:
        blocks.page_size_bytes(KVShape.of(model(key)), 16, 2)
    assert caught.value.field == "num_sliding_layers"


def test_mla_is_refused() -> None:
    with pytest.raises(blocks.NotPlannedError, match="attention is mla"):
        blocks.page_size_bytes(KVShape.of(model("deepseek-v3")), 16, 2)


def test_a_size_of_zero_is_refused_naming_the_field() -> None:
    with pytest.raises(blocks.NotPlannedError, match="max_model_len is 0; it must be 1 or more") as caught:
        blocks.max_concurrency(100, 16, 0)
    assert caught.value.field == "max_model_len"
