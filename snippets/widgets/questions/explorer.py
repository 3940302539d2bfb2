"""The question of the memory cliff page."""

from __future__ import annotations

from dataclasses import replace

from snippets.catalog.models import model
from snippets.kv_shapes import KVShape, first_seq_len_at_least
from snippets.parameters import count_parameters, weight_bytes
from snippets.units import MIB, count
from snippets.widgets.question import Question

_MODEL = model("llama-3-70b")
_GQA = KVShape.of(_MODEL)
_MHA = replace(_GQA, attention="mha", num_kv_heads=_GQA.num_attention_heads)
_SIXTEEN_BIT = 2
_REQUESTS = 8


def _crossing(shape: KVShape, weights_of: KVShape) -> int:
    weights = weight_bytes(count_parameters(_MODEL, weights_of), _MODEL.weight_format)
    found = first_seq_len_at_least(shape, weights, _REQUESTS, _SIXTEEN_BIT, MIB)
    assert found is not None, "Llama-3-70B has no window: its cache always passes the weights"
    return found


_ANSWER = _crossing(_MHA, _MHA)

QUESTIONS = (
    Question(
        name="where_the_cliff_is",
        prompt=f"Llama-3-70B shares {_GQA.num_kv_heads} KV heads among {_GQA.num_attention_heads} query heads, and "
        f"{_REQUESTS} requests reach its weights at {count(_crossing(_GQA, _GQA))} tokens each. Give every query head "
        "a KV head of its own (MHA): at how many tokens now?",
        unit="tokens",
        answer=_ANSWER,
        answer_text=f"{count(_ANSWER)} tokens",
        minimum=1,
        maximum=10_000_000,
        whole=True,
        mistakes=(
            (_crossing(_MHA, _GQA), "the cache eight times as large, the weights as before: they grow too"),
            (_crossing(_GQA, _MHA), "the weights heavier, the cache as before: it grows eightfold"),
            (_crossing(_GQA, _GQA), "nothing changed: the cache now holds every query head's keys and values"),
            (_ANSWER * 2, "keys or values alone: both are kept"),
        ),
    ),
)
