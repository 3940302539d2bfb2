"""Questions of the lesson "The KV cache", each asked before the page shows its answer."""

from __future__ import annotations

from dataclasses import replace

from snippets import baseline, decode_step
from snippets.draw.figure import Table
from snippets.draw.html import table_html
from snippets.kv_cache_size import QWEN2_5_7B, QWEN2_5_7B_QUERY_HEADS, kv_bytes, kv_bytes_per_token
from snippets.units import GIB, KIB, count, gb, gib, kib, percent, times
from snippets.widgets.question import Question

_MHA = replace(QWEN2_5_7B, num_kv_heads=QWEN2_5_7B_QUERY_HEADS)
_ONE_LAYER = replace(QWEN2_5_7B, num_layers=1)
_FP32 = replace(QWEN2_5_7B, dtype_bytes=4)
_PER_TOKEN = kv_bytes_per_token(QWEN2_5_7B)

PER_TOKEN = Question(
    name="kv_cache_per_token",
    prompt="How many KiB does one token of Qwen2.5-7B-Instruct keep in the cache?",
    unit="KiB",
    answer=_PER_TOKEN / KIB,
    answer_text=kib(_PER_TOKEN),
    minimum=0.01,
    maximum=1_000_000,
    near=0.015,
    mistakes=(
        (_PER_TOKEN / KIB / 2, "keys without values, or values without keys: the factor 2 is missing"),
        (kv_bytes_per_token(_MHA) / KIB, "all 28 query heads counted: only the 4 KV heads are cached"),
        (kv_bytes_per_token(_ONE_LAYER) / KIB, "one layer only: every one of the 28 keeps its own"),
        (kv_bytes_per_token(_FP32) / KIB, "four bytes per number: BF16 has two"),
    ),
)

_LONG, _EIGHT = 32_768, 8
_EIGHT_LONG = kv_bytes(QWEN2_5_7B, _LONG, _EIGHT)

EIGHT_LONG = Question(
    name="kv_cache_eight_long",
    prompt=f"How many GiB do eight sequences of {count(_LONG)} tokens hold?",
    unit="GiB",
    answer=_EIGHT_LONG / GIB,
    answer_text=f"{gib(_EIGHT_LONG, 0)}, eight times {gib(kv_bytes(QWEN2_5_7B, _LONG))}",
    minimum=0.001,
    maximum=100_000,
    mistakes=(
        (kv_bytes(QWEN2_5_7B, _LONG) / GIB, "one sequence: each of the eight has a cache of its own"),
        (_EIGHT_LONG / GIB / 2, "keys without values: the factor 2 is missing"),
        (kv_bytes(_MHA, _LONG, _EIGHT) / GIB, "all 28 query heads counted: only the 4 KV heads are cached"),
    ),
)

_AWQ = baseline.AWQ_WEIGHTS_BYTES
_SEQUENCE_BYTES = kv_bytes(QWEN2_5_7B, baseline.MAX_MODEL_LEN)

FOUR_BIT_SEQUENCES = Question(
    name="kv_cache_four_bit_sequences",
    prompt=(
        f"With 4-bit weights ({gib(_AWQ)}) and the cache still in BF16: how many sequences of "
        f"{count(baseline.MAX_MODEL_LEN)} tokens fit beside them?"
    ),
    unit="sequences",
    answer=int(baseline.sequences(weights_bytes=_AWQ)),
    answer_text=f"{int(baseline.sequences(weights_bytes=_AWQ))} whole sequences",
    minimum=1,
    maximum=10_000,
    whole=True,
    exact=baseline.sequences(weights_bytes=_AWQ),
    near=0.03,
    mistakes=(
        (int(baseline.sequences()), "the answer for BF16 weights"),
        (
            int(baseline.sequences(kv_dtype_bytes=baseline.FP8_BYTES)),
            "twice the BF16 answer, which is what an FP8 cache gives",
        ),
        (
            int(baseline.sequences(weights_bytes=_AWQ, kv_dtype_bytes=baseline.FP8_BYTES)),
            "an FP8 cache on top: here the cache stays in BF16",
        ),
        (
            int((baseline.VISIBLE_BYTES - _AWQ) // _SEQUENCE_BYTES),
            "all the memory the card shows: vLLM takes 0.92 of it, and its trial run a part of that",
        ),
    ),
)

_ONE_8K = baseline.MAX_MODEL_LEN
_READ = decode_step.weights_read_bytes(baseline.MODEL)
_KV_READ = decode_step.kv_read_bytes(baseline.MODEL, _ONE_8K)
_SHARE = decode_step.kv_share(baseline.MODEL, _ONE_8K)

KV_SHARE = Question(
    name="kv_cache_share_of_reads",
    prompt=(
        f"One sequence of {count(_ONE_8K)} tokens is running, with BF16 weights. "
        "What part of the bytes that a decode step reads is KV cache?"
    ),
    unit="%",
    answer=100 * _SHARE,
    answer_text=percent(_SHARE, 1),
    minimum=0.01,
    maximum=100,
    near=0.08,
    mistakes=(
        (100 * (1 - _SHARE), "the weights' part"),
        (50, "an even split: write down both numbers of bytes and divide"),
        (100, "a step that reads the cache only: it reads every weight too"),
        (100 * decode_step.kv_share(baseline.MODEL, int(baseline.sequences()) * _ONE_8K), "a full card's part"),
        (100 * _KV_READ / _READ, "KV divided by the weights alone, instead of by both together"),
        (100 * _KV_READ / 2 / (_KV_READ / 2 + _READ), "keys without values: the factor 2 is missing"),
    ),
)


def _tokens_table() -> str:
    rows = [
        ("one token", 1, 1),
        (f"one sequence of {count(baseline.MAX_MODEL_LEN)}", baseline.MAX_MODEL_LEN, 1),
        (f"one sequence of {count(_LONG)}", _LONG, 1),
        (f"eight sequences of {count(_LONG)}", _LONG, _EIGHT),
    ]
    cells = [(label, count(n * batch), _size(kv_bytes(QWEN2_5_7B, n, batch))) for label, n, batch in rows]
    return table_html(Table(("load", "tokens in flight", "KV cache"), tuple(cells)))


def _size(n: int) -> str:
    return gib(n) if n >= GIB / 100 else kib(n)


def _levers_table() -> str:
    weights = {"BF16": baseline.WEIGHTS_BYTES, "4-bit (AWQ)": _AWQ}
    caches = {"BF16": baseline.BF16_BYTES, "FP8": baseline.FP8_BYTES}
    rows = tuple(
        (
            weight,
            cache,
            gib(baseline.available_bytes(weights_bytes=weights_bytes)),
            f"{baseline.sequences(weights_bytes=weights_bytes, kv_dtype_bytes=dtype_bytes):.2f}",
        )
        for weight, weights_bytes in weights.items()
        for cache, dtype_bytes in caches.items()
    )
    return table_html(Table(("weights", "cache", "available", "sequences"), rows))


WORKING = {  # HTML under "Show the answer"
    PER_TOKEN.name: (
        f"<p><strong>{kib(_PER_TOKEN)}.</strong> 2 × {QWEN2_5_7B.num_layers} layers × {QWEN2_5_7B.num_kv_heads} "
        f"KV heads × {QWEN2_5_7B.head_dim} elements × {QWEN2_5_7B.dtype_bytes} bytes = {count(_PER_TOKEN)} bytes. "
        "A token takes more memory here than a page of plain text takes on disk.</p>"
    ),
    EIGHT_LONG.name: (
        f"<p><strong>{gib(_EIGHT_LONG, 0)}.</strong> {_EIGHT} × {count(_LONG)} = {count(_EIGHT * _LONG)} tokens of "
        f"{kib(_PER_TOKEN)}. That is about as much as the model's {gib(baseline.WEIGHTS_BYTES)} of weights, and "
        f"{times(_EIGHT_LONG / baseline.available_bytes(), 1)} the {gib(baseline.available_bytes())} left beside "
        f"them.</p>{_tokens_table()}"
    ),
    FOUR_BIT_SEQUENCES.name: (
        f"<p><strong>{FOUR_BIT_SEQUENCES.answer_in_full}.</strong> {gib(baseline.REQUESTED_BYTES)} requested − "
        f"{gib(_AWQ)} weights − {gib(baseline.OTHER_BYTES)} of other memory = "
        f"{gib(baseline.available_bytes(weights_bytes=_AWQ))}, and a sequence takes {gib(_SEQUENCE_BYTES, 4)}. "
        f"Halving the cache's bytes instead gives fewer:</p>{_levers_table()}"
    ),
    KV_SHARE.name: (
        f"<p><strong>{percent(_SHARE, 1)}.</strong> The step reads {gb(_READ)} of weights and {gb(_KV_READ)} of KV "
        f"cache: {gb(_KV_READ)} of {gb(_READ + _KV_READ)}.</p>"
    ),
}

QUESTIONS = (PER_TOKEN, EIGHT_LONG, FOUR_BIT_SEQUENCES, KV_SHARE)
