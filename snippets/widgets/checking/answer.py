"""The answer in words: what agrees, what does not, and what could not be compared."""

from __future__ import annotations

from typing import Literal

from snippets.run_check.compare import Comparison, Row
from snippets.widgets.checking.asked import Asked
from snippets.widgets.checking.words import amount, became, predicted, row_named
from snippets.widgets.declare import Readout

Kind = Literal["empty", "fits", "tight", "refused"]
WORDS = {
    "empty": "Drop a result file or a start-up log, or paste its text.",
    "equal": "Tokens and concurrency are what the reported memory gives: equal.",
    "equal many": "Tokens and concurrency are what the reported memory gives in all {n} starts.",
    "differs": "{name} differs: {measured} was reported, and {predicted} follows from the memory.",
    "differs many": "{n} of {all} starts differ from what their memory gives.",
    "refusal": "vLLM did not start.",
    "refusal equal": "vLLM did not start, and its numbers are the planner's.",
    "nothing": "Nothing could be compared.",
    "only checks": "The lab's own checks: {n} of {all} hold.",
    "memory": "Left for the cache: {measured}, {became} of {predicted}.",
    "memory many": "The memory left for the cache is inside the predicted range in {n} of {all}.",
    "as": "Predicted as {model} on {card}.",
    "as model": "Predicted as {model}.",
    "what": "Read: {title}.",
    "none": "–",
    "formula": "formula: {n}",
    "predicted": "predicted: {n}",
    "left": "left for the cache",
    "tokens": "KV cache size",
    "concurrency": "maximum concurrency",
    "weights": "weights, one card",
    "first": "the first of {n} starts",
}
NAMES = {"tokens": "KV cache size", "concurrency": "Maximum concurrency", "blocks": "The number of blocks"}


def _exact(one: Comparison) -> list[Row]:
    """Rows that must be equal and could be compared."""
    return [row for row in one.cache if row.verdict in ("equal", "outside")]


def verdict(found: Asked | None) -> tuple[Kind, str]:
    """How it came out, in a word for the style and in a sentence."""
    if found is None:
        return "empty", WORDS["empty"]
    told = [(one, rows) for one in found.comparisons if (rows := _exact(one))]
    wrong = [(one, row) for one, rows in told for row in rows if row.verdict == "outside"]
    if any(one.run.refusal for one in found.comparisons):
        return ("refused", WORDS["refusal equal"]) if told and not wrong else ("refused", WORDS["refusal"])
    if not told:
        checks = [pair.equal for one in found.comparisons for pair in one.run.pairs if pair.equal is not None]
        if not checks:
            return "tight", WORDS["nothing"]
        kind: Kind = "fits" if all(checks) else "refused"
        return kind, WORDS["only checks"].format(n=sum(checks), all=len(checks))
    if not wrong:
        many = len(told) > 1
        return "fits", WORDS["equal many"].format(n=len(told)) if many else WORDS["equal"]
    if len(told) == 1:
        row = wrong[0][1]
        said = WORDS["differs"].format(
            name=NAMES.get(row.name, row.name), measured=amount(row.measured, row.unit), predicted=predicted(row)
        )
        return "refused", said
    return "refused", WORDS["differs many"].format(n=len({one.run.name for one, _ in wrong}), all=len(told))


def memory_sentence(found: Asked) -> str:
    """What became of the memory that was predicted before the start; empty where none was."""
    rows = [row for one in found.comparisons if (row := row_named(one, "cache"))]
    rows = [row for row in rows if row.verdict in ("inside", "outside")]
    if not rows:
        return ""
    if len(rows) == 1:
        row = rows[0]
        return WORDS["memory"].format(
            measured=amount(row.measured, "bytes"), became=became(row), predicted=predicted(row)
        )
    return WORDS["memory many"].format(n=sum(row.verdict == "inside" for row in rows), all=len(rows))


def assumed(found: Asked) -> str:
    """As which model and card the first start was predicted."""
    model, card = found.models[0], found.cards[0]
    if not model:
        return ""
    return WORDS["as"].format(model=model, card=card) if card else WORDS["as model"].format(model=model)


def readouts(found: Asked | None) -> tuple[Readout, ...]:
    """The numbers of the first start."""
    one = found.comparisons[0] if found else None
    many = len(found.comparisons) if found else 0

    def shown(name: str, label: str, detail: str, tone: Literal["kv", "weights"]) -> Readout:
        row = row_named(one, name) if one else None
        if row is None or row.measured is None:
            return Readout(name, label, WORDS["none"], tone=tone)
        value, _, unit = amount(row.measured, row.unit).partition(" ")
        beside = detail.format(n=predicted(row)) if row.low is not None else ""
        if many > 1:
            beside = WORDS["first"].format(n=many)
        return Readout(name, label, value, unit, tone, beside)

    return (
        shown("cache", WORDS["left"], WORDS["predicted"], "kv"),
        shown("tokens", WORDS["tokens"], WORDS["formula"], "kv"),
        shown("concurrency", WORDS["concurrency"], WORDS["formula"], "kv"),
        shown("weights", WORDS["weights"], WORDS["predicted"], "weights"),
    )
