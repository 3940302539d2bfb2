"""The right size: what suffices where memory holds far more than max_num_seqs, and what one more request takes."""

from __future__ import annotations

from snippets.draw.figure import Layout
from snippets.planner.answers.right_size import Amount, RightSize, right_size
from snippets.units import count, gib
from snippets.widgets.declare import Shown, Values
from snippets.widgets.markup import data
from snippets.widgets.parts.nodes import Node, el, table, words
from snippets.widgets.planning.question import answered

WORDS = {
    "none": "Without a plan there is nothing to size.",
    "spare": "{spare} of the cache can never be used: max_num_seqs = {most} requests of {tokens} tokens need {enough}.",
    "no spare": "No memory is spare: the pool holds {fits} of the {most} requests that max_num_seqs allows.",
    "longest": "All {most} would run at once with max_model_len = {tokens}.",
    "never": "All {most} would not run at once at any length.",
    "caption": "Memory of one card for requests of full length",
    "for": "requests",
    "bytes": "KV cache",
    "flag": "--kv-cache-memory-bytes",
    "utilization": "or gpu_memory_utilization",
    "above": "more than the card",
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
    return Shown((*_said(size, plan.cache.max_model_len), _table(size)))


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
    shown = "–" if share is None else f"{share:.3f}" if share <= 1 else WORDS["above"]
    return (count(amount.requests), gib(amount.kv_cache_memory_bytes), str(amount.kv_cache_memory_bytes), shown)


def _table(size: RightSize) -> Node:
    amounts = sorted({one.requests: one for one in (size.one_more, size.enough)}.values(), key=lambda a: a.requests)
    head = (WORDS["for"], WORDS["bytes"], WORDS["flag"], WORDS["utilization"])
    return table(WORDS["caption"], head, [_row(one) for one in amounts], (0, 1, 2, 3), (), "planner-size-table")
