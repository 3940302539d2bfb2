"""Flags that every lab has, and the engine's, as vLLM names them."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

KV_DTYPE_BYTES = {"bfloat16": 2, "float16": 2, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1}
ENGINE_FLAGS = (
    "max_model_len",
    "gpu_memory_utilization",
    "kv_cache_dtype",
    "enable_prefix_caching",
    "max_num_batched_tokens",
    "max_num_seqs",
    "block_size",
    "num_gpu_blocks_override",
    "attention_backend",
    "tensor_parallel_size",
    "enforce_eager",
)


def positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


def share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a share of the card above 0 and at most 1, such as 0.90")
    return value


def new_parser(lab: str, doc: str | None) -> argparse.ArgumentParser:
    """A parser with the flags that each lab has."""
    made = argparse.ArgumentParser(
        lab,
        description=doc,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        conflict_handler="resolve",  # a lab may say a flag again in its own way
    )
    add = made.add_argument
    add("--model", default="Qwen/Qwen2.5-7B-Instruct-AWQ", help="name on the hub, or a folder (default: %(default)s)")
    add("--out", default=f"{lab}.result.json", help="where the result is kept and resumed from (default: %(default)s)")
    add("--quick", action="store_true", help="the shortest run that still checks the prediction")
    add("--any-version", action="store_true", help="go on with another vLLM than the one named in the header")
    add("--debug", action="store_true", help="show the whole log, and the traceback of a failure")
    return made


def add_engine_flags(made: argparse.ArgumentParser, **defaults: Any) -> None:
    """The engine's flags; a lab gives its own defaults by vLLM's names, and None leaves the choice to vLLM."""
    said = {"max_model_len": 8192, "gpu_memory_utilization": 0.90, "kv_cache_dtype": "auto"}
    said |= {"enable_prefix_caching": True, "max_num_batched_tokens": 2048, "tensor_parallel_size": 1} | defaults
    group = made.add_argument_group("engine", "as vLLM names them")
    add = group.add_argument
    shown = "default: %(default)s"
    add("--max-model-len", type=positive, help=f"tokens of the longest request ({shown})")
    add("--gpu-memory-utilization", type=share, help=f"share of the card to use ({shown})")
    add("--kv-cache-dtype", choices=["auto", *KV_DTYPE_BYTES], help=shown)
    add("--no-enable-prefix-caching", dest="enable_prefix_caching", action="store_false", help="default: caching on")
    add("--max-num-batched-tokens", type=positive, help=f"tokens in one step ({shown})")
    add("--max-num-seqs", type=positive, help="requests in one step (default: vLLM chooses)")
    add("--block-size", type=positive, help="tokens in a block (default: vLLM chooses)")
    add("--num-gpu-blocks-override", type=positive, help="blocks, whatever the memory holds (default: vLLM counts)")
    add("--attention-backend", help="for instance TRITON_ATTN (default: vLLM chooses)")
    add("--tensor-parallel-size", type=positive, help=f"cards that share the model ({shown})")
    add("--enforce-eager", action="store_true", help="no CUDA graphs: starts sooner, answers slower")
    made.set_defaults(**said)


def engine_args(args: argparse.Namespace, **changed: Any) -> dict[str, Any]:
    """What LLM(...) is given, with what a setting changes. What vLLM would choose itself is left out."""
    given = {name: getattr(args, name) for name in ENGINE_FLAGS} | changed
    silent = (("enforce_eager", False), ("tensor_parallel_size", 1))
    return {name: value for name, value in given.items() if value is not None and (name, value) not in silent}


def serve_command(model: str, given: dict[str, Any]) -> str:
    """The same settings for an OpenAI-compatible server."""
    words = ["vllm", "serve", model]
    for name, value in given.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", "0.90" if value == 0.9 else str(value)]
    return shlex.join(words)
