"""A question asked before the answer is shown: how far off is the reader's number, and which mistake does it look like.

The author of a page declares its questions in `snippets/widgets/questions/<page>.py`:

    QUESTIONS = (
        Question(
            name="kv_per_token",
            prompt="How many KiB does one token of Qwen2.5-7B-Instruct add to the KV cache?",
            unit="KiB",
            answer=kv_bytes_per_token(QWEN2_5_7B) / KIB,
            answer_text=kib(kv_bytes_per_token(QWEN2_5_7B)),
            mistakes=(
                (kv_bytes_per_token(QWEN2_5_7B) / KIB / 2, "one of the two: keys and values are both kept"),
                (392, "all 28 query heads counted: the model has 4 KV heads"),
            ),
            minimum=0.1,
            maximum=100_000,
        ),
    )
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from snippets.units import count, percent, quantity, times
from snippets.widgets.declare import Number
from snippets.widgets.run import read_number

Verdict = Literal["right", "near", "off", "error"]
RIGHT = 0.005  # relative; the answer as printed is always within it
LOOKS_LIKE = 0.02  # relative distance at which a number is taken for a known mistake
# By unit: how many times too high the same quantity reads in another one, and which that is.
UNIT_SLIPS: dict[str, tuple[tuple[float, str], ...]] = {
    "KiB": ((1024, "bytes: a KiB has 1,024 of them"), (1.024, "kilobytes of 1,000 bytes: a KiB has 1,024")),
    "MiB": (
        (2**20, "bytes: a MiB has 2^20 of them"),
        (2**10, "KiB: a MiB has 1,024 of them"),
        (2**20 / 10**6, "MB of 10^6 bytes: a MiB has 2^20"),
    ),
    "GiB": (
        (2**30, "bytes: a GiB has 2^30 of them"),
        (2**10, "MiB: a GiB has 1,024 of them"),
        (2**30 / 10**9, "GB of 10^9 bytes: a GiB has 2^30"),
    ),
    "%": ((0.01, "a fraction of 1: a percentage is a hundred times that"),),
}
FACTOR_FROM = 1.5  # from here on "3.2× too high" says more than a percentage


@dataclass(frozen=True)
class Question:
    """A number to predict. `answer`, `exact`, `mistakes` and the range are in `unit`.

    A question for a whole number whose answer is a quotient rounded down gives the quotient as `exact`: whoever
    types it is right too. What the answer reads in another unit is known for every question (`UNIT_SLIPS`).
    """

    name: str  # unique on the site
    prompt: str
    unit: str
    answer: float
    answer_text: str  # as the page prints it, with its unit
    minimum: float
    maximum: float
    mistakes: tuple[tuple[float, str], ...] = ()  # (the value it gives, what it looks like)
    near: float = 0.02  # relative distance still called close
    whole: bool = False
    exact: float | None = None  # before it is rounded down to `answer`
    exact_is: str = "what vLLM prints"

    def __post_init__(self) -> None:
        if not 0 < self.minimum <= self.answer <= self.maximum:
            raise ValueError(
                f"question {self.name}: the answer {self.answer} must lie between minimum {self.minimum} "
                f"and maximum {self.maximum}, and minimum above 0"
            )
        if self.exact is not None and not (self.whole and math.floor(self.exact) == self.answer):
            raise ValueError(f"question {self.name}: {self.exact} is not rounded down to the answer {self.answer}")
        for value, looks_like in self.mistakes:
            if _distance(value, self.answer) <= RIGHT:
                raise ValueError(f"question {self.name}: the mistake {looks_like!r} gives the right answer, {value}")

    @property
    def answer_in_full(self) -> str:
        """The answer in words, with what it was rounded down from."""
        if self.exact is None:
            return self.answer_text
        return f"{self.answer_text}; {count(self.exact, 2)} is {self.exact_is}"


def _distance(value: float, target: float) -> float:
    return abs(value - target) / target


def _how_far(value: float, target: float) -> str:
    """Where a number lies: "7.0× too high", "3.1 % too low"."""
    side = "too high" if value > target else "too low"
    ratio = max(value / target, target / value)
    if ratio < FACTOR_FROM:
        return f"{percent(_distance(value, target), 1)} {side}"
    return f"{times(ratio, 1) if ratio < 1000 else 'more than 1,000×'} {side}"


def _looks_like(question: Question, value: float) -> str:
    """The mistake whose result is nearest, if it is near enough and nearer than the answer itself."""
    slips = [(question.answer * factor, text) for factor, text in UNIT_SLIPS.get(question.unit, ())]
    near = [(_distance(value, wrong), text) for wrong, text in (*question.mistakes, *slips)]
    distance, text = min(near, key=lambda one: one[0], default=(1.0, ""))
    return text if distance <= min(LOOKS_LIKE, _distance(value, question.answer)) else ""


def field(question: Question) -> Number:
    """The field a question is answered in, with the range it takes."""
    return Number(
        name=question.name,
        label="Your estimate",
        default=None,
        minimum=question.minimum,
        maximum=question.maximum,
        unit=question.unit,
        whole=question.whole and question.exact is None,
    )


def _in_another_unit(question: Question, typed: str) -> float | None:
    """A number outside the range, where it is the answer in another unit or another known mistake."""
    try:
        value = read_number(replace(field(question), minimum=0, maximum=math.inf, whole=False), typed)
    except ValueError:
        return None
    return value if value and _looks_like(question, value) else None


def _read(question: Question, typed: str) -> float:
    try:
        value = read_number(field(question), typed)
    except ValueError:
        value = _in_another_unit(question, typed)
        if value is None:
            raise
    assert value is not None  # the field is not optional
    return value


def grade(question: Question, typed: str) -> dict[str, str]:
    """Verdict and message for what was typed. Text that is no number in the range is an error, never a wrong answer."""
    try:
        value = _read(question, typed)
    except ValueError as error:
        return _graded("error", str(error))
    distance = _distance(value, question.answer)
    if distance <= RIGHT or (question.exact is not None and _distance(value, question.exact) <= RIGHT):
        return _graded("right", f"Right: {question.answer_in_full}.")
    mistake = _looks_like(question, value)
    hint = f" That looks like {mistake}." if mistake else ""
    if distance <= question.near and not mistake:
        return _graded("near", f"Close: {_how_far(value, question.answer)}. It is {question.answer_in_full}.")
    return _graded("off", f"{quantity(value, question.unit)} is {_how_far(value, question.answer)}.{hint}")


def _graded(verdict: Verdict, message: str) -> dict[str, str]:
    return {"verdict": verdict, "message": message}
