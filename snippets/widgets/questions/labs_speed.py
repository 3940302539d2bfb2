"""Questions of the lab pages about a step's time and about the FP8 cache."""

from __future__ import annotations

from snippets import baseline
from snippets.decode_step import kv_read_bytes, step_bytes, step_seconds
from snippets.number_formats import BF16, E4M3, largest_move
from snippets.units import count, gb, milliseconds, percent
from snippets.widgets.question import Question

BATCH, CONTEXT = 16, 4096
_KV = kv_read_bytes(baseline.AWQ_MODEL, BATCH * CONTEXT)
_READ = step_bytes(baseline.AWQ_MODEL, BATCH * CONTEXT)


def _ms(read: float) -> float:
    return 1000 * step_seconds(read, baseline.BYTES_PER_SECOND)


STEP_TIME = Question(
    name="lab_decode_roofline_ms",
    prompt=(
        f"Qwen2.5-7B-Instruct in 4 bits on an RTX 4090 of {count(baseline.BYTES_PER_SECOND / 10**9)} GB/s, BF16 cache: "
        f"{BATCH} sequences of {count(CONTEXT)} tokens each get their next token. How many milliseconds does that step "
        "take at least?"
    ),
    unit="ms",
    answer=_ms(_READ),
    answer_text=milliseconds(step_seconds(_READ, baseline.BYTES_PER_SECOND), 2),
    minimum=0.01,
    maximum=100_000,
    near=0.03,
    mistakes=(
        (_ms(baseline.AWQ_WEIGHTS_READ_BYTES), "the weights alone: the cache is read too"),
        (_ms(baseline.AWQ_WEIGHTS_READ_BYTES + _KV / BATCH), "the cache of one sequence: all of them are read"),
        (
            _ms(BATCH * baseline.AWQ_WEIGHTS_READ_BYTES + _KV),
            "weights for each sequence: one step reads them once for all",
        ),
        (_ms(baseline.WEIGHTS_READ_BYTES + _KV), "the weights of BF16: in 4 bits they take about a third"),
        (_ms(baseline.AWQ_WEIGHTS_READ_BYTES + _KV / 2), "an FP8 cache: BF16 has two bytes a number"),
    ),
)

LARGEST_MOVE = Question(
    name="lab_kv_quality_rounding",
    prompt=(
        f"{E4M3.name} keeps {E4M3.mantissa_bits} bits behind the leading one and rounds to the nearest number it has. "
        "By how many percent of itself can a key or a value move when it is stored, at most?"
    ),
    unit="%",
    answer=100 * largest_move(E4M3),
    answer_text=percent(largest_move(E4M3), 1),
    minimum=0.01,
    maximum=100,
    mistakes=(
        (100 / 2**E4M3.mantissa_bits, "a whole step: rounding goes to the nearest, so half a step is the most"),
        (
            100 / 2 ** (E4M3.mantissa_bits + 1),
            "half a step as a share of 1: the number that moves by so much is larger",
        ),
        (100 * largest_move(BF16), "BF16, which keeps 7 bits"),
    ),
)

WORKING = {  # HTML under "Show the answer"
    STEP_TIME.name: (
        f"<p><strong>{STEP_TIME.answer_text}.</strong> The step reads {gb(baseline.AWQ_WEIGHTS_READ_BYTES)} of "
        f"weights, all but the input embedding, and {BATCH} × {count(CONTEXT)} tokens of cache, {gb(_KV)}. Together "
        f"{gb(_READ)}, at {count(baseline.BYTES_PER_SECOND / 10**9)} GB/s. No step can be faster; the lab measures how "
        "much slower one is.</p>"
    ),
    LARGEST_MOVE.name: (
        f"<p><strong>{LARGEST_MOVE.answer_text}, one part in 17.</strong> From 1 to 2 the format has 8 steps of 1/8. "
        "Halfway between 1 and 1 1/8 lies 17/16, and it must move by 1/16: one part in 17. BF16 keeps 7 bits and "
        f"moves a number by at most one part in 257, {percent(largest_move(BF16), 1)}. What that does to an answer "
        "no formula says: the lab measures it.</p>"
    ),
}

QUESTIONS = (STEP_TIME, LARGEST_MOVE)
