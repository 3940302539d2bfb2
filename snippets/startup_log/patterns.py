"""The lines, as vLLM words them: 0.26.0's from its source, older ones from published logs.

Every number has a bounded length, so that no text can make a pattern slow or a number endless.
"""

from __future__ import annotations

import re

_F = r"(-?\d{1,9}(?:\.\d{1,8})?)"
_N = r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,12})"
_GIB = rf"{_F} ?Gi?B"  # until 0.5 "GB" was printed for 2**30 bytes

# A rank's own: all of one start count. v1/worker/gpu_worker.py, gpu_model_runner.py; the last words are of V0's worker.
PER_RANK = {
    "weights_gib": (
        re.compile(rf"(?:Model loading took|Loading model weights took) {_GIB}"),
        re.compile(rf"model weights take {_GIB}"),
        re.compile(rf"Actual usage is {_F} GiB for weight"),
    ),
    "available_gib": (
        re.compile(rf"Available KV cache memory: {_GIB}"),
        re.compile(rf"the rest of the memory reserved for KV Cache is {_GIB}"),
        re.compile(rf"\bkv_cache_size={_GIB}"),
        re.compile(rf"(?:Explicitly|Auto) set \({_F}/{_F}\) GiB for KV cache"),  # v1/worker/cpu_worker.py
        re.compile(rf"larger than the available KV cache memory \({_GIB}\)"),
    ),
}
GIB_SIZES = {
    "activation_gib": (
        re.compile(rf"{_F} GiB for peak activation"),
        re.compile(rf"PyTorch activation peak memory takes {_GIB}"),
    ),
    "non_torch_gib": (
        re.compile(rf"{_F} GiB for non-torch memory"),
        re.compile(rf"non_torch_memory(?: takes |=){_GIB}"),
    ),
    "estimated_graphs_gib": (re.compile(rf"Estimated CUDA graph memory: {_GIB}"),),
    "graphs_gib": (
        re.compile(rf"Graph capturing finished in [\d.]{{1,9}} secs?, took {_GIB}"),
        re.compile(rf"{_F} GiB for CUDAGraph memory"),
    ),
    "total_gib": (
        re.compile(rf"Free memory on device(?: \S{{1,20}})? \({_F}/{_F} GiB\)"),
        re.compile(rf"total_gpu_memory ?[(=]{_GIB}"),
    ),
    "needed_gib": (re.compile(rf"\({_F} GiB KV cache is needed"),),
}
COUNTS = {
    "kv_tokens": re.compile(rf"KV cache size: {_N} tokens"),
    "gpu_blocks": re.compile(rf"(?:\b(?:GPU|cuda|CUDA) blocks: |num_gpu_blocks is: ){_N}"),
    "estimated_max_len": re.compile(rf"estimated maximum model length is {_N}"),
}
CONCURRENCY = re.compile(rf"Maximum concurrency for {_N} tokens per request: {_F}x")
TOTAL_WITH_FREE = GIB_SIZES["total_gib"][0]

VERSION = re.compile(
    r"(?:vLLM API server version|V[01] LLM engine \(v|vLLM version:?) ?v?(\d{1,3}\.\d{1,3}[\w.+-]{0,40})"
)
BACKEND = re.compile(
    r"(?:Using (?:AttentionBackendEnum\.)?|KV cache layout for )"
    r"([A-Z][A-Z0-9_]{2,40}|Flash Attention|FlashInfer|Triton) (?:attention )?backend"
)
ON_CPU = re.compile(r"\bdevice_config=cpu\b")
BEGINS = re.compile(r"vLLM API server version|Initializing a(?: V[01])? LLM engine|\bvllm serve \S")
REFUSALS = (
    re.compile(r"(?:To serve at least one request with the models?'s? )?max seq len \(\d{1,12}\), \(.{0,600}"),
    re.compile(r"The model's max seq len .{0,60}is larger than the maximum number of tokens.{0,300}"),
    re.compile(r"No available memory for the cache blocks.{0,300}"),
    re.compile(r"Free memory on device .{0,80}on startup is less than desired.{0,300}"),
    re.compile(r"User-specified max_model_len .{0,40}is greater than the derived max_model_len.{0,300}"),
    re.compile(r"CUDA out of memory\..{0,300}"),
)
# Settings where they stand alone in a line of their own.
ALONE = {
    "max_model_len": re.compile(rf"Using max model len {_N}"),
    "max_num_batched_tokens": re.compile(rf"Chunked prefill is enabled with max_num_batched_tokens={_N}"),
    "refused_len": re.compile(rf"max seq len \({_N}\)"),
    "block_size": re.compile(rf"Setting kv cache block size to {_N} for"),
    "gpu_memory_utilization": re.compile(
        rf"(?:[Dd]esired GPU memory utilization(?: is)? \(|gpu_memory_utilization(?: \(|=)){_F}"
    ),
}
COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")


def named(name: str) -> re.Pattern[str]:
    """`name=value` as in the engine's config line, `'name': value` as in the non-default arguments, `--name value`."""
    flag = name.replace("_", "-")
    start = rf"(?:(?<![\w.'-]){name}=|'{name}': |--(?:{flag}|{name})[ =])"
    return re.compile(rf"{start}(?:'([^']{{1,200}})'|\"([^\"]{{1,200}})\"|([\w./:+-]{{1,200}}))")


def negated(name: str) -> re.Pattern[str]:
    """`--no-name`, as a switch is turned off on the command line, and a bare `--name` that turns it on."""
    flag = name.replace("_", "-")
    return re.compile(rf"--(no-)?{flag}(?=\s|$)(?!\s+[Tt]rue|\s+[Ff]alse)")


MODEL = re.compile(r"(?:vllm serve |'model_tag': '|(?<![\w.'-])model='|'model': '|--model[ =]'?)([\w./:@+-]{1,200})")
DRAFTER = re.compile(r"speculative_config=(?!None)\S|'speculative_config': (?!None)\S|--speculative-config\b|--spec-")
