"""How many requests fit on the baseline card: the site's first screen.

The arithmetic is the baseline's (snippets/baseline.py): vLLM's budget, blocks and concurrency for Qwen2.5-7B-Instruct
on one RTX 4090. What else takes memory at start is the planner's estimate, so the answer has a range.
"""

from __future__ import annotations

from dataclasses import replace
from math import floor

from snippets import baseline
from snippets.draw.figure import Figure, Layout
from snippets.draw.memory_split import Load, Split, memory_split
from snippets.kv_shapes import kv_bytes
from snippets.planner.budget import MAX_NUM_SEQS
from snippets.planner.memory.free_memory import largest_utilization, surely_free
from snippets.units import GIB, KIB, count, gib, mib
from snippets.widgets.declare import Choice, Group, Number, Option, Readout, Values, View, Widget

_MOST_TOKENS = baseline.MODEL.max_position_embeddings
_CONTEXT_STOPS = (*(n for power in range(9, 15) for n in (2**power, 2**power * 3 // 2)), _MOST_TOKENS)
_WEIGHTS_BYTES = {"bf16": baseline.WEIGHTS_BYTES, "awq": baseline.AWQ_WEIGHTS_BYTES}
# vLLM starts only with what it claims free, and its CUDA context has taken some by then.
_MOST_UTILIZATION = largest_utilization(surely_free(baseline.VISIBLE_BYTES), baseline.VISIBLE_BYTES)
_WEIGHTS = Choice("weights", "Weights", "bf16", (Option("bf16", "BF16"), Option("awq", "4-bit AWQ")))
_KV_DTYPE_BYTES = {"16": baseline.BF16_BYTES, "8": baseline.FP8_BYTES}

_WORDS = {
    "requests": "requests at once",
    "requests detail": "{low} to {high} over the estimated range; vLLM would print {printed}x",
    "requests same": "vLLM would print {printed}x",
    "requests none": "vLLM refuses to start with max_model_len={tokens}",
    "requests capped": "the most that max_num_seqs allows; memory would hold {memory}",
    "kv": "left for the KV cache",
    "per request": "one request holds",
    "estimated": "Computed, not measured: other memory (activations, CUDA context) is estimated from start-up logs of "
    "other machines, most with other versions of vLLM, at {other} in a range of {low} to {high}. A log of the card "
    "will replace it. CUDA graphs come on top, outside the limit: vLLM captures them once the cache is allocated.",
    "ceiling": "vLLM runs at most {most} requests at once, whatever the memory, unless max_num_seqs is raised.",
    "no room": "gpu_memory_utilization takes {least} to {most} with {weights} weights: below, nothing may be left for "
    "the cache once up to {other_high} of other memory are in, and vLLM would refuse to start.",
    "not free": "gpu_memory_utilization takes at most {most} here: vLLM refuses to start when the share it claims is "
    "not free, and its own CUDA context may hold up to {used} GiB of the card by then.",
    "smaller": " Or take 4-bit weights.",
    "tight": "A request of {tokens} tokens may not fit at all: vLLM refuses to start when one request of "
    "max_model_len does not.",
}


def _concurrency(values: Values, other_bytes: int) -> float:
    return baseline.sequences(
        other_bytes,
        _WEIGHTS_BYTES[str(values["weights"])],
        float(values["utilization"] or 0),
        _KV_DTYPE_BYTES[str(values["kv_bits"])],
        int(values["seq_len"] or 0),
    )


def _requests(values: Values, other_bytes: int) -> float:
    return min(_concurrency(values, other_bytes), MAX_NUM_SEQS)


def _one_bytes(values: Values) -> int:
    """What one request of the length set holds."""
    return kv_bytes(baseline.SHAPE, int(values["seq_len"] or 0), 1, _KV_DTYPE_BYTES[str(values["kv_bits"])])


def _split(values: Values) -> Split:
    return Split(
        visible_bytes=baseline.VISIBLE_BYTES,
        utilization=float(values["utilization"] or 0),
        weight_bytes=_WEIGHTS_BYTES[str(values["weights"])],
        other_bytes=baseline.OTHER_BYTES,
        other_low_bytes=baseline.OTHER_LOW_BYTES,
        other_high_bytes=baseline.OTHER_HIGH_BYTES,
    )


def _requests_detail(values: Values, low: float, high: float) -> str:
    memory = _concurrency(values, baseline.OTHER_BYTES)
    if memory < 1:
        return _WORDS["requests none"].format(tokens=int(values["seq_len"] or 0))
    if memory >= MAX_NUM_SEQS:
        return _WORDS["requests capped"].format(memory=count(int(memory)))
    words = "requests same" if int(low) == int(high) else "requests detail"
    return _WORDS[words].format(low=count(int(low)), high=count(int(high)), printed=count(memory, 2))


def _check(values: Values) -> dict[str, str]:
    """What leaves no room stands at every control that would mend it."""
    if float(values["utilization"] or 0) > _MOST_UTILIZATION:
        used = count((baseline.VISIBLE_BYTES - surely_free(baseline.VISIBLE_BYTES)) / GIB, 1)
        return {"utilization": _WORDS["not free"].format(most=count(_MOST_UTILIZATION, 2), used=used)}
    try:
        _split(values)
    except ValueError:
        weights, utilization = str(values["weights"]), float(values["utilization"] or 0)
        least = _least_utilization(_WEIGHTS_BYTES[weights])
        label = next(option.label for option in _WEIGHTS.options if option.value == weights)
        high = gib(baseline.OTHER_HIGH_BYTES)
        limits = {"least": count(least, 2), "most": count(_MOST_UTILIZATION, 2)}
        message = _WORDS["no room"].format(**limits, weights=label, other_high=high)
        if utilization < _least_utilization(min(_WEIGHTS_BYTES.values())) or weights == "awq":
            return {"utilization": message}
        return dict.fromkeys(("utilization", "weights"), message + _WORDS["smaller"])
    return {}


def _least_utilization(weights_bytes: int) -> float:
    """The first hundredth that leaves something for the cache."""
    return floor(100 * (weights_bytes + baseline.OTHER_HIGH_BYTES) / baseline.VISIBLE_BYTES + 1) / 100


def _notes(values: Values, low: float, high: float) -> tuple[str, ...]:
    low_end, other, high_end = map(gib, (baseline.OTHER_LOW_BYTES, baseline.OTHER_BYTES, baseline.OTHER_HIGH_BYTES))
    notes = [_WORDS["estimated"].format(other=other, low=low_end, high=high_end)]
    if high >= MAX_NUM_SEQS:
        notes.append(_WORDS["ceiling"].format(most=MAX_NUM_SEQS))
    if low < 1:
        notes.append(_WORDS["tight"].format(tokens=count(int(values["seq_len"] or 0))))
    return tuple(notes)


def view(values: Values, layout: Layout) -> View:
    """Requests at once, the memory they share, and the card drawn to scale."""
    split = _split(values)
    low, requests, high = (
        _requests(values, other_bytes)
        for other_bytes in (baseline.OTHER_HIGH_BYTES, baseline.OTHER_BYTES, baseline.OTHER_LOW_BYTES)
    )
    one, detail = _one_bytes(values), _requests_detail(values, low, high)
    split = replace(split, load=Load(int(_concurrency(values, baseline.OTHER_BYTES)), int(values["seq_len"] or 0), one))
    held, held_unit = mib(one).split(" ") if one < GIB else (count(one / GIB, 2), "GiB")
    figure: Figure = memory_split(split, "how_many_fit-card")(layout)
    return View(
        readouts=(
            Readout("requests", _WORDS["requests"], count(int(requests)), tone="kv", detail=detail),
            Readout("kv", _WORDS["kv"], count(split.kv_bytes / GIB, 2), "GiB", "kv"),
            Readout("per_request", _WORDS["per request"], held, held_unit),
        ),
        figures=(figure,),
        notes=_notes(values, low, high),
    )


WIDGET = Widget(
    name="how_many_fit",
    title="Qwen2.5-7B-Instruct on one RTX 4090, vLLM 0.26.0",
    groups=(
        Group(
            "Requests",
            (
                Number(
                    "seq_len",
                    "Tokens per request",
                    baseline.MAX_MODEL_LEN,
                    KIB // 2,
                    _MOST_TOKENS,
                    unit="tokens",
                    stops=_CONTEXT_STOPS,
                ),
            ),
        ),
        Group(
            "vLLM",
            (
                _WEIGHTS,
                Choice("kv_bits", "KV cache", "16", (Option("16", "16-bit"), Option("8", "FP8"))),
                Number(
                    "utilization",
                    "gpu_memory_utilization",
                    baseline.UTILIZATION,
                    0.1,
                    1,
                    whole=False,
                    stops=tuple(n / 100 for n in range(30, round(100 * _MOST_UTILIZATION) + 1)),
                ),
            ),
        ),
    ),
    view=view,
    check=_check,
    source="how_many_fit-python",
)
