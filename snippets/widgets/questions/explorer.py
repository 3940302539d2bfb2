"""The question of the memory cliff page."""

from __future__ import annotations

from snippets.catalog.models import model
from snippets.kv_shapes import KVShape, first_seq_len_at_least, kv_bytes_per_token
from snippets.parameters import published_weight_bytes
from snippets.units import GB, GIB, MIB, count
from snippets.widgets.question import Question

_MODEL = model("llama-3-70b")
_SHAPE = KVShape.of(_MODEL)
_WEIGHTS_BYTES = published_weight_bytes(_MODEL)
_SIXTEEN_BIT = 2


def _crossing(batch: int) -> int:
    found = first_seq_len_at_least(_SHAPE, _WEIGHTS_BYTES, batch, _SIXTEEN_BIT, MIB)
    assert found is not None, "Llama-3-70B has no window: its cache always passes the weights"
    return found


_ANSWER = _crossing(8)
_GROUP = _SHAPE.num_attention_heads // _SHAPE.num_kv_heads

QUESTIONS = (
    Question(
        name="where_the_cliff_is",
        prompt="Llama-3-70B serves 8 requests at once. At how many tokens per request does the cache weigh as much "
        "as the weights?",
        unit="tokens",
        answer=_ANSWER,
        answer_text=f"{count(_ANSWER)} tokens",
        minimum=1,
        maximum=10_000_000,
        whole=True,
        mistakes=(
            (_crossing(1), "one request alone: eight fill the memory eight times as fast"),
            (_ANSWER / _GROUP, f"all {_SHAPE.num_attention_heads} query heads cached: only the KV heads are"),
            (_ANSWER * 2, "keys or values alone: both are kept"),
            (
                _WEIGHTS_BYTES / GB * GIB / (8 * kv_bytes_per_token(_SHAPE, _SIXTEEN_BIT)),
                "GB taken for GiB: 141.1 GB of weights are 131.4 GiB",
            ),
        ),
    ),
)
