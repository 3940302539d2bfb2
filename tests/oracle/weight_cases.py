"""The questions about weights that vLLM's own classes answer (model_oracle.py), and where their answers are kept.

To ask again, with the environment of make_oracle_env.sh, for GPU in h100-80gb a100-80gb b200 rtx-5090 t4 v100-32gb:
  PYTHONPATH=. python tests/oracle/weight_cases.py ask GPU > questions.jsonl
  PYTHONPATH=. ORACLE_ENV/bin/python tests/oracle/model_oracle.py GPU < questions.jsonl > answers.jsonl
  PYTHONPATH=. python tests/oracle/weight_cases.py keep GPU < answers.jsonl
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

from whole_config import completed

from snippets.catalog.configs import config_entries

ANSWERS = Path(__file__).parents[1] / "data" / "weights_of_vllm.jsonl"
Case = dict[str, Any]

LAYOUTS: list[Case] = [
    {},
    {"tensor_parallel_size": 2},
    {"tensor_parallel_size": 4},
    {"tensor_parallel_size": 8},
    {"pipeline_parallel_size": 3},
]
MOE: list[Case] = [
    {"tensor_parallel_size": 4, "enable_expert_parallel": True},
    {"tensor_parallel_size": 2, "data_parallel_size": 2},
    {"tensor_parallel_size": 2, "data_parallel_size": 2, "enable_expert_parallel": True},
]
MIXTURES = [
    *(
        "mixtral-8x7b",
        "qwen3-30b-a3b",
        "qwen3-30b-a3b-fp8",
        "qwen3-next-80b-a3b",
        "qwen3.5-122b-a10b-fp8",
        "gpt-oss-20b",
    ),
    *("deepseek-v3", "deepseek-v4-flash", "glm-4.5", "mimo-v2-flash", "jamba-1.5-mini", "llama-4-scout"),
]
WIDE = ["llama-3-8b", "llama-3-70b", "qwen2.5-72b", "qwen3-235b-a22b", "mistral-7b-v0.1", "deepseek-r1", "kimi-k2"]
MTP = [
    "deepseek-v3",
    "deepseek-v3.2",
    "glm-4.5",
    "glm-5.1",
    "qwen3-next-80b-a3b",
    "qwen3.5-27b",
    "qwen3.5-122b-a10b-fp8",
]

MTP_ALONE = ["mimo-v2-flash", "deepseek-v4-flash"]  # asked later than the others: the order is that of the answers
_DRAFTING: Case = {"speculative": {"method": "draft_model", "num_speculative_tokens": 3}}
# (target, its arguments, draft model): the draft's own dtype and quantization count for nothing but its own config's
DRAFTS: list[tuple[str, Case, str]] = [
    ("llama-3.1-70b", {"tensor_parallel_size": 4, "quantization": "fp8"}, "llama-3.2-3b"),
    ("qwen2.5-7b", {"tensor_parallel_size": 2}, "qwen2.5-7b-awq"),
    ("llama-3.1-70b", {"pipeline_parallel_size": 2}, "llama-3.2-3b"),
    ("llama-3.1-70b", {"pipeline_parallel_size": 4, "tensor_parallel_size": 2}, "llama-3.2-3b"),
    ("llama-3.1-8b", {"tensor_parallel_size": 2, "dtype": "float32"}, "llama-3.2-1b"),
]
WITHOUT_BF16: list[tuple[str, Case]] = [  # Gemma runs in 32 bits there, others in FP16
    *((key, args) for key in ("gemma-2-2b", "gemma-3-1b", "gemma-3-27b") for args in ({}, {"tensor_parallel_size": 2})),
    ("qwen2.5-7b", {}),
    ("mixtral-8x7b", {}),
]

_INT4 = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 128, "dynamic": False}
_INT8 = {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "channel", "dynamic": False}
_FP8 = {"num_bits": 8, "type": "float", "symmetric": True, "strategy": "tensor", "dynamic": False}
_TOKEN = {"num_bits": 8, "symmetric": True, "strategy": "token", "dynamic": True}
_NVFP4 = {"num_bits": 4, "type": "float", "group_size": 16}
_LINEARS = ["self_attn", "mlp.up_proj", "mlp.gate_proj", "mlp.down_proj", "mlp.experts"]


def _compressed(form: str, weights: Case, inputs: Case | None, ignore: list[str]) -> Case:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": inputs, "output_activations": None}
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "ignore": ["lm_head", *ignore],
        "config_groups": {"group_0": group},
        "quantization_status": "compressed",
    }


def _gptq(act_order: bool) -> Case:
    """modules_in_block_to_quantize is what vLLM otherwise reads from the weight files."""
    return {
        "quant_method": "gptq",
        "bits": 4,
        "group_size": 128,
        "desc_act": act_order,
        "sym": True,
        "lm_head": False,
        "modules_in_block_to_quantize": _LINEARS,
    }


_GATES = ["re:.*mlp.gate$"]
_AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "version": "gemm", "zero_point": True}
QUANTISED: list[tuple[str, Case]] = [
    ("llama-3-8b", {"quant_method": "fp8", "activation_scheme": "dynamic"}),
    ("llama-3-8b", {"quant_method": "fp8", "activation_scheme": "static"}),
    ("llama-3-8b", _compressed("pack-quantized", _INT4, None, [])),
    ("llama-3-8b", _compressed("pack-quantized", {**_INT4, "symmetric": False}, None, [])),
    ("qwen3-30b-a3b", _compressed("pack-quantized", _INT4, None, _GATES)),
    ("llama-3-8b", _compressed("int-quantized", _INT8, {**_TOKEN, "type": "int"}, [])),
    ("llama-3-8b", _compressed("float-quantized", _FP8, _FP8, [])),
    ("llama-3-8b", _compressed("float-quantized", {**_FP8, "strategy": "channel"}, {**_TOKEN, "type": "float"}, [])),
    (
        "llama-3-8b",
        {
            "quant_method": "modelopt",
            "quant_algo": "NVFP4",
            "producer": {"name": "modelopt", "version": "0.30"},
            "ignore": ["lm_head"],
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": _NVFP4, "input_activations": _NVFP4}},
        },
    ),
    ("qwen2.5-7b", _gptq(False)),
    ("qwen2.5-7b", _gptq(True)),
    ("qwen3-30b-a3b", _gptq(False)),
    ("qwen3-30b-a3b", {**_AWQ, "modules_to_not_convert": ["mlp.gate"]}),
]


def cases(card: str) -> Iterator[Case]:
    """Every case for one card: a catalog key, arguments, and what is changed in the config."""
    if card in ("t4", "v100-32gb"):
        yield from ({"key": key, "args": args} for key, args in WITHOUT_BF16)
        yield {"key": "gemma-2-2b", "args": {"tensor_parallel_size": 2, **_DRAFTING}, "draft": "gemma-2-2b"}
        return
    if card != "h100-80gb":
        for args in LAYOUTS[:2]:
            yield {"key": "gpt-oss-20b", "args": args}
        return
    for key in config_entries():
        yield from ({"key": key, "args": args} for args in LAYOUTS)
    for key in MIXTURES:
        yield from ({"key": key, "args": args} for args in MOE)
    for key in WIDE:
        yield {"key": key, "args": {"tensor_parallel_size": 16}}
    for key in MTP:
        for args in LAYOUTS[:2]:
            yield {"key": key, "args": {**args, "speculative": {"method": "mtp", "num_speculative_tokens": 1}}}
    for key, quantization in QUANTISED:
        yield from ({"key": key, "args": args, "quantization_config": quantization} for args in LAYOUTS[:2])
    for key, args, draft in DRAFTS:
        yield {"key": key, "args": {**args, **_DRAFTING}, "draft": draft}
    for key in MTP_ALONE:
        for args in LAYOUTS[:2]:
            yield {"key": key, "args": {**args, "speculative": {"method": "mtp", "num_speculative_tokens": 1}}}


def config_of(case: Case) -> Case:
    """The fields of the config that a case is about."""
    fields: Case = deepcopy(dict(config_entries()[case["key"]].config))
    if "quantization_config" in case:
        fields["quantization_config"] = case["quantization_config"]
    return fields


def question(case: Case, card: str) -> Case:
    """A case as model_oracle.py takes it."""
    args = dict(case["args"])
    if case["key"] == "deepseek-v4-flash":
        args["kv_cache_dtype"] = "fp8"
    asked = {"config": completed(config_of(case)), "gpu": card, "args": args, "available_bytes": 2**44}
    if "draft" in case:
        asked["draft"] = completed(config_entries()[case["draft"]].config)
    side = config_entries()[case["key"]].hf_quant_config
    return {**asked, "hf_quant_config": {**side, "producer": {"name": "modelopt"}}} if side else asked


def keep(card: str, lines: list[str]) -> None:
    """Store the answers for one card in place of older ones."""
    kept = [line for line in _stored() if json.loads(line)["gpu"] != card]
    for case, line in zip(cases(card), lines, strict=True):
        found = json.loads(line)
        told = {name: found[name] for name in ("weights", "drafter_weights", "error") if found.get(name)}
        told["error"] = told["error"].splitlines()[0] if "error" in told else None
        kept.append(json.dumps({"gpu": card, **case, **{name: value for name, value in told.items() if value}}))
    ANSWERS.write_text("\n".join(kept) + "\n", encoding="utf-8")


def _stored() -> list[str]:
    return ANSWERS.read_text(encoding="utf-8").splitlines() if ANSWERS.exists() else []


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        for asked in cases(sys.argv[2]):
            print(json.dumps(question(asked, sys.argv[2])))
    else:
        keep(sys.argv[2], sys.stdin.read().splitlines())
