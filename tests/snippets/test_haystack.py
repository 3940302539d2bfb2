"""The seeded text: the same everywhere, the code where it was put, and an answer judged by its number."""

from __future__ import annotations

from itertools import islice

import pytest

from snippets.haystack import Needle, filler, hide, is_found, needles

CODE = Needle("lighthouse", "48213")
OTHERS = [Needle("museum", "11111"), Needle("station", "22222")]
TEN = [f"Sentence {i}." for i in range(10)]


def test_a_seed_gives_the_same_text_on_every_machine() -> None:
    # written down once; a change here makes recorded results of two versions of a lab incomparable
    assert list(islice(filler(1), 2)) == [
        "The teacher sold the stove in the first snow.",
        "The captain found the wagon on a quiet Sunday.",
    ]
    assert needles(1, 2) == [Needle("bakery", "29734"), Needle("lighthouse", "72708")]


def test_seeds_give_different_texts_and_codes() -> None:
    assert list(islice(filler(1), 5)) != list(islice(filler(2), 5))
    assert needles(1, 4) != needles(2, 4)


def test_every_code_has_five_digits_and_a_place_of_its_own() -> None:
    made = needles(3, 12)
    assert {len(needle.code) for needle in made} == {5}
    assert len({needle.place for needle in made}) == len({needle.code for needle in made}) == 12


@pytest.mark.parametrize("count", [0, 13])
def test_more_codes_than_places_are_refused(count: int) -> None:
    with pytest.raises(ValueError, match="there are places for 1 to 12"):
        needles(1, count)


@pytest.mark.parametrize(("depth", "before"), [(0, 0), (0.25, 2), (0.5, 5), (1, 10)])
def test_the_code_stands_at_the_depth_asked_for(depth: float, before: int) -> None:
    text = hide(TEN, CODE, [], depth)
    assert text.partition(CODE.sentence)[0].count("Sentence") == before
    assert text.count("Sentence") == 10


def test_other_codes_are_spread_evenly_and_the_asked_one_stays_in_its_place() -> None:
    text = hide(TEN, CODE, OTHERS, 0.5)
    assert [text.partition(needle.sentence)[0].count("Sentence") for needle in (OTHERS[0], CODE, OTHERS[1])] == [
        3,
        5,
        6,
    ]


def test_a_depth_outside_the_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"depth is 1\.5; 0 is the beginning"):
        hide(TEN, CODE, [], 1.5)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("48213", True),
        ("The code is 48213.", True),
        ("It is 11111, not 48213.", False),  # the first number counts: naming every code is not finding one
        ("482134", False),
        ("4821", False),
        ("", False),
    ],
)
def test_an_answer_is_judged_by_its_first_number_of_five_digits(answer: str, found: bool) -> None:
    assert is_found(answer, CODE) is found
