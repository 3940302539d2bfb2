"""Slots over steps, counted by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest
from drawn import collisions, labels
from hypothesis import given
from hypothesis import strategies as st

from snippets.draw.batch_slots import batch_slots, slots_taken
from snippets.draw.figure import LAYOUTS, Layout, same_text
from snippets.sim.batching import continuous
from snippets.sim.lengths import Request


@pytest.mark.parametrize("layout", LAYOUTS)
def test_eight_requests_in_four_slots(layout: Layout) -> None:
    # Static: the longest of 9, 3, 5, 12 and of 4, 10, 2, 6. 51 tokens in 4 × 22 slots.
    # Continuous: request 5 takes over after step 3 until 7, 6 after 5 until 15, 7 after 7 until 9, 8 after 9 until 15.
    figure = batch_slots()(layout)
    assert figure.finding == (
        "The same 8 requests in 4 slots: 22 steps in static batches, 15 when a slot is filled again at once"
    )
    words = {one.words for one in labels(figure.svg)}
    assert "Static batches: 22 steps, 58 % of the slots in use" in words
    assert "Continuous batching: 15 steps, 85 % of the slots in use" in words
    assert figure.table.rows[5] == ("6", "10", "13 to 22", "6 to 15")
    assert collisions(figure.svg) == []


def test_a_request_takes_the_lowest_free_slot() -> None:
    run = continuous([Request(1, tokens) for tokens in (2, 1, 3, 1)], 2, 100)
    assert slots_taken(run, 2) == [0, 1, 1, 0]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=20), st.integers(1, 8))
def test_no_two_requests_share_a_slot_in_a_step(output_tokens: list[int], max_num_seqs: int) -> None:
    run = continuous([Request(1, tokens) for tokens in output_tokens], max_num_seqs, 10_000)
    taken = slots_taken(run, max_num_seqs)
    spans = sorted(zip(taken, run.first_token_step, run.last_token_step, strict=True))
    for (slot, _, last), (next_slot, first, _) in pairwise(spans):
        assert slot != next_slot or last < first


def test_both_widths_say_the_same() -> None:
    assert same_text([batch_slots()(layout) for layout in LAYOUTS])
