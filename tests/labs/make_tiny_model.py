"""Make the model that labs are tried with on the CPU build: random weights, Qwen2.5-7B's KV shape, own tokenizer.

Run inside an environment with vLLM 0.26.0, never by pytest: python tests/labs/make_tiny_model.py FOLDER
KV bytes depend on layers, KV heads and head size only, so 26 million parameters carry the real shape.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch  # type: ignore[import-not-found]
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # type: ignore[import-not-found]
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # type: ignore[import-not-found]

SPECIAL = ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>"]
CHAT_TEMPLATE = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def tokenizer() -> PreTrainedTokenizerFast:
    """One token a byte, and a chat template."""
    vocab = {token: i for i, token in enumerate(SPECIAL + sorted(pre_tokenizers.ByteLevel.alphabet()))}
    made = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token=SPECIAL[0], additional_special_tokens=SPECIAL[1:], model_max_length=32768
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def config() -> LlamaConfig:
    """28 layers, 4 KV heads, head size 128, as in Qwen2.5-7B; the Llama class, because vLLM's Qwen2 has no head_dim."""
    return LlamaConfig(
        vocab_size=512,
        hidden_size=112,
        intermediate_size=64,
        num_hidden_layers=28,
        num_attention_heads=28,
        num_key_value_heads=4,
        head_dim=128,
        max_position_embeddings=32768,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=0,
    )


def main(folder: Path) -> None:
    torch.manual_seed(0)
    tokenizer().save_pretrained(folder)
    LlamaForCausalLM(config()).to(torch.bfloat16).save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
