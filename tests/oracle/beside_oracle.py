# mypy: ignore-errors
"""Bytes that vLLM 0.26.0's model classes hold beside their parameters, for every model of the catalog. No GPU.

usage: PYTHONPATH=. ORACLE_ENV/bin/python tests/oracle/beside_oracle.py h100-80gb > tests/data/beside_of_vllm.json
Of the decoder of one rank without parallelism: rotary tables, and the buffers for a batch of 8,192 tokens.
"""

import json

import model_oracle
import torch
from vllm.config.vllm import get_cached_compilation_config
from vllm.model_executor.layers import rotary_embedding
from whole_config import completed

from snippets.catalog.configs import config_entries

TABLES = ("cos_sin_cache", "long_short_cos_sin_cache")
BUFFERS = ("topk_indices_buffer", "_mtp_hidden_buffer")
TOWERS = ("visual.", "vision_tower.", "vision_model.")


def main():
    model_oracle.start()
    held = {}
    model_oracle._bytes = lambda model: held.update(_beside(model)) or 0
    found = {}
    entries = config_entries()
    for key in sorted(entries, key=lambda key: key == "deepseek-v4-flash"):  # it leaves kernels on for those after it
        entry = entries[key]
        rotary_embedding._ROPE_DICT.clear()  # a process has one model; here tables of another would be taken
        get_cached_compilation_config.cache_clear()
        args = {"kv_cache_dtype": "fp8"} if key == "deepseek-v4-flash" else {}
        asked = {"config": completed(entry.config), "gpu": "h100-80gb", "args": args, "available_bytes": 2**44}
        answer = model_oracle.answer(asked | {"hf_quant_config": entry.hf_quant_config})
        found[key] = {"error": answer["error"]} if "error" in answer else dict(held)
    rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in found.items())
    print("{\n" + rows + "\n}", file=model_oracle.OUT)


def _beside(model):
    """Every tensor once: modules share tables and buffers."""
    seen, sizes = set(), {"rotary_tables": 0, "buffers": 0}
    for name, module in model.named_modules():
        for key, value in [*vars(module).items(), *module._buffers.items()]:
            if not isinstance(value, torch.Tensor) or id(value) in seen or name.startswith(TOWERS):
                continue
            seen.add(id(value))
            kind = "rotary_tables" if key in TABLES else "buffers" if key in BUFFERS else None
            if kind:
                sizes[kind] += value.numel() * value.element_size()
    return sizes


if __name__ == "__main__":
    main()
