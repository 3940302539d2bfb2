"""A guess is told how far off it is and which mistake it looks like; text that is no number is told what is allowed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from snippets.widgets.question import Question, grade
from snippets.widgets.question_html import question_html
from snippets.widgets.registry import question, questions

# 2 · 28 layers · 4 KV heads · 128 · 2 bytes = 57,344 B = 56 KiB; with all 28 query heads 392 KiB; keys alone 28 KiB.
KIB = Question(
    name="kv_per_token",
    prompt="How many KiB does one token add?",
    unit="KiB",
    answer=56,
    answer_text="56 KiB",
    minimum=0.1,
    maximum=100_000,
    mistakes=((28, "keys without values"), (392, "all 28 query heads counted")),
)


@pytest.mark.parametrize("typed", ["56", "56.0", " 56.2 "])
def test_the_answer_and_what_rounds_to_it_is_right(typed: str) -> None:
    assert grade(KIB, typed) == {"verdict": "right", "message": "Right: 56 KiB."}


def test_close_says_how_close_and_gives_the_answer() -> None:
    assert grade(KIB, "55") == {"verdict": "near", "message": "Close: 1.8 % too low. It is 56 KiB."}


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("28", "28 KiB is 2.0× too low. That looks like keys without values."),
        ("392", "392 KiB is 7.0× too high. That looks like all 28 query heads counted."),
        ("385", "385 KiB is 6.9× too high. That looks like all 28 query heads counted."),  # 1.8 % from the mistake
        ("70", "70 KiB is 25.0 % too high."),
        ("1,000", "1,000 KiB is 17.9× too high."),
        ("100000", "100,000 KiB is more than 1,000× too high."),
        ("57.3", "57.30 KiB is 2.3 % too high. That looks like kilobytes of 1,000 bytes: a KiB has 1,024."),
        ("57,344", "57,344 KiB is more than 1,000× too high. That looks like bytes: a KiB has 1,024 of them."),
    ],
)
def test_a_wrong_number_is_told_how_far_off_and_what_it_looks_like(typed: str, message: str) -> None:
    assert grade(KIB, typed) == {"verdict": "off", "message": message}


def test_a_mistake_wins_over_closeness_when_it_is_nearer() -> None:
    assert "kilobytes of 1,000 bytes" in grade(replace(KIB, near=0.05), "57.3")["message"]
    assert grade(replace(KIB, near=0.05), "56.6")["verdict"] == "near"


# 8 · 32,768 tokens · 57,344 B = 15,032,385,536 B = 14 GiB = 15.03 GB = 14,336 MiB
GIB = replace(KIB, unit="GiB", answer=14, answer_text="14 GiB", maximum=1000, mistakes=((1.75, "one sequence"),))


@pytest.mark.parametrize(
    ("typed", "looks_like"),
    [
        ("15.03", "GB of 10^9 bytes: a GiB has 2^30"),
        ("15,032,385,536", "bytes: a GiB has 2^30 of them"),  # far above the range
        ("14336", "MiB: a GiB has 1,024 of them"),
        ("1.75", "one sequence"),
    ],
)
def test_the_answer_in_another_unit_is_known_for_every_question_in_gib(typed: str, looks_like: str) -> None:
    assert grade(GIB, typed)["verdict"] == "off"
    assert grade(GIB, typed)["message"].endswith(f" That looks like {looks_like}.")


def test_a_share_given_as_a_fraction_is_known() -> None:
    share = replace(KIB, unit="%", answer=3.2, answer_text="3.2 %", minimum=1, maximum=100, mistakes=())
    assert "a fraction of 1" in grade(share, "0.032")["message"]
    assert grade(share, "0.5")["verdict"] == "error"  # neither in the range nor a known mistake


# 34.65 sequences fit by vLLM's line; 34 of them are whole.
WHOLE = replace(
    KIB, unit="sequences", answer=34, answer_text="34 whole sequences", minimum=1, mistakes=(), whole=True, exact=34.65
)


@pytest.mark.parametrize("typed", ["34", "34.65", "34.6"])
def test_the_quotient_is_as_right_as_the_whole_number_below_it(typed: str) -> None:
    said = "Right: 34 whole sequences; 34.65 is what vLLM prints."
    assert grade(WHOLE, typed) == {"verdict": "right", "message": said}


def test_one_is_singular_and_a_small_number_or_end_of_the_range_is_not_nothing() -> None:
    assert grade(WHOLE, "1")["message"].startswith("1 sequence is ")
    small = replace(GIB, minimum=0.001)
    assert grade(small, "0.002")["message"].startswith("0.002 GiB is ")
    assert grade(small, "none")["message"] == "Your estimate takes a number from 0.001 to 1,000 GiB."


def test_a_fraction_elsewhere_is_wrong_and_where_no_quotient_is_known_no_answer() -> None:
    assert grade(WHOLE, "30.5")["verdict"] == "off"
    assert grade(replace(WHOLE, exact=None), "34.65") == {
        "verdict": "error",
        "message": "Your estimate takes a whole number from 1 to 100,000 sequences.",
    }


@pytest.mark.parametrize(("answer", "whole"), [(35, True), (34, False)])
def test_a_quotient_that_does_not_round_down_to_the_answer_is_refused(answer: int, whole: bool) -> None:
    with pytest.raises(ValueError, match=r"34\.65 is not rounded down"):
        replace(WHOLE, answer=answer, whole=whole)


@pytest.mark.parametrize("typed", ["", "abc", "0", "-1", "1e9", "9" * 99, "fifty"])
def test_text_that_is_no_number_in_the_range_is_told_the_range(typed: str) -> None:
    assert grade(KIB, typed) == {
        "verdict": "error",
        "message": "Your estimate takes a number from 0.10 to 100,000 KiB.",
    }


@pytest.mark.parametrize(("low", "high"), [(0.0, 100.0), (57.0, 100.0), (1.0, 55.0)])
def test_a_question_whose_range_leaves_out_its_answer_is_refused(low: float, high: float) -> None:
    with pytest.raises(ValueError, match="question kv_per_token: the answer 56 must lie between"):
        replace(KIB, minimum=low, maximum=high)


def test_a_mistake_that_gives_the_right_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="gives the right answer"):
        replace(KIB, mistakes=((56.1, "nothing at all"),))


def test_the_answer_is_in_the_page_in_a_plain_disclosure() -> None:
    html = question_html(KIB, "<p>It is 56 KiB.</p>")
    assert html.startswith('<div class="question"><predict-question ')
    assert "<details" in html and "<p>It is 56 KiB.</p></details>" in html
    assert "disabled>Check</button>" in html


def as_typed(asked: Question, value: float) -> str:
    return str(round(value)) if asked.whole else f"{value:.6g}"


@pytest.mark.parametrize("name", questions())
def test_every_question_grades_its_own_answer_right_and_its_mistakes_wrong(name: str) -> None:
    asked = question(name)
    assert grade(asked, as_typed(asked, asked.answer))["verdict"] == "right"
    for value, looks_like in asked.mistakes:
        assert looks_like in grade(asked, as_typed(asked, value))["message"]
