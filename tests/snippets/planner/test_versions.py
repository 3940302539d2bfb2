"""Log lines by version, against lines of published start-up logs."""

from __future__ import annotations

import pytest

from snippets.planner.cache import plan_cache
from snippets.planner.specs import CachePlan, LayerRun, LayerSpec, Limits
from snippets.planner.versions import VersionError, kv_cache_size_tokens, log_lines, max_in_flight_tokens, rules_for
from snippets.units import GIB


def llama_8b(num_blocks: int, max_model_len: int) -> CachePlan:
    spec = LayerSpec("full", 16, 8, 128)
    limits = Limits(max_model_len, num_gpu_blocks_override=num_blocks)
    return plan_cache([(LayerRun(32, spec),)], [GIB], limits)


def gemma_3_27b(num_blocks: int, max_model_len: int, version: str) -> CachePlan:
    """10 full and 52 sliding layers: 7 groups."""
    full = LayerSpec("full", 16, 16, 128)
    sliding = LayerSpec("sliding", 16, 16, 128, sliding_window=1024)
    limits = Limits(max_model_len, max_in_flight_tokens=max_in_flight_tokens(version, 8192, 2))
    limits = Limits(limits.max_model_len, False, limits.max_in_flight_tokens, num_gpu_blocks_override=num_blocks)
    return plan_cache([(LayerRun(10, full), LayerRun(52, sliding))], [GIB], limits)


def test_until_0_20_the_token_line_divides_the_blocks_among_the_groups() -> None:
    # vLLM 0.11.0rc2: 89,994 blocks, "GPU KV cache size: 205,696 tokens", "4,096 tokens per request: 50.05x"
    plan = gemma_3_27b(89_994, 4096, "0.11.0")
    assert log_lines("0.11.0", plan) == (
        "GPU KV cache size: 205,696 tokens",
        "Maximum concurrency for 4,096 tokens per request: 50.05x",
    )


def test_since_0_21_the_token_line_is_the_concurrency_times_the_length() -> None:
    # vLLM 0.22.0: "GPU KV cache size: 275,328 tokens", "Maximum concurrency for 8,192 tokens per request: 33.61x"
    plan = llama_8b(17_208, 8192)
    lines = ("GPU KV cache size: 275,328 tokens", "Maximum concurrency for 8,192 tokens per request: 33.61x")
    assert log_lines("0.22.0", plan) == lines == log_lines("0.26.0", plan) == plan.log_lines[1:]


def test_both_meanings_agree_for_one_group() -> None:
    plan = llama_8b(17_208, 8192)
    assert kv_cache_size_tokens("0.20.0", plan) == kv_cache_size_tokens("0.26.0", plan)


def test_0_33_prints_one_line() -> None:
    assert log_lines("0.33.0", llama_8b(17_208, 8192)) == (
        "GPU KV cache size: 275,328 tokens, Maximum concurrency for 8,192 tokens per request: 33.61x",
    )


def test_v0_prints_blocks_without_commas() -> None:
    # vLLM 0.6.6.post1: "# GPU blocks: 83208, …", "Maximum concurrency for 4096 tokens per request: 325.03x"
    assert log_lines("0.6.6.post1", llama_8b(83_208, 4096)) == (
        "# GPU blocks: 83208",
        "Maximum concurrency for 4096 tokens per request: 325.03x",
    )


def test_decode_context_parallelism_multiplies_the_old_token_line() -> None:
    assert kv_cache_size_tokens("0.20.0", llama_8b(100, 1024), 4) == 100 * 16 * 4


def test_concurrent_batches_count_since_0_26() -> None:
    assert max_in_flight_tokens("0.25.1", 8192, 2) == 8192
    assert max_in_flight_tokens("0.26.0", 8192, 2) == 16384


@pytest.mark.parametrize("version", ["0.1.dev1+gda1daf40b", "", "latest"])
def test_a_text_that_names_no_release_is_refused(version: str) -> None:
    with pytest.raises(VersionError):
        rules_for(version)


def test_suffixes_of_a_version_do_not_matter() -> None:
    assert rules_for("0.19.2rc1.dev134+gfe9c3d6c5") is rules_for("0.20.0") is rules_for("0.10.1.1")
