"""Seeded text to hide a fact in: filler sentences, one code to find among codes of other places, and the question.

The same seed gives the same text on every machine and Python from 3.10 on, so nothing is fetched. The text is made of
a few patterns: it tests whether attention finds a place in a long context, not whether the model understands.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

WHO = "baker captain carpenter doctor farmer gardener librarian mechanic painter pilot sailor tailor teacher"
DID = "cleaned closed counted described drew found inspected measured mended moved opened repaired sold"
WHAT = "barrel basket boat bridge chair clock fence gate ladder lamp map mirror stove table wagon wheel"
WHEN = (
    "after the rain",
    "at noon",
    "before the market",
    "early in the morning",
    "in the first snow",
    "late in autumn",
    "on a quiet Sunday",
    "while the river rose",
)
PLACES = "airport archive bakery castle factory harbour hospital library lighthouse museum observatory station"


@dataclass(frozen=True)
class Needle:
    """A code that belongs to a place."""

    place: str
    code: str

    @property
    def sentence(self) -> str:
        return f"The access code of the {self.place} is {self.code}."

    @property
    def question(self) -> str:
        return f"What is the access code of the {self.place}? Answer with the number alone."


def filler(seed: int) -> Iterator[str]:
    """Sentences without end."""
    rng = random.Random(f"filler {seed}")
    while True:
        who, did, what = (rng.choice(words.split()) for words in (WHO, DID, WHAT))
        yield f"The {who} {did} the {what} {rng.choice(WHEN)}."


def needles(seed: int, count: int) -> list[Needle]:
    """Codes of five digits, each of another place; the first is the one to ask for."""
    places = PLACES.split()
    if not 1 <= count <= len(places):
        raise ValueError(f"{count} codes are asked for; there are places for 1 to {len(places)}")
    rng = random.Random(f"needles {seed}")
    places = rng.sample(places, count)
    codes = rng.sample(range(10_000, 100_000), count)
    return [Needle(place, str(code)) for place, code in zip(places, codes, strict=True)]


def hide(sentences: Sequence[str], asked: Needle, others: Sequence[Needle], depth: float) -> str:
    """One text with the asked code at `depth` (0 is its beginning, 1 its end) and the others evenly between."""
    if not 0 <= depth <= 1:
        raise ValueError(f"depth is {depth}; 0 is the beginning of the text and 1 its end")
    at = [(round(depth * len(sentences)), asked.sentence)]
    at += [(len(sentences) * (i + 1) // (len(others) + 1), other.sentence) for i, other in enumerate(others)]
    text = list(sentences)
    for place, sentence in sorted(at, key=lambda pair: pair[0], reverse=True):
        text.insert(place, sentence)
    return " ".join(text)


def is_found(answer: str, asked: Needle) -> bool:
    """Whether the first number of five digits in the answer is the asked code."""
    numbers = re.findall(r"(?<!\d)\d{5}(?!\d)", answer)
    return bool(numbers) and numbers[0] == asked.code
