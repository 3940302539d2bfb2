"""The right size: what suffices where memory holds far more than max_num_seqs, and what one more request takes."""

from __future__ import annotations

from snippets.draw.figure import Layout
from snippets.planner.answers.right_size import Amount, RightSize, right_size
from snippets.planner.steps.ways_out_memory import MOST_UTILIZATION
from snippets.units import count, gib
from snippets.widgets.declare import Shown, Values
from snippets.widgets.markup import data
from snippets.widgets.parts.nodes import Node, el, table, words
from snippets.widgets.planning.question import answered

WORDS = {
    "none": "Without a plan there is nothing to size.",
    "spare": "{spare} of the cache can never be used: max_num_seqs = {most} requests of {tokens} tokens need {enough}.",
    "no spare": "No memory is spare: the pool holds {fits} of the {most} requests that max_num_seqs allows.",
    "longest": "All {most} would fit at once with max_model_len = {tokens}.",
    "never": "All {most} would not fit at once at any length.",
    "no more": "One more of full length takes {bytes} in all, which this card does not have beside the rest.",
    "close": "Above {most:.2f} of the card little is left for the driver, for a display, and for graphs that vLLM does "
    "not count: the start may fail.",
    "caption": "Memory of one card for requests of full length",
    "for": "requests",
    "bytes": "KV cache",
    "flag": "--kv-cache-memory-bytes",
    "utilization": "or --gpu-memory-utilization, as expected",
    "too close": "{share:.3f}, too close to all",
    "use": "Set kv_cache_memory_bytes to {bytes}",
}


def size_section(values: Values, layout: Layout) -> Shown:
    """Spare memory, and the amounts."""
    found = answered(values)
    plan = found.plan if found else None
    if plan is None or plan.cache is None or plan.resolved is None or not plan.cache.groups:
        return Shown((words(WORDS["none"]),))
    limits = plan.resolved.limits
    size = right_size(plan.cache, plan.resolved.stages, limits, plan.resolved.max_num_seqs, plan.budget)
    return Shown((*_said(size, plan.cache.max_model_len), *_amounts(size)))


def _said(size: RightSize, tokens: int) -> tuple[Node, ...]:
    most = count(size.allowed)
    if size.spare_bytes:
        enough = size.enough.kv_cache_memory_bytes
        said = WORDS["spare"].format(spare=gib(size.spare_bytes), most=most, tokens=count(tokens), enough=gib(enough))
        button = el(
            "button",
            WORDS["use"].format(bytes=count(enough)),
            type="button",
            data_values=data({"kv_cache_memory_bytes": str(enough)}),
        )
        return (words(said, "part-finding"), el("div", button, class_="button-row"))
    said = WORDS["no spare"].format(fits=count(size.fits), most=most)
    longest = size.max_model_len_for_all
    then = WORDS["longest"].format(most=most, tokens=count(longest)) if longest else WORDS["never"].format(most=most)
    return (words(f"{said} {then}", "part-finding"),)


def _row(amount: Amount) -> tuple[str, ...]:
    share = amount.gpu_memory_utilization
    shown = "–" if share is None else f"{share:.3f}"
    if share is not None and share > MOST_UTILIZATION:
        shown = WORDS["too close"].format(share=share)
    return (count(amount.requests), gib(amount.kv_cache_memory_bytes), str(amount.kv_cache_memory_bytes), shown)


def _amounts(size: RightSize) -> tuple[Node, ...]:
    """What the card has room for, and a warning where it is nearly all of it."""
    amounts = sorted({one.requests: one for one in (size.one_more, size.enough)}.values(), key=lambda a: a.requests)
    possible = [one for one in amounts if one.fits_the_card is not False]
    if not possible:
        return (words(WORDS["no more"].format(bytes=gib(size.one_more.kv_cache_memory_bytes))),)
    head = (WORDS["for"], WORDS["bytes"], WORDS["flag"], WORDS["utilization"])
    rows = [_row(one) for one in possible]
    found: list[Node] = [table(WORDS["caption"], head, rows, (0, 1, 2, 3), (), "planner-size-table")]
    if any((one.gpu_memory_utilization or 0) > MOST_UTILIZATION for one in possible):
        found.append(words(WORDS["close"].format(most=MOST_UTILIZATION)))
    return tuple(found)
