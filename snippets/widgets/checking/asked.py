"""From the controls to what is compared, made once for the same text and choices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

from snippets.catalog.configs import catalog_config, config_entries
from snippets.catalog.gpus import gpu
from snippets.run_check.compare import Comparison, compare
from snippets.run_check.dropped import UnreadableError, read
from snippets.run_check.known import card_key, model_key
from snippets.run_check.predict import predict_run
from snippets.run_check.run import Dropped, Run
from snippets.widgets.checking.example import CARD, TEXT
from snippets.widgets.declare import TextError, Values

AUTO = "auto"
MOST_BYTES = 2_000_000
MOST_IN_LINK = 1500
NOT_IN_LINK = "drop-again"
WORDS = {
    "again": "The text was too long for the link: drop the file again.",
    "example": "The example's card, RTX 3090, is named by the log's repository, not by the log.",
}


@dataclass(frozen=True)
class Asked:
    """What a text held, each of its starts beside the prediction for it."""

    dropped: Dropped
    comparisons: tuple[Comparison, ...]
    is_example: bool  # the text that the page opens with, on the card of its repository
    models: tuple[str, ...]  # name of the catalog's model that each was predicted as; "" for none
    cards: tuple[str, ...]


@lru_cache(4)
def _read(text: str) -> Dropped:
    if text.strip().startswith(NOT_IN_LINK):
        raise UnreadableError(WORDS["again"])
    return read(text)


def check_text(typed: str) -> None:
    """Nothing, a result or a log. Raises TextError."""
    if typed.strip():
        try:
            _read(typed)
        except UnreadableError as error:
            raise TextError(str(error), error.line, error.column) from None


def in_link(typed: str) -> str | None:
    """The text where it is short enough for a link."""
    return typed if len(typed) <= MOST_IN_LINK and len(quote(typed, errors="replace")) <= MOST_IN_LINK else None


def asked(values: Values) -> Asked | None:
    """What is shown; None where there is no text."""
    text = str(values["text"])
    return _asked(text, str(values["model"]), str(values["card"])) if text.strip() else None


@lru_cache(8)
def _asked(text: str, model: str, card: str) -> Asked:
    dropped = _read(text)
    is_example = text == TEXT and card == AUTO
    found = [_compared(run, model, CARD if is_example else card) for run in dropped.runs]
    comparisons, models, cards = (tuple(column) for column in zip(*found, strict=True))
    return Asked(dropped, comparisons, is_example, models, cards)


def _compared(run: Run, model: str, card: str) -> tuple[Comparison, str, str]:
    key = model_key(run) if model == AUTO else model
    name = card_key(run) if card == AUTO else card
    config = catalog_config(key) if key else None
    found = gpu(name) if name else None
    shown = config_entries()[key].name if key else ""
    return compare(run, predict_run(run, config, found)), shown, found.name if found else ""
