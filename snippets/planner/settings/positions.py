"""Learned tables of positions that are shorter than the length vLLM takes from the config."""

from __future__ import annotations

from snippets.model_config.model_config import ModelConfig

SHIFTED = ("roberta", "xlm-roberta", "camembert")  # positions start behind pad_token_id (models/roberta.py:80)


def notes_of_positions(config: ModelConfig, max_model_len: int | None) -> tuple[str, ...]:
    """What runs past the table; nothing where positions start at 0, or for a length that the table serves."""
    rows, padding = config.fields.get("max_position_embeddings"), config.fields.get("pad_token_id", 1)
    absolute = config.fields.get("position_embedding_type", "absolute") == "absolute"
    if config.model_type not in SHIFTED or not absolute or not isinstance(rows, int) or not isinstance(padding, int):
        return ()
    usable = rows - padding - 1
    if usable < 1 or (max_model_len is not None and max_model_len <= usable):
        return ()
    return (
        f"From config.json vLLM 0.26.0 accepts texts of {rows:,} tokens, but positions start at pad_token_id + 1 = "
        f"{padding + 1}: the table serves {usable:,}, and a longer text reads past its end. --max-model-len {usable} "
        "is safe. Where tokenizer_config.json or sentence_bert_config.json beside the config name a length, vLLM may "
        "take that one.",
    )
