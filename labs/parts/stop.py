"""Failures as one sentence: what vLLM and the libraries below it say, and what the reader can do."""

from __future__ import annotations

import re


class Stop(Exception):
    """The lab cannot go on; the message says why and what to change. `lines` is what the engine had printed by then."""

    def __init__(self, message: str, lines: list[str] | None = None) -> None:
        super().__init__(message)
        self.lines = lines or []


FAILURES = {
    r"max seq len \((\d+)\), \(([\d.]+) GiB KV cache is needed.*?memory \(([\d.]+) GiB\).*?model length is (\d+)": (
        r"one request of \1 tokens needs \2 GiB of KV cache and \3 GiB is there: lower --max-model-len to at most \4, "
        "raise --gpu-memory-utilization, or use --kv-cache-dtype fp8"
    ),
    r"No available memory for the cache blocks|max seq len \(\d+\), \(": (
        "weights and working memory leave too little for the KV cache: raise --gpu-memory-utilization, lower "
        "--max-num-batched-tokens, or choose a smaller --model"
    ),
    r"Free memory on device \S+ \(([\d.]+)/([\d.]+) GiB\) on startup is less": (
        r"\1 of \2 GiB are free, less than asked for: end the other program, or lower --gpu-memory-utilization"
    ),
    r"Available memory on node .*? is less than": (
        "main memory is too small for the share asked for: export VLLM_CPU_KVCACHE_SPACE=1 (GiB for the cache), or "
        "lower --gpu-memory-utilization"
    ),
    r"max_model_len \((\d+)\) is greater than the derived max_model_len \(\w+=(\d+)": (
        r"--max-model-len \1 is more than the model was made for: \2 tokens at most"
    ),
    r"maximum context length|longer than the maximum model length": (
        "the prompt does not fit: raise --max-model-len, or shorten the prompt"
    ),
    r"out of memory|OutOfMemoryError": (
        "the card ran out of memory: lower --gpu-memory-utilization or --max-num-batched-tokens, add --enforce-eager, "
        "or choose a smaller --model"
    ),
    r"No space left on device": (
        "the disk is full: name a folder on a larger one with HF_HOME (on AutoDL: export HF_HOME=~/autodl-tmp/hf)"
    ),
    r"chat template": "this model has no chat template: choose an Instruct model with --model",
    r"nvcc|CUDA_HOME|ninja": (
        "kernels are compiled at the first start and the CUDA compiler is missing: use --attention-backend "
        "TRITON_ATTN, or --kv-cache-dtype auto"
    ),
    r"[Nn]o valid attention backend|Unknown attention backend|is not valid for this configuration": (
        "no such attention backend takes these settings on this card: leave --attention-backend and --block-size out, "
        "or use --kv-cache-dtype auto"
    ),
    r"[Aa]ddress already in use": "the port is taken: end the program that holds it, or pass another --port",
    r"(?i)connect|max retries|time[d ]*out|offline|entry ?not ?found|repo id|repository|not a local folder": (
        "{model} could not be fetched: check the name given to --model; where the hub cannot be reached, export "
        "HF_ENDPOINT=https://hf-mirror.com, or pip install modelscope and export VLLM_USE_MODELSCOPE=True, or give "
        "--model a folder"
    ),
}


def known_failure(text: str, model: str) -> str | None:
    """The sentence for what was printed or raised, where the cause is known."""
    for pattern, sentence in FAILURES.items():
        if found := re.search(pattern, text, re.DOTALL):
            return found.expand(sentence).replace("{model}", model)
    return None


def explain(error: BaseException, model: str) -> str:
    """One sentence for an error, and the flag to change."""
    if isinstance(error, Stop):
        return str(error)
    causes: list[str] = []
    link: BaseException | None = error
    while link is not None and len(causes) < 10:
        causes.append(f"{type(link).__name__}: {link}")
        link = link.__cause__ or link.__context__
    known = known_failure("\n".join(causes), model)
    return known or f"vLLM stopped with {causes[0].splitlines()[0]} (--debug shows the traceback)"
