"""The block size as a result: what it wastes, by hand."""

from __future__ import annotations

from snippets.catalog.gpus import gpu
from snippets.planner.answers.block_size import BlockSize, block_size
from snippets.planner.cache import plan_cache
from snippets.planner.engine_args import EngineArgs
from snippets.planner.evidence.logs import config_of
from snippets.planner.settings import resolve


def answer(model: str, **args: object) -> BlockSize:
    resolved = resolve(config_of(model), EngineArgs(max_model_len=8192, **args), gpu("h100-80gb"))  # type: ignore[arg-type]
    return block_size(resolved, plan_cache(resolved.stages, [30 * 2**30], resolved.limits))


def test_plain_attention_has_blocks_of_16_and_wastes_seven_and_a_half_slots_on_average() -> None:
    found = answer("qwen2.5-7b")
    assert (found.block_size, [group.tokens for group in found.groups]) == (16, [16])
    assert found.mean_waste_bytes == 7.5 * 28 * 2 * 4 * 128 * 2
    assert (found.reuse.smallest_prefix, found.reuse.cached_tokens(8_192)) == (16, 8_176)
    assert any("FLASH_ATTN" in reason for reason in found.reasons)


def test_qwen3_next_has_blocks_of_544_tokens_because_a_page_must_cover_a_state() -> None:
    # vLLM 0.26.0 itself gives 544 for this config.
    found = answer("qwen3-next-80b-a3b")
    assert found.block_size == 544
    assert any("state" in reason for reason in found.reasons)
    assert found.groups[0].empty_slots == 543 or found.groups[-1].empty_slots == 543


def test_a_hybrid_reuses_nothing_until_prefix_caching_is_asked_for_and_then_in_steps_of_its_block() -> None:
    assert answer("qwen3-next-80b-a3b").reuse.smallest_prefix == 0  # 0.26.0 leaves it off for hybrids
    asked = answer("qwen3-next-80b-a3b", enable_prefix_caching=True).reuse
    assert (asked.smallest_prefix, asked.cached_tokens(2_000)) == (544, 1_632)
    assert asked.states_at_chunk_ends
