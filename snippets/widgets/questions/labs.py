"""Questions of the lab pages, each asked before the reader pays for a card."""

from __future__ import annotations

from dataclasses import replace

from snippets import baseline
from snippets.kv_cache_size import QWEN2_5_7B, kv_bytes_per_token
from snippets.units import count, gib, kib
from snippets.widgets.question import Question

UTILIZATION = 0.90  # the lab's, not vLLM's default
_WEIGHTS = baseline.AWQ_WEIGHTS_BYTES
_AVAILABLE = baseline.available_bytes(weights_bytes=_WEIGHTS, utilization=UTILIZATION)
_FP8 = baseline.sequences(weights_bytes=_WEIGHTS, utilization=UTILIZATION, kv_dtype_bytes=baseline.FP8_BYTES)
_BF16 = baseline.sequences(weights_bytes=_WEIGHTS, utilization=UTILIZATION)
_BF16_WEIGHTS = baseline.sequences(utilization=UTILIZATION, kv_dtype_bytes=baseline.FP8_BYTES)
_LOW, _HIGH = (
    baseline.sequences(other, _WEIGHTS, UTILIZATION, baseline.FP8_BYTES)
    for other in (baseline.OTHER_HIGH_BYTES, baseline.OTHER_LOW_BYTES)
)
_TOKEN_BYTES = kv_bytes_per_token(replace(QWEN2_5_7B, dtype_bytes=baseline.FP8_BYTES))
_REQUEST_BYTES = _TOKEN_BYTES * baseline.MAX_MODEL_LEN

SERVE_KV = Question(
    name="lab_serve_kv_requests",
    prompt=(
        f"Qwen2.5-7B-Instruct in 4 bits ({gib(_WEIGHTS)}) on an RTX 4090, utilization {UTILIZATION:.2f}, FP8 KV cache, "
        f"{gib(baseline.OTHER_BYTES)} of other memory: how many requests of {count(baseline.MAX_MODEL_LEN)} "
        "tokens fit at once?"
    ),
    unit="requests",
    answer=int(_FP8),
    answer_text=f"{int(_FP8)} whole requests",
    minimum=1,
    maximum=100_000,
    whole=True,
    exact=_FP8,
    near=max(_HIGH - _FP8, _FP8 - _LOW) / _FP8,  # the ends that the range of other memory gives
    mistakes=(
        (int(_BF16), "two bytes per number: an FP8 cache has one"),
        (int(_BF16_WEIGHTS), "the weights of BF16: in 4 bits they take about a third"),
        (
            baseline.VISIBLE_BYTES // _REQUEST_BYTES,
            "the whole card for the cache: the weights and other memory come first",
        ),
    ),
)

WORKING = {  # HTML under "Show the answer"
    SERVE_KV.name: (
        f"<p><strong>{int(_FP8)}.</strong> {gib(baseline.VISIBLE_BYTES)} × {UTILIZATION:.2f} − {gib(_WEIGHTS)} weights "
        f"− {gib(baseline.OTHER_BYTES)} other memory leaves {gib(_AVAILABLE)}. One token takes "
        f"{kib(_TOKEN_BYTES)}, one request {gib(_REQUEST_BYTES)}: {_FP8:.2f} of them.</p>"
    ),
}

QUESTIONS = (SERVE_KV,)
