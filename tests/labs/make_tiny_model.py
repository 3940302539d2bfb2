"""Make the models that labs are tried with on the CPU build: random weights, Qwen2.5-7B's KV shape, own tokenizer.

Run inside an environment with vLLM 0.26.0, never by pytest: python tests/labs/make_tiny_model.py FOLDER
Beside FOLDER comes FOLDER-awq, whose linear layers have 4-bit weights in AWQ's form.
KV bytes depend on layers, KV heads and head size only, so 26 million parameters carry the real shape.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file  # type: ignore[import-not-found]
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # type: ignore[import-not-found]
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast  # type: ignore[import-not-found]

GROUP = 32  # inputs that share a scale
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


def config(hidden_size: int = 112) -> LlamaConfig:
    """28 layers, 4 KV heads, head size 128, as in Qwen2.5-7B; the Llama class, because vLLM's Qwen2 has no head_dim."""
    return LlamaConfig(
        vocab_size=512,
        hidden_size=hidden_size,
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


def in_awq_form(weight: torch.Tensor) -> dict[str, torch.Tensor]:
    """Random 4-bit weights in place of a linear layer's: eight to an int32, one scale and zero for GROUP inputs."""
    outputs, inputs = weight.shape

    def packed(rows: int) -> torch.Tensor:
        return torch.randint(-(2**31), 2**31 - 1, (rows, outputs // 8), dtype=torch.int32)

    scales = torch.full((inputs // GROUP, outputs), 0.002, dtype=torch.float16)
    return {"qweight": packed(inputs), "qzeros": packed(inputs // GROUP), "scales": scales}


def save_awq(folder: Path) -> None:
    """The same shape in 4 bits; the CPU kernel wants sizes that are multiples of 32."""
    made = LlamaForCausalLM(config(hidden_size=224)).to(torch.float16)
    made.save_pretrained(folder)
    found: dict[str, torch.Tensor] = {}
    for name, weight in load_file(folder / "model.safetensors").items():
        if "_proj" in name:
            found |= {name.replace("weight", part): value for part, value in in_awq_form(weight).items()}
        else:
            found[name] = weight
    save_file(found, folder / "model.safetensors", {"format": "pt"})
    said = json.loads((folder / "config.json").read_text())
    said["quantization_config"] = {
        "quant_method": "awq", "bits": 4, "group_size": GROUP, "version": "gemm", "zero_point": True,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(said, indent=2))


def main(folder: Path) -> None:
    torch.manual_seed(0)
    awq = folder.with_name(f"{folder.name}-awq")
    for place in (folder, awq):
        tokenizer().save_pretrained(place)
    LlamaForCausalLM(config()).to(torch.bfloat16).save_pretrained(folder)
    save_awq(awq)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
