"""The fewest cards, by hand: weights that must be split, and the rates that reading them allows."""

from __future__ import annotations

import pytest

from snippets.catalog.configs import catalog_config
from snippets.catalog.gpus import gpu
from snippets.planner.answers.fewest_cards import CardCount, fewest_cards
from snippets.planner.answers.layout_speed import speed_of
from snippets.planner.answers.layouts import layouts
from snippets.planner.engine_args import EngineArgs

SHORT = EngineArgs(max_model_len=8192)
LLAMA_WEIGHTS = 16_060_522_496  # bytes of Llama-3.1-8B: vLLM's own model class on the meta device
LLAMA_EMBEDDING = 128_256 * 4096 * 2  # a step looks rows up in it and does not read it
LLAMA_TOKEN = 32 * 2 * 8 * 128 * 2  # bytes


def counts(model: str, card: str) -> dict[int, CardCount]:
    return {one.cards: one for one in fewest_cards(catalog_config(model), gpu(card), SHORT)}


def test_gemma_27b_needs_four_cards_of_24_gb() -> None:
    found = counts("gemma-3-27b", "rtx-4090")  # 51.1 GiB of weights: 25.6 on each of two, 12.8 on each of four
    assert [(n, one.fits) for n, one in found.items()] == [(1, False), (2, False), (4, True), (8, True), (16, True)]
    assert "weights take" in found[1].best.reason


def test_what_comes_nearest_is_shown_where_nothing_fits() -> None:
    two = counts("gemma-3-27b", "rtx-4090")[2].best
    assert two.tensor_parallel_size * two.pipeline_parallel_size == 2  # a copy on each card would be further off


def test_more_than_16_cards_are_tried_only_where_16_do_not_suffice() -> None:
    assert max(counts("llama-3.1-8b", "rtx-4090")) == 16
    found = counts("llama-3.1-405b", "rtx-4090")  # 756 GiB: 23.6 on each of 32, 11.8 on each of 64
    assert list(found) == [1, 2, 4, 8, 16, 32, 64]
    assert [found[32].fits, found[64].fits] == [False, True]


@pytest.mark.parametrize(
    ("model", "card"), [("qwen3-30b-a3b", "h100-80gb"), ("llama-3.1-70b", "h100-80gb"), ("deepseek-v3", "h200")]
)
def test_each_line_is_the_best_of_the_table_of_layouts(model: str, card: str) -> None:
    for n, one in counts(model, card).items():
        rows = layouts(catalog_config(model), [gpu(card)] * n, SHORT).rows
        assert one.fits == (rows[0].state == "fits")
        assert not one.fits or one.best.requests == rows[0].requests


def test_a_layer_over_two_machines_and_a_start_that_is_not_sure_stand_behind_the_others() -> None:
    fits = [
        row
        for row in layouts(catalog_config("llama-3.1-70b"), [gpu("h100-80gb")] * 16, SHORT).rows
        if row.state == "fits"
    ]
    keys = [(not row.is_sure, row.tensor_parallel_size > 8) for row in fits]
    assert keys == sorted(keys)
    assert {(False, False), (False, True)} <= set(keys)
    assert fits[0].tensor_parallel_size <= 8


def test_one_alone_is_read_once_and_all_together_read_the_weights_once() -> None:
    config, card = catalog_config("llama-3.1-8b"), gpu("rtx-4090")  # 1,008 GB/s
    (row,) = layouts(config, [card], SHORT).rows
    speed = speed_of(config, card, SHORT, row)
    weights, cache = LLAMA_WEIGHTS - LLAMA_EMBEDDING, 8192 * LLAMA_TOKEN
    assert speed.alone == pytest.approx(1008e9 / (weights + cache), rel=1e-3)
    assert row.requests is not None
    assert speed.together == pytest.approx(row.requests * 1008e9 / (weights + row.requests * cache), rel=1e-3)


def test_what_does_not_fit_has_no_speed() -> None:
    config, card = catalog_config("llama-3.1-70b"), gpu("rtx-4090")
    (row,) = layouts(config, [card], SHORT).rows
    assert speed_of(config, card, SHORT, row).alone is None
