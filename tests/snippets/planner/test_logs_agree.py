"""Real start-up logs: for the printed memory, the planner's figures are the printed ones.

The logs are other people's, of vLLM 0.5 to 0.27, none of 0.26.x; snippets/planner/evidence/ has their sources.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from snippets.planner.evidence.agreement import COMPARABLE, Agreement, agreements, compare, published_agreements
from snippets.planner.evidence.logs import Layout, Log, config_of, layouts, logs, published
from snippets.planner.evidence.table import CATEGORIES, category_rows

EVERY = (*agreements(), *published_agreements())
HELD = [one for one in EVERY if one.status in COMPARABLE]


def named(log_id: str) -> tuple[Log, Layout]:
    log = next(log for log in (*logs(), *published()) if log.id == log_id)
    return log, layouts()[log_id]


def of(log_id: str) -> Agreement:
    return next(one for one in EVERY if one.log.id == log_id)


@pytest.mark.parametrize("one", HELD, ids=lambda one: f"{one.log.id} {one.log.model}")
def test_every_printed_figure_lies_within_the_rounding_of_the_printed_memory(one: Agreement) -> None:
    assert one.status == "agrees" or one.layout.exception, (one.log.printed, one.expected)


def test_no_log_was_promised_more_than_it_had() -> None:
    """Over 1 % too much is a failure. Of the two that are, the memory quoted is not the deciding rank's."""
    assert {one.log.id for one in HELD if one.is_optimistic} == {"L098", "R11"}
    assert all("rank" in one.layout.exception for one in HELD if one.is_optimistic)


def test_all_85_logs_and_every_figure_have_a_layout_or_a_reason_for_none() -> None:
    assert len(logs()) == 85
    assert set(layouts()) == {log.id for log in (*logs(), *published())}
    assert all(bool(layout.config) != bool(layout.unknown) for layout in layouts().values())


def test_nothing_is_inferred_where_the_layout_is_not_known_and_inferred_settings_are_said() -> None:
    unsaid = [
        key
        for key, layout in layouts().items()
        if (layout.num_speculative_tokens or layout.drafter_layers or set(layout.settings) - {"refused"})
        and not layout.inferred
    ]
    assert unsaid == []


@pytest.mark.parametrize(
    ("category", "logs_held", "agree"),
    [("MHA", 3, 3), ("MLA", 4, 4), ("recurrent state", 11, 11), ("FP8 KV", 15, 15), ("TP above the KV heads", 1, 1)],
)
def test_kinds_of_models_that_agree_without_exception(category: str, logs_held: int, agree: int) -> None:
    row = next(row for row in category_rows(EVERY) if row.category == category)
    assert (row.comparable, row.agree, row.others) == (logs_held, agree, ())


def test_of_gqa_and_of_windows_only_the_two_with_another_rank_s_memory_differ() -> None:
    differing = {row.category: [one.log.id for one in row.others] for row in category_rows(EVERY) if row.others}
    assert differing == {"GQA": ["L098", "R11"], "all": ["L098", "R11"]}


def test_figures_without_memory_fit_each_other() -> None:
    # Gemma-4-31B takes 9,797 blocks for 262,144 tokens, so that of 27 token figures only one comes from whole blocks.
    assert {one.log.id for one in EVERY if one.status == "consistent"} == {"L023", "L101", "L110", "L154", "L159"}
    log, layout = named("L159")
    assert compare(replace(log, printed={**log.printed, "kv_tokens": 1_563_752}), layout).status == "differs"


def test_the_collection_alone_agrees_in_67_of_68() -> None:
    row = category_rows()[-1]
    assert (row.category, row.logs, row.agree, row.comparable, row.consistent) == ("all", 85, 67, 68, 5)
    assert [one.log.id for one in row.others] == ["L098"]


def test_every_log_is_of_a_kind_that_the_table_names() -> None:
    assert {name for layout in layouts().values() for name in layout.categories} == set(CATEGORIES)


# What a log would look like to a planner that is wrong: each of these known mistakes must show.


def test_kv_heads_divided_below_one_would_promise_twice_the_tokens_and_show() -> None:
    # Qwen3-235B on eight cards: four KV heads, so each card holds one; half a head would be 3.19 million tokens.
    one = of("L052")
    assert one.status == "agrees"
    log, layout = named("L052")
    twice = replace(log, printed={**log.printed, "kv_tokens": 2 * 1_594_928})
    assert compare(twice, layout).status == "differs"


def test_one_block_more_than_the_memory_holds_shows() -> None:
    log, layout = named("L031")  # Llama-2-13B, 10.32 GiB: both ends of the rounding give 845 blocks, 13,520 tokens
    assert compare(log, layout).status == "agrees"
    assert compare(replace(log, printed={**log.printed, "kv_tokens": 13_536}), layout).status == "differs"


def test_the_newer_meaning_of_the_token_line_does_not_fit_an_older_log() -> None:
    # Gemma-4-26B on 0.20.0 prints 177,440 tokens; concurrency times length would be 35.75 * 8,192, or 292,900.
    log, layout = named("L056")
    assert compare(log, layout).status == "agrees"
    assert compare(log, replace(layout, rules="0.21")).status == "differs"


def test_windows_charged_as_full_attention_do_not_fit() -> None:
    # gpt-oss-120b: with every layer full, 16,384 tokens would take 2,048 blocks of the pool and not 1,167.
    log, layout = named("L054")
    assert compare(log, layout).status == "agrees"
    assert compare(log, replace(layout, config="qwen3-30b-a3b")).status == "differs"


def test_an_mla_latent_divided_among_the_ranks_does_not_fit() -> None:
    # Kimi-K2 on eight cards: 61 * 576 * 2 bytes a token on every card; an eighth of that would be 5.7 million tokens.
    one = of("L105")
    assert one.expected is not None
    assert one.expected.kv_tokens == pytest.approx(46.80 * 2**30 / (61 * 576 * 2), rel=1e-3)


def test_the_configs_of_the_logs_are_read_as_any_other() -> None:
    assert sum(1 for layer in config_of("nemotron-3-nano-4b").layers if layer) == 25  # 21 Mamba-2 and 4 attention
    assert sum(1 for layer in config_of("gemma-4-e4b").layers if layer) == 24  # 18 of 42 read another layer's cache
