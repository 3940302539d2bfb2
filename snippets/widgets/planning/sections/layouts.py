"""The fewest cards it fits on, and every way to lay the model out on N of them: how many requests, and how quick."""

from __future__ import annotations

from collections.abc import Sequence

from snippets.catalog.gpus import Gpu, MissingFactError
from snippets.draw.figure import Layout
from snippets.planner.answers.asked import AnswerError
from snippets.planner.answers.fewest_cards import CardCount, fewest_cards
from snippets.planner.answers.layout_speed import LayoutSpeed, speed_of
from snippets.planner.answers.layouts import MACHINE_CARDS, layouts
from snippets.planner.answers.layouts import Layout as Row
from snippets.planner.engine_args import EngineArgs
from snippets.planner.steps.take import Given
from snippets.planner.steps.unnamed_card import unnamed_card
from snippets.units import count, gib
from snippets.widgets.declare import Shown, Values
from snippets.widgets.markup import data
from snippets.widgets.parts.nodes import Element, Node, disclosure, el, table, words
from snippets.widgets.planning.question import Question, answered
from snippets.widgets.planning.refusal import weights_button

WORDS = {
    "none": "Choose a model first.",
    "no cache": "There is no KV cache to share out: whatever card holds the weights, holds the model.",
    "uncounted": "The weights of this model are not counted here, so its layouts are not known. "
    "Give the weights of one card for the layout that is set.",
    "refused": "vLLM refuses every layout. The first: {why}",
    "fewest": "The fewest it fits on: {cards}.",
    "fewest maybe": "The fewest it fits on: {cards}, if the memory comes out as expected.",
    "fewest none": "It fits on none of up to {cards}.",
    "most": "Most requests on {cards}: {layout}, {n} of full length at once.",
    "fastest": "Quickest for one alone: {layout}.",
    "nothing": "No layout of {cards} starts.",
    "best": "Requests are of full length. Alone and all: tokens a second at most, for one request and for all of them; "
    "the time of links between cards, which TP pays in every layer, is not in it. Best is most requests, of layouts "
    "that start at the low end of the memory too and keep each layer inside a machine of {machine} cards.",
    "card": "1 card",
    "n cards": "{n} cards",
    "cards": "cards",
    "fewest caption": "How many cards it takes",
    "fits": "fits",
    "yes": "yes",
    "as expected": "as expected",
    "no": "no",
    "caption": "Layouts that start on {cards}, best first",
    "more": "{n} more that start",
    "layout": "layout",
    "weights": "weights, one card",
    "kv": "cache, one card",
    "all": "requests",
    "alone": "alone",
    "together": "all",
    "others": "{n} that do not start, and why",
    "other": "1 that does not start, and why",
    "state": "state",
    "why": "why",
    "use": "Use {layout}",
    "crosses": "crosses machines",
    "unsure": "may not start",
    "unknown": "–",
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
HEAD = ("layout", "all", "alone", "together", "weights", "kv")
FEWEST_HEAD = ("cards", "fits", "layout", "all", "alone")
SHOWN = 5  # the rest stand behind a fold


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
    """The fewest cards, and the table for as many as are set, or for another number."""
    found = answered(values)
    if found is None:
        return Shown(after=(words(WORDS["none"]),))
    if found.plan.cache is not None and not found.plan.cache.groups:
        return Shown(after=(words(WORDS["no cache"], "part-finding"),))
    asked = found.question
    cards = int(values["cards"] or asked.cards)
    card = asked.gpu or unnamed_card(asked.total_bytes)
    given = Given(weights=asked.weights_bytes, total=asked.total_bytes)
    try:
        rows = layouts(asked.config, [card] * cards, asked.args, given).rows
        hopeless = _hopeless(rows)
        if hopeless:
            return Shown(after=hopeless)
        counts = fewest_cards(asked.config, card, asked.args, given)
    except (AnswerError, MissingFactError) as error:
        return Shown(after=(words(f"{error}.", "part-error"),))
    fits = [row for row in rows if row.state == "fits"]
    speeds = [speed_of(asked.config, card, asked.args, row) for row in fits]
    parts = [*_fewest(counts, asked, card, cards), _finding(fits, speeds, cards, asked.args)]
    if fits:
        parts += _fits(fits, speeds, cards)
    if len(fits) < len(rows):
        parts.append(_others([row for row in rows if row.state != "fits"]))
    return Shown(after=(*parts, words(WORDS["best"].format(machine=MACHINE_CARDS), "quiet")))


def _hopeless(rows: Sequence[Row]) -> tuple[Node, ...]:
    """What to say where no memory would help; nothing where some would."""
    if any(row.state in ("fits", "too small") for row in rows):
        return ()
    if all(row.state == "refused" for row in rows):
        return (words(WORDS["refused"].format(why=rows[0].reason), "part-finding"),)
    return words(WORDS["uncounted"], "part-finding"), el("div", weights_button(), class_="button-row")


def _cards(n: int) -> str:
    return WORDS["card"] if n == 1 else WORDS["n cards"].format(n=count(n))


def _named(row: Row) -> Node:
    """The layout, and what speaks against it."""
    marks = [WORDS["crosses"]] * row.crosses_machines + [WORDS["unsure"]] * (row.state == "fits" and not row.is_sure)
    return el("span", name_of(row), " ", el("em", ", ".join(marks))) if marks else name_of(row)


def _rate(rate: float | None) -> str:
    return WORDS["unknown"] if rate is None else count(rate)


def _fewest(counts: Sequence[CardCount], asked: Question, card: Gpu, cards: int) -> tuple[Node, ...]:
    first = next((one for one in counts if one.fits), None)
    sure = next((one for one in counts if one.best.is_sure), first)
    if first is None or sure is None:
        said = WORDS["fewest none"].format(cards=_cards(counts[-1].cards))
    else:
        key = "fewest" if sure.best.is_sure else "fewest maybe"
        said = WORDS[key].format(cards=_cards(sure.cards))
    rows = [
        (
            count(one.cards),
            WORDS["no" if not one.fits else "yes" if one.best.is_sure else "as expected"],
            _named(one.best) if one.fits else WORDS["unknown"],
            count(one.best.requests or 0) if one.fits else WORDS["unknown"],
            _rate(speed_of(asked.config, card, asked.args, one.best).alone),
        )
        for one in counts
    ]
    marked = () if sure is None else (counts.index(sure),)
    heads = [WORDS[key] for key in FEWEST_HEAD]
    finding: list[Node] = [said]
    if sure is not None and sure.cards != cards:
        finding += [" ", _use(sure.best)]
    return (
        el("p", *finding, class_="part-finding"),
        table(WORDS["fewest caption"], heads, rows, (0, 3, 4), marked, "planner-layouts-fewest"),
    )


def _finding(fits: list[Row], speeds: list[LayoutSpeed], cards: int, now: EngineArgs) -> Node:
    if not fits:
        return words(WORDS["nothing"].format(cards=_cards(cards)), "part-finding")
    best = fits[0]
    said = WORDS["most"].format(layout=name_of(best), n=count(best.requests or 0), cards=_cards(cards))
    inside = [at for at, row in enumerate(fits) if row.is_sure and not row.crosses_machines]
    fastest = max(inside, key=lambda at: (speeds[at].alone or 0, -at), default=0)
    if speeds[fastest].alone != speeds[0].alone:
        said += " " + WORDS["fastest"].format(layout=name_of(fits[fastest]))
    if _is_set(best, now):
        return words(said, "part-finding")
    return el("p", said, " ", _use(best), class_="part-finding")


def _is_set(row: Row, now: EngineArgs) -> bool:
    """The layout is the one that is asked about."""
    return all(getattr(row, name) == getattr(now, name) for name in (*SIZES, "enable_expert_parallel"))


def _use(row: Row) -> Element:
    """A button that sets a layout."""
    set_to = {name: str(getattr(row, name)) for name in SIZES}
    set_to["enable_expert_parallel"] = "yes" if row.enable_expert_parallel else "no"
    return el("button", WORDS["use"].format(layout=name_of(row)), type="button", data_values=data(set_to))


def _fits(rows: list[Row], speeds: list[LayoutSpeed], cards: int) -> list[Node]:
    lines = [
        (
            _named(row),
            count(row.requests or 0),
            _rate(speed.alone),
            _rate(speed.together),
            gib(row.weights_bytes) if row.weights_bytes else WORDS["unknown"],
            gib(row.kv_bytes or 0),
        )
        for row, speed in zip(rows, speeds, strict=True)
    ]
    heads, columns = [WORDS[key] for key in HEAD], (1, 2, 3, 4, 5)
    caption = WORDS["caption"].format(cards=_cards(cards))
    parts: list[Node] = [table(caption, heads, lines[:SHOWN], columns, (0,), "planner-layouts-table")]
    if lines[SHOWN:]:
        more = WORDS["more"].format(n=count(len(lines) - SHOWN))
        parts.append(disclosure((more,), table(more, heads, lines[SHOWN:], columns, (), "planner-layouts-more")))
    return parts


def _others(rows: list[Row]) -> Node:
    said = WORDS["other"] if len(rows) == 1 else WORDS["others"].format(n=count(len(rows)))
    lines = [(name_of(row), row.state, row.reason) for row in rows]
    head = (WORDS["layout"], WORDS["state"], WORDS["why"])
    return disclosure((said,), table(said, head, lines, name="planner-layouts-others"))
