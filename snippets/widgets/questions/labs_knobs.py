"""The question of the lab about four knobs of the cache."""

from __future__ import annotations

from snippets import baseline
from snippets.units import count, gib
from snippets.widgets.question import Question

UTILIZATION = 0.90  # the lab's, not vLLM's default
SHORTER = 4096
_WEIGHTS = baseline.AWQ_WEIGHTS_BYTES
_AVAILABLE = baseline.available_bytes(weights_bytes=_WEIGHTS, utilization=UTILIZATION)
_TOKENS = baseline.tokens(weights_bytes=_WEIGHTS, utilization=UTILIZATION, max_model_len=SHORTER)
_BEFORE = baseline.sequences(weights_bytes=_WEIGHTS, utilization=UTILIZATION)
_AFTER = baseline.sequences(weights_bytes=_WEIGHTS, utilization=UTILIZATION, max_model_len=SHORTER)

HALF_THE_LENGTH = Question(
    name="lab_kv_knobs_half_the_length",
    prompt=(
        f"Qwen2.5-7B-Instruct in 4 bits on an RTX 4090 with a BF16 KV cache: the log says {count(_TOKENS)} tokens, "
        f"enough for {count(_BEFORE, 2)} requests of {count(baseline.MAX_MODEL_LEN)}. You start it again and "
        f"change only max_model_len, to {count(SHORTER)}. How many tokens does the log say now?"
    ),
    unit="tokens",
    answer=_TOKENS,
    answer_text=f"{count(_TOKENS)} tokens, as before",
    minimum=1,
    maximum=100_000_000,
    whole=True,
    mistakes=(
        (2 * _TOKENS, "twice as many requests, of half the length: the tokens stay"),
        (_TOKENS // 2, "half: the limit is on one request, not on the cache"),
    ),
)

WORKING = {  # HTML under "Show the answer"
    HALF_THE_LENGTH.name: (
        f"<p><strong>{count(_TOKENS)}, as before.</strong> The trial run that decides how many bytes are left has "
        f"max_num_batched_tokens tokens, however long a request may be. So the bytes stay, {gib(_AVAILABLE)}, and the "
        f"blocks and tokens cut from them. Only the requests are counted anew: {count(_BEFORE, 2)} become "
        f"{count(_AFTER, 2)}.</p>"
    ),
}

QUESTIONS = (HALF_THE_LENGTH,)
