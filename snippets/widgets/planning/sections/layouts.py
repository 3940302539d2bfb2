"""Every way to lay the model out on N cards, the best marked, the illegal ones with vLLM's reason."""

from __future__ import annotations

from snippets.catalog.gpus import MissingFactError
from snippets.draw.figure import Layout
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.layouts import Layout as Row
from snippets.planner.answers.layouts import Layouts, layouts
from snippets.planner.engine_args import EngineArgs
from snippets.planner.steps.take import Given
from snippets.planner.steps.unnamed_card import unnamed_card
from snippets.units import count, gib
from snippets.widgets.declare import Shown, Values
from snippets.widgets.markup import data
from snippets.widgets.parts.nodes import Node, disclosure, el, table, words
from snippets.widgets.planning.question import answered

WORDS = {
    "none": "Choose a model first.",
    "best": "{layout} takes most: {n} requests of full length at once on {cards}. Most is not fastest: "
    "stages and links between machines cost time that is not counted here.",
    "only": "{layout}: {n} requests of full length at once.",
    "nothing": "No layout of {cards} starts.",
    "card": "1 card",
    "cards": "{n} cards",
    "caption": "Layouts that start on {cards}, most requests first",
    "layout": "layout",
    "weights": "weights, one card",
    "kv": "KV cache, one card",
    "each": "requests, one replica",
    "all": "requests in all",
    "tokens": "tokens, one replica",
    "others": "{n} layouts that do not start, and why",
    "state": "state",
    "why": "why",
    "use": "Use {layout}",
    "tp": "TP {n}",
    "pp": "PP {n}",
    "dp": "DP {n}",
    "ep": "EP",
    "dcp": "DCP {n}",
    "one": "One card",
}
SIZES = (
    *("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size"),
    "decode_context_parallel_size",
)
HEAD = ("layout", "weights", "kv", "tokens", "each", "all")


def name_of(row: Row) -> str:
    """ "TP 4 · DP 2 · EP"."""
    sizes = (
        ("tp", row.tensor_parallel_size),
        ("pp", row.pipeline_parallel_size),
        ("dp", row.data_parallel_size),
        ("dcp", row.decode_context_parallel_size),
    )
    parts = [WORDS[key].format(n=size) for key, size in sizes if size > 1]
    parts += [WORDS["ep"]] if row.enable_expert_parallel else []
    return " · ".join(parts) or WORDS["one"]


def layouts_section(values: Values, layout: Layout) -> Shown:
    """The table for as many cards as are set, or for another number."""
    found = answered(values)
    if found is None:
        return Shown(after=(words(WORDS["none"]),))
    asked = found.question
    cards = int(values["cards"] or asked.cards)
    card = asked.gpu or unnamed_card(asked.total_bytes)
    try:
        table_ = layouts(asked.config, [card] * cards, asked.args, Given(weights=None, total=asked.total_bytes))
    except (AnswerError, MissingFactError) as error:
        return Shown(after=(words(f"{error}.", "part-error"),))
    fits = [row for row in table_.rows if row.state == "fits"]
    others = [row for row in table_.rows if row.state != "fits"]
    parts = [_finding(table_, cards, asked.args)]
    if fits:
        parts.append(_fits(fits, cards))
    if others:
        parts.append(_others(others))
    return Shown(after=tuple(parts))


def _cards(n: int) -> str:
    return WORDS["card"] if n == 1 else WORDS["cards"].format(n=count(n))


def _finding(found: Layouts, cards: int, now: EngineArgs) -> Node:
    best = found.best
    if best is None:
        return words(WORDS["nothing"].format(cards=_cards(cards)), "part-finding")
    key = "best" if len(found.rows) > 1 else "only"
    said = WORDS[key].format(layout=name_of(best), n=count(best.requests or 0), cards=_cards(cards))
    if all(getattr(best, name) == getattr(now, name) for name in (*SIZES, "enable_expert_parallel")):
        return words(said, "part-finding")
    set_to = {name: str(getattr(best, name)) for name in SIZES}
    set_to["enable_expert_parallel"] = "yes" if best.enable_expert_parallel else "no"
    use = WORDS["use"].format(layout=name_of(best))
    return el("p", said, " ", el("button", use, type="button", data_values=data(set_to)), class_="part-finding")


def _fits(rows: list[Row], cards: int) -> Node:
    lines = [
        (
            name_of(row),
            gib(row.weights_bytes or 0),
            gib(row.kv_bytes or 0),
            count(row.tokens or 0),
            count(int(row.requests_per_replica or 0)),
            count(row.requests or 0),
        )
        for row in rows
    ]
    caption = WORDS["caption"].format(cards=_cards(cards))
    return table(caption, [WORDS[key] for key in HEAD], lines, (1, 2, 3, 4, 5), (0,), "planner-layouts-table")


def _others(rows: list[Row]) -> Node:
    said = WORDS["others"].format(n=count(len(rows)))
    lines = [(name_of(row), row.state, row.reason) for row in rows]
    head = (WORDS["layout"], WORDS["state"], WORDS["why"])
    return disclosure((said,), table(said, head, lines, name="planner-layouts-others"))
