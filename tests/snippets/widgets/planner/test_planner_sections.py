"""What opens below the planner's answer: meanings of tokens apart, layouts, sizes, speed, blocks."""

from __future__ import annotations

import json

import pytest
from planner_shown import FIELDS, GIVEN, answer, elements, readout, rows, said, text_of


def test_what_no_memory_decides_is_shown_where_vllm_refuses_and_where_weights_are_not_counted() -> None:
    """Phi-2: 32 layers, a block of 16 tokens, 320 KiB for each of them."""
    for state in ({"model": "gemma-3-27b"}, {"model": "paste", "config": FIELDS["microsoft/phi-2"]}):
        found = answer("pool", "growth", **state, max_model_len="2048")
        assert found.view.readouts[0].value == "–"
        assert "a block" in found.sections["pool"].figures[0].finding
        assert not any(row[0] == "printed by the log" for row in rows(found.sections["growth"], "Three answers"))
    assert found.sections["pool"].figures[0].finding == "All 32 layers cache alike: one group, 5 MiB a block"
    assert found.sections["pool"].figures[0].detail == "A block holds 16 tokens in each of them."


def test_three_answers_are_kept_apart() -> None:
    state = {"model": "gemma-3-27b", "gpu": "a100-80gb", "max_model_len": "32768", "available_gib": "21.4"}
    shown = rows(answer("growth", **state).sections["growth"], "Three answers")
    by_name = {row[0]: row[1] for row in shown}
    held, reserved = (
        by_name["held now by a request of 32,768 tokens"],
        by_name["reserved to admit max_model_len = 32,768"],
    )
    assert float(held.split()[0]) < float(reserved.split()[0])
    assert readout(answer(**state), "tokens").replace(" tokens", "") in by_name["printed by the log"]


def test_windows_are_set_beside_layers_that_keep_everything() -> None:
    """Gemma-3-27B: 62 layers × 2 × 16 heads × 128 × 2 bytes are 496 KiB a token, 62 GiB for 131,072 of them."""
    state = {"model": "gemma-3-27b", "gpu": "a100-80gb", "max_model_len": ""}
    shown = answer("growth", "pool", **state)
    lines = {row[0]: row for row in rows(shown.sections["growth"], "Three answers")}
    kept = lines["if every layer kept all 131,072 tokens"]
    held = lines["held now by a request of 131,072 tokens"]
    assert kept[1] == "62.00 GiB"
    assert kept[2] == f"windows hold {62 / float(held[1].split()[0]):.1f}× less than that"
    assert "equally wide" in shown.sections["pool"].figures[0].detail
    warned = next(note for note in shown.view.notes if "padding layers" in note)
    assert warned.startswith("vLLM would warn: “Add 8 padding layers") and "equally many layers" in warned
    plain = rows(answer("growth", **GIVEN).sections["growth"], "Three answers")
    assert not any("kept" in row[0] for row in plain)


@pytest.mark.parametrize("state", [{}, {"model": "gemma-3-27b", "gpu": "a100-80gb"}, {"model": "qwen3-0.6b"}])
def test_a_column_has_one_unit(state: dict[str, str]) -> None:
    shown = answer("growth", "speed", "layouts", "size", **state)
    for section, caption, column in (
        ("growth", "Three answers", 1),
        ("speed", "Bounds", 1),
        ("layouts", "How many cards", 0),
        ("layouts", "Layouts that start", 4),
    ):
        cells = [row[column] for row in rows(shown.sections[section], caption)[1:]]
        assert len({cell.split()[-1] for cell in cells if cell.endswith("iB")}) <= 1, cells


def test_hardly_more_than_the_card_is_advised_with_a_warning_and_more_is_not_a_row() -> None:
    close = answer("size", model="gemma-3-27b", gpu="a100-80gb", max_model_len="").sections["size"]
    (line,) = rows(close, "Memory of one card")[1:]
    share, _, warned = line[3].partition(", ")
    assert (line[0], warned) == ("2", "too close to all") and 0.95 < float(share) < 1
    assert "the start may fail" in said(close)
    none = answer("size", model="gpt-oss-20b", max_model_len="").sections["size"]
    assert "this card does not have" in said(none) and not any(elements(node, "table") for node in none.before)


def test_what_is_not_known_of_a_card_is_said_in_words() -> None:
    shown = said(answer("speed", model="gpt-oss-20b", max_model_len="8192").sections["speed"])
    assert "Not known here and left out: the card's rate of arithmetic with MXFP4 weights." in shown
    assert "tflops" not in shown


def test_a_block_that_was_raised_shows_the_division_and_the_rounding() -> None:
    shown = said(answer("pool", model="jamba-1.5-mini", gpu="h200", tensor_parallel_size="2").sections["pool"])
    assert "155,648 / 2,048 = 76 tokens, rounded up to a multiple of 16: 80" in shown


def test_fp8_halves_plain_attention_at_every_length() -> None:
    gain = rows(answer("growth", **GIVEN).sections["growth"], "kv-cache-dtype fp8")
    assert {row[1] for row in gain[1:]} == {"÷ 2.00"}


def test_layouts_mark_the_best_and_give_reasons_for_the_rest() -> None:
    state = {"model": "llama-3.1-70b", "gpu": "h100-80gb", "tensor_parallel_size": "4", "cards": "4"}
    shown = answer("layouts", **state).sections["layouts"]
    names = [row[0] for row in rows(shown, "Layouts that start on 4 cards")[1:]]
    assert {"TP 4", "TP 2 · PP 2"} <= set(names)
    marked = [row for node in shown.after for row in elements(node, "tr") if row.attributes.get("class") == "marked"]
    assert text_of(marked[-1].children[0]) == names[0]  # the other is the fewest cards
    reasons = [row[2] for row in rows(shown, "do not start")[1:]]
    assert all(reasons)


def test_the_best_five_layouts_are_shown_and_the_rest_folded() -> None:
    state = {"model": "llama-3.1-70b", "gpu": "h100-80gb", "cards": "16"}
    shown = answer("layouts", **state).sections["layouts"]
    assert len(rows(shown, "Layouts that start on 16 cards")) == 1 + 5
    folded = [row[0] for row in rows(shown, "more that start")[1:]]
    assert "TP 16   crosses machines" in folded


def test_the_fewest_cards_are_answered_whatever_is_set() -> None:
    shown = answer("layouts", model="gemma-3-27b", max_model_len="8192").sections["layouts"]
    assert "The fewest it fits on: 4 cards." in said(shown)
    button = next(one for node in shown.after for one in elements(node, "button"))
    changed = json.loads(button.attributes["data-values"])
    assert said(answer(model="gemma-3-27b", max_model_len="8192", **changed).sections["answer"]).startswith("It fits")
    lines = rows(shown, "How many cards it takes")[1:]
    assert [row[:2] for row in lines] == [["1", "no"], ["2", "no"], ["4", "yes"], ["8", "yes"], ["16", "yes"]]


def test_layouts_of_weights_that_are_not_counted_are_one_sentence() -> None:
    state = {"model": "paste", "config": FIELDS["microsoft/phi-2"], "cards": "8"}
    shown = answer("layouts", **state, max_model_len="").sections["layouts"]
    assert "not counted here" in said(shown)
    assert not any(elements(node, "table") for node in shown.after)


def test_sections_of_an_encoder_say_that_there_is_no_cache() -> None:
    found = answer("layouts", "growth", "pool", model="paste", config=FIELDS["BAAI/bge-m3"], max_model_len="512")
    for name in ("layouts", "growth", "pool"):
        assert "cache" in said(found.sections[name]), name
        assert not any(elements(node, "table") for node in found.sections[name].after), name


def test_a_price_gives_a_bound_in_the_same_currency_and_none_without_it() -> None:
    with_price = said(answer("speed", price="2", batch="1", context="1").sections["speed"])
    assert "per million tokens answered by this load, at 2" in with_price
    assert "per million" not in said(answer("speed").sections["speed"])
    assert "forecast" in with_price


def test_a_low_price_never_costs_nothing() -> None:
    """A thousandth of an hour's price: the cost keeps the digits that count, as the command prints it."""
    low = said(answer("speed", price="0.0005", batch="256", context="1").sections["speed"])
    assert "At least 0.00 per million" not in low and "at 0.0005 per card and hour" in low
    assert "at 2 per card and hour" in said(answer("speed", price="2.0").sections["speed"])


def test_the_speed_of_weights_that_are_given_is_not_answered_with_giving_them() -> None:
    phi = {"model": "paste", "config": FIELDS["microsoft/phi-2"], "max_model_len": "", "weights_gib": "5.2"}
    shown = said(answer("speed", **phi).sections["speed"])
    assert "not counted here" in shown and shown.endswith(".") and not shown.endswith("..")
    assert "instead" not in shown and "weights-gib" not in shown


def test_a_card_known_by_memory_has_no_speed() -> None:
    assert "Choose a card of the catalog" in said(answer("speed", gpu="other").sections["speed"])


def test_spare_memory_offers_the_bytes_that_suffice() -> None:
    shown = answer("size", **GIVEN, max_num_seqs="4").sections["size"]
    button = next(button for node in shown.before for button in elements(node, "button"))
    # 4 requests of 512 blocks and the null block, 917,504 bytes each
    assert json.loads(button.attributes["data-values"]) == {"kv_cache_memory_bytes": str((4 * 512 + 1) * 917_504)}


def test_traffic_beyond_the_length_is_refused_in_words() -> None:
    shown = answer("traffic", **GIVEN, shared_prefix="9000").sections["traffic"]
    assert "it must stay below max_model_len = 8,192" in said(shown)


def test_every_number_opens_to_formula_numbers_and_source() -> None:
    shown = answer("numbers", **GIVEN).sections["numbers"]
    opened = {text_of(one.children[0].children[0]): text_of(one) for one in elements(shown.before[1], "details")}
    assert "get_num_blocks" in opened["num_gpu_blocks"]
    assert all("formula" in text and "source" in text for text in opened.values())


def test_the_bound_is_of_the_load_that_the_traffic_makes() -> None:
    """Some 81.4 are bounded by 82; while 300 tokens are written, 0 to 299 of them stand: 1,500 + 149.5 on average."""
    load = {"max_model_len": "16384", "prompt_mean": "1500", "prompt_deviation": "0", "output_mean": "300"}
    found = answer("speed", "traffic", output_deviation="0", price="2", **load)
    assert "a busy server runs about 82 at once" in said(found.sections["traffic"])
    assert "with 82 requests at once, contexts of 1,649" in said(found.sections["speed"])
