"""What was typed becomes values or a sentence, and one wrong control never stops the rest."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_widget import WIDGET

from snippets.widgets.declare import Choice, Number, Option
from snippets.widgets.run import defaults, look, read_choice, read_number, read_state, run, to_json

LAYERS = Number("layers", "Layers", 80, 1, 200)
MEMORY = Number("memory", "GPU memory", 80, 8, 288, unit="GB")
RATIO = Number("ratio", "Ratio", 0.9, 0, 1, whole=False)
TYPED = Number("params", "Parameters", None, 1, 10, optional=True)
KIND = Choice("kind", "Attention", "gqa", (Option("mha", "MHA"), Option("gqa", "GQA")))


@pytest.mark.parametrize(
    ("control", "text", "value"),
    [(LAYERS, "80", 80), (LAYERS, " 1 ", 1), (MEMORY, "80.0", 80), (RATIO, "0.25", 0.25), (RATIO, "1e-2", 0.01)],
)
def test_a_number_is_read(control: Number, text: str, value: float) -> None:
    assert read_number(control, text) == value


def test_thousands_commas_are_allowed() -> None:
    assert read_number(Number("n", "Context", 1, 1, 2**20), "1,048,576") == 1_048_576


@pytest.mark.parametrize("text", ["0", "201", "-5", "1.5", "", "abc", "nan", "inf", "1e400", "9" * 500, "<b>", "0x10"])
def test_a_wrong_number_is_refused_with_the_allowed_range(text: str) -> None:
    with pytest.raises(ValueError, match=r"^Layers takes a whole number from 1 to 200\.$"):
        read_number(LAYERS, text)


def test_a_refusal_names_the_unit_and_whether_nothing_is_allowed() -> None:
    with pytest.raises(ValueError, match=r"^GPU memory takes a whole number from 8 to 288 GB\.$"):
        read_number(MEMORY, "7")
    with pytest.raises(ValueError, match=r"^Parameters takes a whole number from 1 to 10, or nothing\.$"):
        read_number(TYPED, "11")
    with pytest.raises(ValueError, match=r"^Ratio takes a number from 0 to 1\.$"):
        read_number(RATIO, "2")


def test_nothing_is_read_as_none_where_it_is_allowed() -> None:
    assert read_number(TYPED, "  ") is None


def test_another_option_is_refused_with_the_options() -> None:
    assert read_choice(KIND, "mha") == "mha"
    with pytest.raises(ValueError, match=r"^Attention is one of: MHA, GQA\.$"):
        read_choice(KIND, "MHA")


def test_a_wrong_control_keeps_the_value_it_had_and_the_others_move() -> None:
    values, errors, accepted = read_state(WIDGET, {"layers": "0", "heads": "32"}, {"layers": "40"})
    assert (values["layers"], values["heads"]) == (40, 32)
    assert list(errors) == ["layers"]
    assert accepted["layers"] == "40"


def test_a_wrong_control_without_memory_keeps_its_default() -> None:
    values, _, _ = read_state(WIDGET, {"layers": "x"}, {"layers": "also wrong"})
    assert values["layers"] == 80


def test_heads_that_do_not_divide_are_refused_at_the_kv_heads() -> None:
    values, errors, _ = read_state(WIDGET, {"heads": "16", "kv_heads": "64"}, {"heads": "64", "kv_heads": "8"})
    assert errors == {"kv_heads": "KV heads must divide the 16 query heads."}
    assert (values["heads"], values["kv_heads"]) == (16, 8)


def test_when_even_the_memory_does_not_fit_the_state_before_is_shown() -> None:
    values, errors, _ = read_state(WIDGET, {"heads": "2"}, {"heads": "64", "kv_heads": "8"})
    assert "kv_heads" in errors
    assert (values["heads"], values["kv_heads"]) == (64, 8)


def test_names_that_are_no_controls_are_ignored() -> None:
    values, errors, _ = read_state(WIDGET, {"__proto__": "1", "nothing": "2"}, {"other": "3"})
    assert set(values) == set(WIDGET.controls)
    assert errors == {}


def test_every_look_has_its_stops_options_and_the_place_of_its_value() -> None:
    controls = look(WIDGET, {"heads": "16", "kv_heads": "4"}, {}, "wide").view.controls
    assert controls["kv_heads"].stops == (1, 2, 4, 8, 16)  # the divisors of 16
    assert controls["kv_heads"].position == 2
    assert controls["heads"].stops == (1, 2, 4, 8, 16, 32, 64)
    assert controls["layers"].stops is None
    assert [option.value for option in controls["kind"].options or ()] == ["mha", "gqa", "mla"]


def test_a_value_between_two_stops_stands_at_the_nearer() -> None:
    # stops 1 2 4 8 16 32 64: 40 lies nearer to 32, 50 to 64, 48 between both
    places = [look(WIDGET, {"heads": h, "kv_heads": "1"}, {}, "wide").view.controls["heads"].position for h in
              ("40", "50", "48")]  # fmt: skip
    assert places == [5, 6, 6]


def test_the_answer_is_json_that_reads_back() -> None:
    text = to_json(run(WIDGET, {"layers": "0"}, {}, "narrow"))
    answer = json.loads(text)
    assert answer["accepted"] == defaults(WIDGET)
    assert answer["errors"] == {"layers": "Layers takes a whole number from 1 to 200."}
    assert answer["readouts"][0]["value"] == "640"  # 80 layers × 8 KV heads


@given(st.dictionaries(st.sampled_from([*WIDGET.controls, "nothing"]), st.text(max_size=60)))
def test_no_text_whatever_raises_and_wrong_text_always_has_a_sentence(typed: dict[str, str]) -> None:
    values, errors, accepted = read_state(WIDGET, typed, {})
    assert set(values) == set(accepted) == set(WIDGET.controls)
    assert all(message.endswith(".") for message in errors.values())


@pytest.mark.parametrize(("typed", "value"), [("1,024", 1024), ("1,048,576", 1048576), ("12,345.5", 12345.5), ("7", 7)])
def test_commas_are_taken_between_thousands(typed: str, value: float) -> None:
    assert read_number(Number("n", "N", 1, 0, 10**7, whole=False), typed) == value


@pytest.mark.parametrize("typed", ["1,5", "0,92", "56,0", "34,65", "1,0,0", ",", "1,,000"])
def test_a_comma_that_may_be_a_decimal_one_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match="takes a number from 0 to 10,000,000"):
        read_number(Number("n", "N", 1, 0, 10**7, whole=False), typed)
