"""One request against its length: held now, reserved to admit the longest, printed by the log; and what FP8 gains."""

from __future__ import annotations

from dataclasses import replace

from snippets.draw.figure import Figure, Layout
from snippets.draw.planner.growth import Growth, Point, growth_figure
from snippets.draw.scale import memory_column
from snippets.planner.answers.length_curve import LengthCurve, fp8_gain, length_curve
from snippets.planner.answers.windows import bytes_if_all_kept
from snippets.planner.plan import Plan
from snippets.planner.resolved import Resolved
from snippets.planner.settings.dtypes import SIXTEEN_BIT
from snippets.planner.specs import CacheLayout, CachePlan
from snippets.units import count, times
from snippets.widgets.declare import Shown, Values
from snippets.widgets.parts.nodes import Node, table, words
from snippets.widgets.planning.question import Answered, answered

WORDS = {
    "no layout": "Nothing is laid out yet: see above.",
    "none": "No layer keeps a cache that a request could hold.",
    "three": "Three answers, easily taken for one",
    "asked": "asked",
    "answer": "answer",
    "what for": "what it is for",
    "held": "held now by a request of {tokens} tokens",
    "reserved": "reserved to admit max_model_len = {tokens}",
    "kept": "if every layer kept all {tokens} tokens",
    "kept for": "windows hold {times} less than that",
    "printed": "printed by the log",
    "held for": "what it really takes",
    "reserved for": "decides whether vLLM starts, and the printed concurrency",
    "printed for": "tokens in the pool as vLLM words them: concurrency × max_model_len",
    "gain": "What --kv-cache-dtype {dtype} gains with the same memory",
    "tokens": "tokens",
    "bytes": "bytes held",
    "requests": "requests at once",
    "no gain": "vLLM would refuse {dtype} here: {why}",
}
NAME = "planner-growth"
FP8 = "fp8"
GAIN_LENGTHS = 5


def _fp8(found: Answered) -> Plan | None:
    """The same with FP8 keys and values; None where the cache is not in 16 bits."""
    resolved = found.plan.resolved
    if resolved is None or resolved.kv_cache_dtype not in SIXTEEN_BIT:
        return None
    return found.question.plan(replace(found.question.args, kv_cache_dtype=FP8), found.plan.available_bytes)


def _points(curve: LengthCurve) -> tuple[Point, ...]:
    return tuple(Point(point.tokens, point.held_bytes, point.reserved_bytes) for point in curve.points)


def growth_section(values: Values, layout: Layout) -> Shown:
    """The drawing, the three answers, and the gain of FP8 by length."""
    found = answered(values)
    nothing = Figure(NAME, "", "")
    if found is None or found.plan.layout is None or found.plan.resolved is None:
        return Shown((words(WORDS["no layout"]),), (nothing,))
    if not found.plan.layout.groups:
        return Shown((words(WORDS["none"]),), (nothing,))
    cache, resolved = found.plan.layout, found.plan.resolved  # known without memory or weights too
    curve, fp8 = length_curve(cache, resolved), _fp8(found)
    growth = Growth(curve.fixed_bytes, curve.bytes_per_token, _points(curve))
    if fp8 is not None and fp8.layout is not None and fp8.resolved is not None:
        growth = replace(growth, other=_points(length_curve(fp8.layout, fp8.resolved)), other_dtype=FP8)
    after = (_three(cache, resolved, curve, found.plan.cache), *_gain(found.plan, fp8))
    return Shown((), (growth_figure(growth, NAME, layout),), after)


def _three(layout: CacheLayout, resolved: Resolved, curve: LengthCurve, cache: CachePlan | None) -> Node:
    half, last = curve.points[len(curve.points) // 2], curve.points[-1]
    longest = count(last.tokens)
    asked = [
        (WORDS["held"].format(tokens=count(half.tokens)), half.held_bytes, WORDS["held for"]),
        (WORDS["held"].format(tokens=longest), last.held_bytes, WORDS["held for"]),
        (
            WORDS["reserved"].format(tokens=longest),
            layout.blocks_per_request * layout.bytes_per_block,
            WORDS["reserved for"],
        ),
    ]
    kept = bytes_if_all_kept(layout, resolved)
    if kept is not None and kept > last.held_bytes > 0:
        says = WORDS["kept for"].format(times=times(kept / last.held_bytes, 1))
        asked.append((WORDS["kept"].format(tokens=longest), kept, says))
    sizes = memory_column([size for _, size, _ in asked])
    rows = [(name, size, use) for (name, _, use), size in zip(asked, sizes, strict=True)]
    if cache is not None:
        printed = f"{count(cache.kv_cache_size_tokens)} {WORDS['tokens']}"
        rows.append((WORDS["printed"], printed, WORDS["printed for"]))
    return table(WORDS["three"], (WORDS["asked"], WORDS["answer"], WORDS["what for"]), rows, (1,), (), f"{NAME}-three")


def _gain(plan: Plan, fp8: Plan | None) -> tuple[Node, ...]:
    if fp8 is None or plan.cache is None or plan.resolved is None:
        return ()
    if fp8.cache is None or fp8.resolved is None:
        why = fp8.errors[0].message if fp8.errors else ""
        return (words(WORDS["no gain"].format(dtype=FP8, why=why)),)
    longest = min(plan.cache.max_model_len, fp8.cache.max_model_len)
    lengths = sorted({max(1, longest >> n) for n in range(0, 2 * GAIN_LENGTHS, 2)})
    gains = fp8_gain(plan.cache, plan.resolved, fp8.cache, fp8.resolved, lengths)
    rows = [(count(gain.tokens), f"÷ {gain.held:.2f}", times(gain.requests, 2)) for gain in gains]
    head = (WORDS["tokens"], WORDS["bytes"], WORDS["requests"])
    return (table(WORDS["gain"].format(dtype=FP8), head, rows, (0, 1, 2), (), f"{NAME}-gain"),)
