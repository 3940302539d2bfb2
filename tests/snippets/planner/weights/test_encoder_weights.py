"""Encoders' weights against vLLM 0.26.0's own classes, built on the meta device by tests/oracle/model_oracle.py."""

from __future__ import annotations

from typing import Any

import pytest

from snippets.model_config.read import read_config
from snippets.planner.engine_args import EngineArgs
from snippets.planner.weights import rank_weight_bytes

BGE_M3 = {
    "architectures": ["XLMRobertaModel"],
    "model_type": "xlm-roberta",
    "num_hidden_layers": 24,
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
    "vocab_size": 250002,
    "max_position_embeddings": 8194,
    "type_vocab_size": 1,
    "pad_token_id": 1,
    "position_embedding_type": "absolute",
    "tie_word_embeddings": True,
    "dtype": "float32",
}
BASE = {"num_hidden_layers": 12, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}
ROBERTA = BGE_M3 | BASE | {
    "architectures": ["RobertaModel"], "model_type": "roberta", "vocab_size": 50265, "max_position_embeddings": 514,
    "tie_word_embeddings": False,
}  # fmt: skip
BERT = BASE | {
    "architectures": ["BertModel"], "model_type": "bert", "vocab_size": 30522, "max_position_embeddings": 512,
    "type_vocab_size": 2, "torch_dtype": "float32",
}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "args", "num_bytes"),
    [
        (BGE_M3, {}, 1_133_760_512),
        (BGE_M3, {"tensor_parallel_size": 2}, 567_029_760),
        (BERT, {}, 217_887_744),
        (BERT, {"dtype": "float32"}, 435_775_488),
        (ROBERTA, {}, 248_361_984),
    ],
)
def test_an_encoder_takes_what_vllms_class_allocates(
    fields: dict[str, object], args: dict[str, Any], num_bytes: int
) -> None:
    assert rank_weight_bytes(read_config(fields), EngineArgs(**args), compute_capability=(8, 9)) == num_bytes
