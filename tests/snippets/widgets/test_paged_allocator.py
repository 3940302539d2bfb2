"""The paged allocator shows what its simulators do; figures are from hand or vLLM's own scheduler."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from drawn import collisions
from hypothesis import given, settings
from hypothesis import strategies as st

from snippets.draw.figure import LAYOUTS, same_text
from snippets.widgets.declare import View
from snippets.widgets.html import widget_html
from snippets.widgets.paged_allocator import MOST_PLAY_TICKS, WIDGET
from snippets.widgets.run import Answer, defaults, look, run, to_json

RECORDED = json.loads((Path(__file__).parents[2] / "oracle" / "block_tables.json").read_text())["cases"]
PRESETS = {preset.name: dict(preset.values) for bar in WIDGET.preset_bars for preset in bar.presets}
PAPER = PRESETS["paper"]


def answer(**state: str) -> Answer:
    return look(WIDGET, defaults(WIDGET) | state, {}, "wide")


def view(**state: str) -> View:
    found = answer(**state)
    assert not found.errors
    return found.view


def readouts(**state: str) -> dict[str, str]:
    return {one.name: one.value for one in view(**state).readouts}


def blocks_in_table(shown: View) -> dict[str, list[int]]:
    """Sequence to blocks, from the table under the drawing."""
    rows = shown.figures[0].table.rows
    return {row[0]: [int(block) for block in row[-1].split(", ")] for row in rows if row[-1]}


def test_it_opens_with_six_sequences_all_in_memory_and_none_done() -> None:
    shown = view()
    assert [row[2] for row in shown.figures[0].table.rows] == ["in memory"] * 6
    assert shown.figures[0].finding == "Reserve the maximum: 27.1 % of the reserved memory holds tokens"
    assert all(shown.actions.values())


def test_the_moment_it_opens_at_is_shown_where_an_event_is_set() -> None:
    # By hand from the numbers above: 6 prompts come in with 2 + 1 + 2 + 1 + 1 + 2 = 9 blocks; 21 more are begun until
    # there are 30; then all write on to the first one's last token. 6 + 21 + 1 = 28 events.
    event = view(strategy="paged").controls["step"]
    assert (event.if_empty, event.position, event.shown.partition(" of ")[0]) == (28, 28, "28")
    assert event.stops == tuple(range(int(event.shown.partition(" of ")[2]) + 1))
    assert view(strategy="paged", step="5").controls["step"].position == 5


def test_the_opening_numbers_by_hand() -> None:
    # Lengths in + out: 21+85, 15+128, 20+52, 9+60, 15+82, 31+67. Sequence 3 is the first to end. The step of its
    # prompt gives the first of its 52 tokens, so it stores 51 more, and so do the others meanwhile.
    stored = (21 + 51) + (15 + 51) + (20 + 51) + (9 + 51) + (15 + 51) + (31 + 51)
    assert stored == 417
    assert readouts() == {"used": "417", "reserved": "1,536", "utilization": "27.1", "fit": "6"}
    # In blocks of 16: 5 + 5 + 5 + 4 + 5 + 6 = 30 blocks. At their longest (one token less than in + out) the six take
    # 7 + 9 + 5 + 5 + 6 + 7 = 39 blocks, and 96 × 6 / 39 = 14.8 such sequences fit.
    assert readouts(strategy="paged") == {"used": "417", "reserved": "480", "utilization": "86.9", "fit": "14"}


def test_the_blocks_shown_are_the_ones_vllm_hands_out() -> None:
    # The recorded run has the lengths of the opening state; here are its tables after step 51, where it opens.
    tables: dict[str, list[int] | None] = {}
    for step, changed in RECORDED["room for all"]["changes"]:
        if step <= 51:
            tables |= changed
    assert blocks_in_table(view(strategy="paged")) == tables


def test_events_run_from_the_empty_memory_to_the_empty_memory() -> None:
    last = answer(step="9999").view
    assert view(step="0").figures[0].finding.endswith("the memory is empty")
    assert last.figures[0].finding.endswith("all are done, the memory is empty again")
    assert last.actions["step"] is last.actions["play"] is None


@pytest.mark.parametrize("strategy", ["contiguous", "paged"])
@pytest.mark.parametrize("preset", PRESETS)
def test_play_comes_to_an_end(preset: str, strategy: str) -> None:
    state = PRESETS[preset] | {"strategy": strategy, "step": "0"}
    ticks = 0
    while (patch := view(**state).actions["play"]) is not None:
        state |= patch
        ticks += 1
    assert 1 <= ticks <= MOST_PLAY_TICKS


def test_step_and_step_back_go_on_from_the_moment_shown_and_start_over_empties_the_memory() -> None:
    first = view(step="0")
    assert first.actions == {"start": None, "back": None, "step": {"step": "1"}, "play": {"step": "1"}}
    opening = view()
    shown = int(opening.controls["step"].shown.partition(" of ")[0])
    assert opening.actions["step"] == {"step": str(shown + 1)}
    assert opening.actions["back"] == {"step": str(shown - 1)}
    assert opening.actions["start"] == {"step": "0"}


def test_a_full_pool_makes_the_next_wait_when_the_maximum_is_reserved() -> None:
    shown = view(sequences="7", step="7")
    assert "Sequence 7 must wait: no piece of 256 tokens is free." in shown.figures[0].detail


def test_more_than_would_fit_are_in_memory_while_they_are_short_and_a_note_says_why() -> None:
    # 24 × 96 blocks over the 139 that they take at their longest: 16. Their prompts alone take far fewer.
    shown = view(**PRESETS["queue"], strategy="paged")
    assert [row[2] for row in shown.figures[0].table.rows] == ["in memory"] * 24
    assert {one.name: one.value for one in shown.readouts}["fit"] == "16"
    assert "“Would fit” counts requests at their full length" in shown.notes[0]


def test_a_full_pool_preempts_the_last_to_start_when_paged() -> None:
    # The recorded run "pool runs full" has these lengths and 32 blocks; sequence 12 is the first to go, in step 18.
    assert RECORDED["pool runs full"]["preempted"][0] == [18, 12]
    details = [view(strategy="paged", sequences="12", pool="512", step=str(n)).figures[0].detail for n in range(40)]
    first = next(one for one in details if "gives back" in one)
    assert "needs a block and none is free: sequence 12, the last to start, gives back 4 blocks" in first
    assert "and will compute 62 tokens again" in first


def test_the_papers_pool_fits_7_or_31() -> None:
    # PagedAttention, Figure 13a: 7.00 requests at once with Orca (Max), 30.42 with vLLM.
    assert readouts(**PAPER)["fit"] == "7"
    assert readouts(**PAPER, strategy="paged")["fit"] == "31"


def test_what_a_reservation_cannot_use_is_named() -> None:
    assert "1,392 tokens behind the last piece" in view(**PAPER).notes[0]  # 15,728 − 7 × 2,048


def test_larger_pools_are_drawn_in_groups_and_the_caption_says_so() -> None:
    assert "One cell is one block of 16 tokens." in view(strategy="paged").figures[0].detail
    assert "One cell is 8 blocks of 16 tokens." in view(**PAPER, strategy="paged").figures[0].detail
    assert "One cell is 128 tokens." in view(**PAPER).figures[0].detail


def test_cut_requests_are_counted() -> None:
    # Of seed 98 with ShareGPT's means, those longer than 64 tokens are cut there.
    assert "Cut at the maximum context: " in view(lengths="sharegpt", max_context="64").notes[1]
    assert "Cut" not in view().notes[1]


def test_the_first_preset_is_the_opening_state() -> None:
    assert PRESETS["six"].items() <= defaults(WIDGET).items()


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ({"pool": "200"}, ("pool", "Pool takes a whole number from 256 to 65,536 tokens here: a context of 256 tokens "
                                   "takes 16 blocks of 16 tokens.")),
        ({"max_context": "1600"}, ("max_context", "Maximum context takes a whole number from 16 to 1,536 tokens here: "
                                                  "a pool of 1,536 tokens has 96 blocks of 16 tokens.")),
        # Six blocks of 50 tokens hold 256, five of 51 hold 255.
        ({"pool": "300", "block_size": "200"}, ("block_size", "Block size takes a whole number from 1 to 50 tokens "
                                                "here: a pool of 300 tokens has 1 block of 200 tokens, and a context "
                                                "of 256 tokens takes 2 blocks of 200 tokens.")),
        ({"block_size": "0"}, ("block_size", "Block size takes a whole number from 1 to 256 tokens.")),
        ({"sequences": "65"}, ("sequences", "Sequences takes a whole number from 1 to 64.")),
        ({"seed": "-1"}, ("seed", "Seed takes a whole number from 0 to 9,999.")),
        ({"step": "x"}, ("step", "Event takes a whole number from 0 to 9,999, or nothing.")),
        ({"lengths": "zipf"}, ("lengths", "Lengths is one of: Short, Alpaca-like, Long, ShareGPT-like, Any, up to the "
                                          "maximum, All at the maximum.")),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_refused_with_the_range(typed: dict[str, str], message: tuple[str, str]) -> None:
    found = answer(**typed)
    name, words = message
    assert found.errors[name] == words
    assert found.view.figures == view().figures  # what stood before is still shown


def test_sliders_stop_where_the_other_controls_allow() -> None:
    controls = view(max_context="512", pool="768", block_size="100").controls
    assert controls["pool"].stops is not None and controls["pool"].stops[0] == 768  # six blocks of 100 tokens
    assert controls["max_context"].stops is not None and controls["max_context"].stops[-1] == 512
    assert controls["block_size"].stops is not None and 256 in controls["block_size"].stops


STATES = st.fixed_dictionaries(
    {
        "strategy": st.sampled_from(["contiguous", "paged"]),
        "block_size": st.integers(1, 256).map(str),
        "max_context": st.integers(16, 600).map(str),
        "pool": st.integers(600, 5000).map(str),
        "sequences": st.integers(1, 64).map(str),
        "lengths": st.sampled_from(["alpaca", "sharegpt", "uniform", "maximum"]),
        "seed": st.integers(0, 9999).map(str),
        "step": st.one_of(st.just(""), st.integers(0, 400).map(str)),
    }
)


@settings(max_examples=80, deadline=None)
@given(STATES)
def test_any_state_is_drawn_with_the_same_words_for_both_widths(state: dict[str, str]) -> None:
    wide, narrow = (look(WIDGET, state, {}, layout).view for layout in LAYOUTS)
    for pair in zip(wide.figures, narrow.figures, strict=True):
        assert same_text(pair)
        for one in pair:
            ElementTree.fromstring(one.svg)
            assert collisions(one.svg) == []
            assert "style=" not in one.svg and 'fill="#' not in one.svg
    assert (wide.readouts, wide.notes, wide.controls, wide.actions) == (
        narrow.readouts, narrow.notes, narrow.controls, narrow.actions,
    )  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(STATES)
def test_utilization_is_stored_over_reserved(state: dict[str, str]) -> None:
    shown = {one.name: one.value.replace(",", "") for one in look(WIDGET, state, {}, "wide").view.readouts}
    if shown["reserved"] == "0":
        assert shown["utilization"] == "–"
    else:
        assert float(shown["utilization"]) == pytest.approx(
            100 * int(shown["used"]) / int(shown["reserved"]), abs=0.051
        )


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_a_page_and_an_answer(preset: str) -> None:
    assert "serving-widget" in widget_html(WIDGET, PRESETS[preset])
    assert to_json(run(WIDGET, PRESETS[preset], {}, "narrow")).startswith('{"readouts"')
