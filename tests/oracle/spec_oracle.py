# ruff: noqa: E402
# mypy: ignore-errors
"""What vLLM 0.26.0's own planning code answers to the lines of snippets/planner/cache/spec_lines.py.

usage: ORACLE_ENV/bin/python tests/oracle/spec_oracle.py < lines.jsonl
One answer per line: the keys of spec_lines, or {"error": text} where vLLM raises ValueError or NotImplementedError, or
{"raises": text} where it fails in another way (an assertion, a division by zero). Needs the environment that
make_oracle_env.sh builds; no GPU. The configuration is a stand-in with the fields that planning reads.
"""

import json
import os
import sys
import time
from types import SimpleNamespace

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
import vllm.platforms as platforms
from vllm.platforms.cpu import CpuPlatform

platforms._current_platform = CpuPlatform()
import torch
from vllm.utils.torch_utils import STR_DTYPE_TO_TORCH_DTYPE
from vllm.v1 import kv_cache_interface as kv
from vllm.v1.attention.backends.registry import MambaAttentionBackendEnum
from vllm.v1.core import kv_cache_utils as planning

DTYPES = {**{str(d)[6:]: d for d in (torch.float64, torch.float8_e4m3fn, torch.float8_e5m2, torch.int32, torch.int64)},
          "uint8": torch.uint8, **STR_DTYPE_TO_TORCH_DTYPE}  # fmt: skip


CLOCK = {"seconds": 0.0}


class Log:
    """Stands in for vLLM's logger and keeps what the user would see."""

    def __init__(self):
        self.lines, self.warnings, self.once = [], [], set()

    def info(self, text, *args):
        self.lines.append(text % args)

    def info_once(self, text, *args):
        if (text, args) not in self.once:
            self.once.add((text, args))
            self.lines.append(text % args)

    def warning(self, text, *args):
        self.warnings.append(text % args)

    def debug(self, *args):
        pass


def config_of(q):
    return SimpleNamespace(
        model_config=SimpleNamespace(
            max_model_len=q["max_model_len"],
            original_max_model_len=q.get("original_max_model_len", q["max_model_len"]),
        ),
        parallel_config=SimpleNamespace(
            decode_context_parallel_size=q.get("dcp", 1), prefill_context_parallel_size=1, pipeline_parallel_size=1
        ),
        scheduler_config=SimpleNamespace(
            disable_hybrid_kv_cache_manager=q.get("disable_hybrid", False),
            max_num_encoder_input_tokens=q.get("max_num_batched_tokens", 8192),
        ),
        cache_config=SimpleNamespace(
            num_gpu_blocks_override=q.get("num_gpu_blocks_override"),
            mamba_cache_mode=q.get("mamba_cache_mode", "none"),
            enable_prefix_caching=True,
        ),
        kv_transfer_config=None,
        speculative_config=None,
        max_in_flight_tokens=q.get("max_in_flight_tokens", 16384),
    )


def spec_of(layer):
    """A new spec object, as every layer of a real model has its own; None for a layer that gets none."""
    kind, cache_dtype = layer.get("kind", "full"), layer.get("cache_dtype", "auto")
    if kind == "encoder_only":
        return None
    if kind == "mamba":
        return kv.MambaSpec(
            block_size=layer["block_size"],
            shapes=tuple(map(tuple, layer["shapes"])),
            dtypes=tuple(DTYPES[name] for name in layer["dtypes"]),
            page_size_padded=layer.get("page_size_padded"),
            mamba_type=MambaAttentionBackendEnum[layer.get("mamba_type", "MAMBA2")],
            mamba_cache_mode=layer.get("mamba_cache_mode", "none"),
            num_speculative_blocks=layer.get("num_speculative_blocks", 0),
        )
    common = {
        "block_size": layer["block_size"],
        "num_kv_heads": layer.get("kv_heads", 1),
        "head_size": layer["head_size"],
        "dtype": DTYPES[layer.get("dtype", "bfloat16") if cache_dtype in ("auto", None) else cache_dtype],
        "kv_quant_mode": kv.get_kv_quant_mode(cache_dtype),
        "page_size_padded": layer.get("page_size_padded"),
        "indexes_kv_by_block_stride": layer.get("indexes_kv_by_block_stride", False),
    }
    value = {"head_size_v": layer.get("head_size_v")}
    latent = {
        "cache_dtype_str": cache_dtype,
        "alignment": layer.get("alignment"),
        "compress_ratio": layer.get("compress_ratio", 1),
        "model_version": layer.get("model_version"),
    }
    if kind == "full":
        return kv.FullAttentionSpec(**common, **value)
    if kind == "turboquant":
        return kv.TQFullAttentionSpec(**common, **value, tq_slot_size=layer["tq_slot_size"])
    if kind == "mla":
        return kv.MLAAttentionSpec(**common, **latent)
    if kind == "sliding":
        return kv.SlidingWindowSpec(**common, **value, sliding_window=layer["window"])
    if kind == "sliding_mla":
        return kv.SlidingWindowMLASpec(**common, **latent, sliding_window=layer["window"])
    if kind == "chunked":
        return kv.ChunkedLocalAttentionSpec(**common, attention_chunk_size=layer["chunk"])
    return {"cross": kv.CrossAttentionSpec}[kind](**common)


def specs_of(q):
    stages, entry = [], 0
    for part in q["stages"] if "stages" in q else [q["layers"]]:
        stage = {}
        for layer in part:
            for i in range(layer["n"]):
                spec = spec_of(layer)
                if spec is not None:
                    stage[f"layers.{entry}.{i}"] = spec
            entry += 1
        stages.append(stage)
    return stages


def groups_of(plan):
    return [
        [
            len(g.layer_names),
            type(g.kv_cache_spec).__name__,
            g.kv_cache_spec.block_size,
            g.kv_cache_spec.page_size_bytes,
        ]
        for g in plan.kv_cache_groups
    ]


def answer(q):
    config, log = config_of(q), Log()
    planning.logger = log
    available = q["available_bytes"] if "stages" in q else [q["available_bytes"]]
    specs = specs_of(q)
    started = time.process_time()
    try:
        plans = planning.get_kv_cache_configs(config, specs, available)
        # Without groups vLLM asks for no capacity: nothing is cached.
        tokens, concurrency = planning.get_kv_cache_capacity(config, plans[0]) if plans[0].kv_cache_groups else (0, 0.0)
    except (ValueError, NotImplementedError) as error:
        return {"error": str(error)}
    except (AssertionError, ArithmeticError, AttributeError, LookupError, TypeError) as error:
        return {"raises": f"{type(error).__name__}: {error}"}
    finally:
        CLOCK["seconds"] += time.process_time() - started
    groups = [groups_of(plan) for plan in plans]
    if not plans[0].kv_cache_groups:
        groups = []
    found = {
        "num_blocks": plans[0].num_blocks,
        "tokens": tokens,
        "concurrency": concurrency,
        "max_model_len": config.model_config.max_model_len,
        "groups": groups if "stages" in q else [group for stage in groups for group in stage],
    }
    if q.get("log_lines"):
        found |= {"log_lines": log.lines, "warnings": log.warnings}
    return found


def main():
    for text in sys.stdin:
        print(json.dumps(answer(json.loads(text))), flush=True)
    if "--time" in sys.argv:  # what planning took; reading, building the specs and printing aside
        print(json.dumps(CLOCK), flush=True)


if __name__ == "__main__":
    main()
