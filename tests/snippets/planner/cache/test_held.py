"""What a request holds at length n, by hand from vLLM 0.26.0's cache managers; `make oracle` asks the managers."""

from __future__ import annotations

import pytest

from snippets.planner.cache import plan_cache
from snippets.planner.cache.held import fixed_bytes, held_blocks, held_bytes, marginal_bytes_per_token
from snippets.planner.specs import CacheGroup, LayerRun, LayerSpec, Limits, Stage
from snippets.units import GIB

FULL = LayerSpec("full", 16, 16, 128)
SLIDING = LayerSpec("sliding", 16, 16, 128, sliding_window=1024)
GEMMA_3_27B: Stage = (LayerRun(10, FULL), LayerRun(52, SLIDING))
PAGE = 131072


def group_of(layer: LayerSpec, limits: Limits) -> CacheGroup:
    (group,) = plan_cache([(LayerRun(1, layer),)], [GIB], limits).groups
    return group


def held(layer: LayerSpec, num_tokens: int, limits: Limits) -> int:
    return held_blocks(group_of(layer, limits), limits, num_tokens)


@pytest.mark.parametrize(("num_tokens", "blocks"), [(0, 0), (1, 1), (16, 1), (17, 2), (2048, 128)])
def test_full_attention_holds_every_token(num_tokens: int, blocks: int) -> None:
    assert held(FULL, num_tokens, Limits(4096)) == blocks


@pytest.mark.parametrize(
    ("num_tokens", "blocks"),
    [
        (1023, 64),  # all tokens still seen by the next
        (1039, 64),  # 65 blocks written; tokens 0 to 15 are out of the window, their block is given back
        (1038, 65),  # token 15 is still in it
        (4096, 64),
    ],
)
def test_a_window_gives_back_whole_blocks_it_has_passed(num_tokens: int, blocks: int) -> None:
    assert held(SLIDING, num_tokens, Limits(8192)) == blocks


@pytest.mark.parametrize(("num_tokens", "blocks"), [(8192, 0), (8193, 1), (12288, 256), (100, 7)])
def test_a_chunk_begins_anew(num_tokens: int, blocks: int) -> None:
    assert held(LayerSpec("chunked", 16, 8, 128, attention_chunk_size=8192), num_tokens, Limits(16384)) == blocks


@pytest.mark.parametrize("mode", ["none", "align", "all"])
def test_a_state_stays_one_block_in_every_mode(mode: str) -> None:
    state = LayerSpec("mamba", 544, shapes=((4096, 16),), dtypes=("float32",), mamba_cache_mode=mode)
    assert held(state, 5000, Limits(8192, mamba_cache_mode=mode)) == 1


def test_context_parallel_ranks_hold_a_share() -> None:
    assert held(FULL, 4096, Limits(8192, decode_context_parallel_size=4)) == 4096 // 16 // 4


def test_gemma_3_holds_far_less_than_is_reserved_for_it() -> None:
    limits = Limits(131072)
    plan = plan_cache([GEMMA_3_27B], [40 * GIB], limits)
    row = 10 * PAGE
    # 2048 tokens: 128 blocks of full attention and 6 groups of 64 blocks
    assert held_bytes(plan, limits, 2048) == (128 + 6 * 64) * row
    assert plan.needed_bytes == (8192 + 6 * 1089) * row


def test_fixed_and_marginal_bytes_add_up_at_full_context() -> None:
    limits = Limits(131072)
    plan = plan_cache([GEMMA_3_27B], [40 * GIB], limits)
    assert marginal_bytes_per_token(plan, limits) == 10 * PAGE / 16
    assert fixed_bytes(plan, limits) == 6 * 64 * 10 * PAGE
    assert held_bytes(plan, limits, 131072) == fixed_bytes(plan, limits) + 131072 * 10 * PAGE // 16


def test_a_window_longer_than_the_context_still_grows() -> None:
    limits = Limits(512)
    plan = plan_cache([(LayerRun(4, SLIDING),)], [GIB], limits)
    assert marginal_bytes_per_token(plan, limits) == 4 * PAGE / 16
    assert fixed_bytes(plan, limits) == 0
