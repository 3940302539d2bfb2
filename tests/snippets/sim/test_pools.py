"""The two memories by hand."""

from __future__ import annotations

from array import array

import pytest

from snippets.sim import contiguous, paged
from snippets.sim.contiguous import ContiguousPool
from snippets.sim.paged import BlockPool


def blocks(*numbers: int) -> array[int]:
    return array("i", numbers)


def test_blocks_leave_in_order_and_the_last_one_given_back_leaves_first() -> None:
    pool = BlockPool(num_blocks=6, block_size=4)
    first, second = pool.admit(7), pool.admit(4)
    assert first == blocks(0, 1) and second == blocks(2)
    pool.free_blocks(first)
    assert pool.get_new_blocks(3) == blocks(1, 0, 3)


def test_a_sequence_that_does_not_fit_takes_nothing() -> None:
    pool = BlockPool(num_blocks=2, block_size=4)
    assert pool.admit(9) is None
    assert pool.spare == 2 and pool.taken_tokens == 0


def test_more_blocks_than_are_free_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot get 3 free blocks from the pool: 2 are free"):
        BlockPool(num_blocks=2, block_size=4).get_new_blocks(3)


@pytest.mark.parametrize(("num_blocks", "block_size"), [(0, 16), (4, 0)])
def test_a_pool_without_blocks_is_refused(num_blocks: int, block_size: int) -> None:
    with pytest.raises(ValueError, match="at least 1 block of at least 1 token"):
        BlockPool(num_blocks, block_size)


def test_a_block_table_is_spread_over_cells() -> None:
    # 10 tokens in blocks 5, 0 and 4 of 4 tokens: 4 + 4 + 2.
    table = blocks(5, 0, 4)
    assert sorted(paged.spread(table, 10, 4, cell=4)) == [(0, 0, 4, 4), (4, 0, 2, 4), (5, 0, 4, 4)]
    assert sorted(paged.spread(table, 10, 4, cell=8)) == [(0, 0, 4, 4), (2, 0, 6, 8)]


def test_only_the_blocks_its_tokens_need_are_spread() -> None:
    assert sorted(paged.spread(blocks(5, 0, 4), 4, 4, cell=4)) == [(5, 0, 4, 4)]


def test_the_lowest_free_slot_is_given_out_first() -> None:
    pool = ContiguousPool(pool_tokens=1000, max_context=300)
    taken = [pool.admit(1) for _ in range(4)]
    assert taken == [blocks(0), blocks(1), blocks(2), None]
    pool.free_blocks(blocks(2))
    pool.free_blocks(blocks(0))
    assert pool.admit(1) == blocks(0)
    assert pool.taken_tokens == 600


def test_a_reservation_may_begin_and_end_inside_a_cell() -> None:
    # Slot 1 of 300 tokens is tokens 300 to 599; 110 of them are stored: tokens 300 to 409.
    assert list(contiguous.spread(1, 110, 300, cell=200)) == [(1, 100, 100, 100), (2, 0, 10, 200)]


@pytest.mark.parametrize("max_context", [0, 101])
def test_a_maximum_context_outside_the_pool_is_refused(max_context: int) -> None:
    with pytest.raises(ValueError, match="from 1 to the pool's 100 tokens"):
        ContiguousPool(100, max_context)
