"""The questions about whole models whose answers are kept in model_answers.jsonl: catalog models times settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from whole_config import completed

from snippets.catalog.configs import config_entries
from snippets.units import GIB

Question = dict[str, Any]  # "model": catalog key, "gpu": catalog key, "args": EngineArgs fields, "available_bytes"

LARGE, SMALL = 60 * GIB, 6 * GIB
HYBRIDS = ("qwen3-next-80b-a3b", "qwen3.5-27b", "jamba-1.5-mini", "falcon-h1-0.5b", "nemotron-3-super-fp8")
LATENT = ("deepseek-v2-lite", "deepseek-v3", "deepseek-v3.2", "deepseek-v4-flash", "kimi-k2", "glm-5.1")
PLAIN = ("qwen2.5-7b", "llama-3.1-8b", "mistral-7b-v0.1", "gemma-3-27b", "gemma-4-31b-nvfp4", "gpt-oss-20b")
SAMPLE = (*PLAIN, *HYBRIDS, *LATENT, "llama-4-scout", "mimo-v2-flash", "phi-4", "qwen3-30b-a3b-fp8")

EAGLE3 = {
    "architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": 4096,
    "intermediate_size": 14336, "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 1,
    "max_position_embeddings": 2048, "vocab_size": 128256, "draft_vocab_size": 32000, "torch_dtype": "float16",
    "rope_theta": 500000.0, "tie_word_embeddings": False,
}  # fmt: skip  # the published shape of an EAGLE-3 head for Llama-3.1-8B

SMALL_QWEN35: dict[str, Any] = {
    "num_hidden_layers": 24, "hidden_size": 1024, "intermediate_size": 3584, "num_attention_heads": 8,
    "num_key_value_heads": 2, "linear_num_value_heads": 16, "linear_num_key_heads": 16,
    "layer_types": [*["linear_attention"] * 3, "full_attention"] * 6,
}  # fmt: skip

EVERY_MODEL: tuple[dict[str, Any], ...] = (
    {},
    {"tensor_parallel_size": 2},
    {"tensor_parallel_size": 8},
    {"pipeline_parallel_size": 2},
    {"kv_cache_dtype": "fp8", "max_model_len": 2048, "usage": "llm"},
)
CARDS = ("t4", "a100-80gb", "rtx-4090", "b200", "rtx-5090")
ON_EVERY_CARD: tuple[dict[str, Any], ...] = (
    {"max_model_len": 2048},
    {"kv_cache_dtype": "fp8", "max_model_len": 2048},
    {"kv_cache_dtype": "turboquant_4bit_nc", "max_model_len": 2048},
)
ON_ONE_CARD: tuple[dict[str, Any], ...] = (
    {"max_model_len": "auto", "max_num_seqs": 8},
    {"disable_hybrid_kv_cache_manager": True, "max_model_len": 2048},
    {"pipeline_parallel_size": 3},
    {"block_size": 64, "max_model_len": 2048},
    {"block_size": 24},
    {"enable_prefix_caching": True, "max_model_len": 2048},
    {"kv_cache_dtype": "fp8_e5m2", "max_model_len": 2048},
    {"kv_cache_dtype": "bfloat16", "max_model_len": 2048},
    {"kv_cache_dtype": "int8_per_token_head", "max_model_len": 2048},
    {"kv_cache_dtype": "int4_per_token_head", "max_model_len": 2048},
    {"kv_cache_dtype": "fp8_inc"},
    {"kv_cache_dtype": "fp8_ds_mla"},
    {"attention_backend": "TRITON_ATTN", "max_model_len": 2048},
    {"dtype": "float16", "max_model_len": 2048},
    {"quantization": "awq", "max_model_len": 2048},
    {"max_model_len": 99_000_000},
    {"max_num_batched_tokens": 512, "max_model_len": 2048},
    {"max_num_batched_tokens": 4096, "enable_chunked_prefill": False, "max_model_len": 2048},
    {"async_scheduling": False, "max_model_len": 2048},
    {"num_gpu_blocks_override": 1000, "max_model_len": 2048},
    {"tensor_parallel_size": 5},
    {"tensor_parallel_size": 16},
    {"tensor_parallel_size": 32},
    {"tensor_parallel_size": 4, "data_parallel_size": 2, "max_model_len": 2048},
    {"tensor_parallel_size": 8, "enable_expert_parallel": True, "max_model_len": 2048},
    {"tensor_parallel_size": 16, "decode_context_parallel_size": 2, "max_model_len": 2048},
)


def questions() -> Iterator[Question]:
    """All of them, grouped by card."""
    for key in config_entries():
        for args in EVERY_MODEL:
            yield _question(key, "h100-80gb", args, LARGE)
    for key in SAMPLE:
        for args in ON_ONE_CARD:
            if key == "mistral-7b-v0.1" and args.get("kv_cache_dtype") == "fp8_e5m2":
                continue  # FlashInfer refuses its windows after the plan (v1/attention/backends/flashinfer.py:794)
            yield _question(key, "h100-80gb", args, LARGE)
    yield from _speculative()
    yield from _drafters_changed()
    yield from _refused_late()
    for card in CARDS:
        for key in SAMPLE:
            for args in ON_EVERY_CARD:
                if _is_planned(key, card, args):
                    yield _question(key, card, args, SMALL)


def _is_planned(key: str, card: str, args: dict[str, Any]) -> bool:
    """vLLM plans these two and could not run them: no kernels for the card, and a flag that reaches half the layers."""
    if key == "deepseek-v4-flash":
        return card in ("b200", "rtx-5090")
    return key not in ("deepseek-v3.2", "glm-5.1") or "turboquant" not in args.get("kv_cache_dtype", "")


def _speculative() -> Iterator[Question]:
    """Drafters of every kind."""
    for key in ("deepseek-v3", "deepseek-v3.2", "glm-4.5", "qwen3-next-80b-a3b", "qwen3.5-27b", "nemotron-3-super-fp8"):
        for tokens, args in ((1, {"tensor_parallel_size": 8}), (3, {"pipeline_parallel_size": 2})):
            yield _question(key, "h100-80gb", _drafting("mtp", tokens) | args, LARGE)
    yield _question("qwen3-8b", "h100-80gb", _drafting("mtp", 1), LARGE)
    for key in ("qwen3-8b", "falcon-h1-0.5b", "qwen3-next-80b-a3b"):
        yield _question(key, "h100-80gb", _drafting("ngram", 4), LARGE)
    for args in ({}, {"tensor_parallel_size": 2}, {"pipeline_parallel_size": 2}):
        yield _question("llama-3.1-8b", "h100-80gb", _drafting("eagle3", 3) | args, LARGE) | {"draft": EAGLE3}
        for target, draft in (
            ("llama-3.1-8b", "llama-3.2-1b"),
            ("qwen3-8b", "qwen3-0.6b"),
            ("qwen3-8b", "gpt-oss-20b"),
        ):
            yield _question(target, "h100-80gb", _drafting("draft_model", 3) | args, LARGE) | {"draft": draft}


def _drafters_changed() -> Iterator[Question]:
    """Drafters that vLLM takes for something else, or builds otherwise than their config alone would say."""
    eight: dict[str, Any] = {"tensor_parallel_size": 8}
    for key, method in (
        ("deepseek-r1", "deepseek_mtp"),
        ("qwen3-next-80b-a3b", "qwen3_next_mtp"),
        ("glm-4.5", "glm4_moe_mtp"),
        ("qwen3.5-27b", "qwen3_5_mtp"),
    ):
        yield _question(key, "h100-80gb", _drafting(method, 1) | eight, LARGE)
    for key, draft, method in (  # models with MTP layers, and one without that is said to have them
        ("qwen3-next-80b-a3b", "qwen3-next-80b-a3b", "draft_model"),
        ("glm-4.5", "glm-4.5", "draft_model"),
        ("deepseek-r1", "deepseek-v3", "mtp"),
        ("nemotron-h-56b", "nemotron-3-super-fp8", "draft_model"),
        ("nemotron-h-56b", "nemotron-h-56b", "draft_model"),
        ("deepseek-r1", "qwen3-8b", "mtp"),
    ):
        yield _question(key, "h100-80gb", _drafting(method, 2) | eight, LARGE) | {"draft": draft}
    yield _question("qwen3.5-27b", "h100-80gb", _drafting("draft_model", 3) | eight, LARGE) | {
        "draft": "qwen3.5-27b",
        "draft_fields": {"text_config": SMALL_QWEN35},
    }
    for key, draft in (("qwen3-0.6b", "qwen3-8b"), ("qwen3-8b", "qwen3-0.6b"), ("llama-3.1-8b", "llama-3.2-1b")):
        for args in ({"kv_cache_dtype": "turboquant_4bit_nc"}, {"kv_cache_dtype": "turboquant_k8v4"}):
            yield _question(key, "h100-80gb", _drafting("draft_model", 3) | args, LARGE) | {"draft": draft}
    halved = {"kv_cache_dtype": "turboquant_4bit_nc", "pipeline_parallel_size": 2}
    yield _question("qwen3-0.6b", "h100-80gb", _drafting("draft_model", 3) | halved, LARGE) | {"draft": "qwen3-8b"}
    yield from _windows_of_drafters()


def _windows_of_drafters() -> Iterator[Question]:
    """Full, windowed and mixed drafters beside full, windowed and mixed targets."""
    for key, draft in (
        ("mixtral-8x7b", "mistral-7b-v0.1"),
        ("llama-2-13b", "mistral-7b-v0.1"),
        ("mistral-7b-v0.1", "llama-2-7b"),
        ("mistral-7b-v0.1", "gemma-2-2b"),
        ("mistral-7b-v0.1", "gpt-oss-20b"),
        ("gemma-2-2b", "mistral-7b-v0.1"),
        ("gemma-3-27b", "gemma-3-1b"),
        ("falcon-mamba-7b", "llama-3.2-1b"),
        ("qwen2.5-7b", "mistral-7b-v0.1"),
        ("mistral-7b-v0.1", "phi-3-mini-4k"),
        ("mistral-7b-v0.1", "olmo-3.1-32b"),
    ):
        vocabulary = config_entries()[key].config
        text = vocabulary.get("text_config", vocabulary)
        size = text.get("vocab_size", 262208) if isinstance(text, dict) else None
        for args in ({"tensor_parallel_size": 2}, {"pipeline_parallel_size": 2, "kv_cache_dtype": "fp8"}):
            asked = _question(key, "h100-80gb", _drafting("draft_model", 3) | args, LARGE)
            yield asked | {"draft": draft, "draft_fields": {"vocab_size": size}}


def _refused_late() -> Iterator[Question]:
    """What vLLM refuses after its settings stand, beside the like that it takes; and names of embedding models."""
    for args in ({}, {"max_model_len": 8192}, {"enable_prefix_caching": True}, {"mamba_block_size": 40960}):
        asked = {"speculative": {"method": "draft_model", "num_speculative_tokens": 3}} | args
        yield _question("qwen3-next-80b-a3b", "h100-80gb", asked, LARGE) | {"draft": "qwen3-0.6b"}
    for key in ("gemma-3-27b", "gemma-3-1b", "llama-3.1-8b", "whisper-large-v3"):
        for mode in ("align", "all"):
            yield _question(key, "h100-80gb", {"mamba_cache_mode": mode}, LARGE)
    for method in ("medusa", "mlp_speculator", "eagle3", "draft_model"):
        yield _question("qwen3-8b", "h100-80gb", _drafting(method, 3), LARGE)
    for key in ("mimo-v2-flash", "deepseek-v4-flash"):
        yield _question(key, "h100-80gb", _drafting("mtp", 1) | {"tensor_parallel_size": 8}, LARGE)
    for key, name in (
        ("mistral-7b-v0.1", "MistralModel"),
        ("llama-3.2-1b", "LlamaModel"),
        ("gemma-2-2b", "Gemma2Model"),
    ):
        asked = _question(key, "h100-80gb", {"max_model_len": "auto"}, 20 * GIB)
        yield asked | {"fields": {"architectures": [name], "torch_dtype": "float16"}}


def _drafting(method: str, tokens: int) -> dict[str, Any]:
    return {"speculative": {"method": method, "num_speculative_tokens": tokens}, "max_model_len": 2048}


def _question(key: str, card: str, args: dict[str, Any], available_bytes: int) -> Question:
    if key == "deepseek-v4-flash":
        args = {"kv_cache_dtype": "fp8"} | args
    return {"model": key, "gpu": card, "args": args, "available_bytes": available_bytes}


def with_configs(question: Question) -> Question:
    """The question with the fields of the models it names, as model_oracle.py takes it."""
    entry = config_entries()[question["model"]]
    fields = {**entry.config, **question.get("fields", {})}
    asked = question | {"config": completed(fields), "hf_quant_config": entry.hf_quant_config}
    draft = question.get("draft")
    if not isinstance(draft, str):
        return asked
    published = config_entries()[draft].config
    changed = dict(published)
    for name, value in question.get("draft_fields", {}).items():
        own = published.get(name)
        changed[name] = {**own, **value} if isinstance(own, dict) else value
    return asked | {"draft": completed(changed)}
