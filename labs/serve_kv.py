# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["vllm==0.26.0"]
# ///
"""Predict the KV cache, then measure it.

Question: How many tokens, and how many full-length requests, fit beside the weights?
Card: One RTX 4090 with 24 GB. AutoDL, which rents cards by the hour and bills in yuan (¥), lists it as RTX 4090.
Minimum memory: 7.0 GiB visible for the default model, and CUDA graphs on top, so a card sold as 10 GB; 17.0 GiB for the
    BF16 model. Computed, not tried. Compute capability 8.0 or newer.
Time: About 15 minutes the first time, most of it the download of 5.6 GB; about 3 minutes after that. An estimate.
Cost: About ¥0.5 for the first run, at ¥1.88 an hour on AutoDL (quoted from one price table; look at today's price).
Platform: Linux with an NVIDIA driver, 580 or newer: vLLM 0.26.0 asks for torch 2.11.0, which PyPI has for CUDA 13.
Without NVIDIA: Builds of vLLM for ROCm and for CPUs exist, and the arithmetic is the same. FP8 KV and memory behaviour
    vary; the CPU build sizes an FP8 cache and then cannot answer with it, so there the lab asks nothing.
Measures: GiB left for the KV cache, blocks, tokens, maximum concurrency, and the attention backend chosen.
Expect: Blocks, tokens and concurrency equal to what the formula makes of the GiB that vLLM reports. Those GiB
    themselves inside the range predicted before the start.
Why: Blocks come from a division, so they can be predicted exactly. The GiB cannot: activations and the CUDA context are
    known only once they are measured. They enter as a range estimated from start-up logs, none of this card with this
    version, so your card may lie outside. CUDA graphs come on top: vLLM captures them after the cache is allocated.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from importlib import metadata
from io import TextIOWrapper
from math import ceil
from pathlib import Path
from typing import Any

LAB, LAB_VERSION, VLLM_VERSION = "serve_kv", 2, "0.26.0"
GIB = 2**30
WEIGHT_BYTES = {"Qwen2.5-7B-Instruct-AWQ": 5_570_747_392, "Qwen2.5-7B-Instruct": 15_231_233_024}
KV_DTYPE_BYTES = {"bfloat16": 2, "float16": 2, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1}
STARTUP_LINE = re.compile(
    r"(Model loading took|Estimated CUDA graph memory|Graph capturing finished|Available KV cache memory|"
    r"GPU KV cache size|Maximum concurrency for|Free memory on device|Explicitly set|Auto set|Using max model len|"
    r"Using \S+ attention backend|Using \S+ backend|Setting kv cache block size|Chunked prefill is enabled|init engine)"
)


class Stop(Exception):
    """The lab cannot go on; the message says why and what to change."""


# Activations and CUDA context as the site estimates them for Qwen2.5-7B on one RTX 4090 in batches of ESTIMATED_TOKENS.
ESTIMATED_TOKENS = 2048
# --- generated from snippets/baseline.py by make labs-sync: do not edit ---
# computed: OTHER_LOW_BYTES, OTHER_HIGH_BYTES
OTHER_LOW_BYTES = 124_705_092
OTHER_HIGH_BYTES = 898_427_083
# --- end of snippets/baseline.py ---


# --- generated from snippets/kv_cache_size.py by make labs-sync: do not edit ---
# copied: ModelConfig, kv_bytes_per_token
@dataclass(frozen=True)
class ModelConfig:
    """The numbers that decide the size; a model's config.json has them."""

    name: str
    num_layers: int
    num_kv_heads: int  # not the query heads: those are never cached
    head_dim: int
    dtype_bytes: int = 2  # per element of the cache: 2 for BF16, 1 for FP8


def kv_bytes_per_token(cfg: ModelConfig) -> int:
    """Bytes one token holds in the cache, over all layers."""
    keys_and_values = 2
    elements = keys_and_values * cfg.num_layers * cfg.num_kv_heads * cfg.head_dim
    return elements * cfg.dtype_bytes


# --- end of snippets/kv_cache_size.py ---


# --- generated from snippets/planner/budget.py by make labs-sync: do not edit ---
# copied: BudgetError, GPU_MEMORY_UTILIZATION, requested_bytes, available_kv_bytes
GPU_MEMORY_UTILIZATION = 0.92  # config/cache.py:68


class BudgetError(ValueError):
    """A budget vLLM would refuse; `field` names the field at fault."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def requested_bytes(total_bytes: int, gpu_memory_utilization: float = GPU_MEMORY_UTILIZATION) -> int:
    """Bytes vLLM claims of the memory it sees. Other programs on the card must fit into the rest."""
    if not 0 < gpu_memory_utilization <= 1:
        raise BudgetError(
            "gpu_memory_utilization",
            f"gpu_memory_utilization is {gpu_memory_utilization!r}; it must be above 0 and at most 1",
        )
    return ceil(total_bytes * gpu_memory_utilization)


def available_kv_bytes(requested: int, weights: int, other: int) -> int:
    """Bytes left for the KV cache; zero or less means that vLLM does not start."""
    for field, value in (("weights", weights), ("other", other)):
        if value < 0:
            raise BudgetError(field, f"{field} is {value} bytes; memory in use cannot be negative")
    return requested - weights - other


# --- end of snippets/planner/budget.py ---


# --- generated from snippets/planner/blocks.py by make labs-sync: do not edit ---
# copied: NotPlannedError, _positive, num_gpu_blocks, blocks_per_request, max_concurrency, kv_cache_size_tokens
class NotPlannedError(ValueError):
    """A model or setting outside the uniform full-attention case; `field` names the field at fault."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def _positive(field: str, value: int) -> int:
    if value < 1:
        raise NotPlannedError(field, f"{field} is {value}; it must be 1 or more")
    return value


def num_gpu_blocks(available_bytes: int, page_size: int, num_layers: int) -> int:
    """Whole blocks that fit; each takes one page in every layer (kv_cache_utils.py:1005)."""
    return max(available_bytes // _positive("page_size", page_size) // _positive("num_layers", num_layers), 0)


def blocks_per_request(max_model_len: int, block_size: int) -> int:
    """Blocks that the longest request allowed needs (kv_cache_utils.py:945)."""
    return -(-_positive("max_model_len", max_model_len) // _positive("block_size", block_size))


def max_concurrency(num_blocks: int, block_size: int, max_model_len: int) -> float:
    """Requests of full length that fit at once (kv_cache_utils.py:937). `max_num_seqs` is a second ceiling."""
    return num_blocks / blocks_per_request(max_model_len, block_size)


def kv_cache_size_tokens(num_blocks: int, block_size: int, max_model_len: int) -> int:
    """The tokens vLLM prints, derived from the concurrency (kv_cache_utils.py:1829)."""
    return int(max_concurrency(num_blocks, block_size, max_model_len) * max_model_len)


# --- end of snippets/planner/blocks.py ---


# --- what is asked for ---
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


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(LAB, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = made.add_argument
    add("--model", default="Qwen/Qwen2.5-7B-Instruct-AWQ", help="name on the hub, or a folder (default: %(default)s)")
    add("--max-model-len", type=positive, default=8192, help="tokens of the longest request (default: %(default)s)")
    add("--gpu-memory-utilization", type=share, default=0.90, help="share of the card to use (default: 0.90)")
    add("--kv-cache-dtype", choices=["auto", *KV_DTYPE_BYTES], default="fp8", help="default: %(default)s")
    add("--no-enable-prefix-caching", dest="enable_prefix_caching", action="store_false", help="default: caching on")
    add("--max-num-batched-tokens", type=positive, default=2048, help="default: %(default)s, the server's own")
    add("--block-size", type=positive, help="tokens in a block (default: vLLM chooses)")
    add("--attention-backend", help="for instance TRITON_ATTN (default: vLLM chooses)")
    add("--enforce-eager", action="store_true", help="no CUDA graphs: starts sooner, answers slower")
    add("--question", default="Why does an LLM server keep a KV cache? Answer in two sentences.")
    add("--max-tokens", type=positive, default=64, help="tokens of the answer (default: %(default)s)")
    add("--out", default=f"{LAB}.result.json", help="where the result is written (default: %(default)s)")
    add("--show-command", action="store_true", help="print the equivalent `vllm serve` command and stop")
    add("--any-version", action="store_true", help=f"go on with a vLLM other than {VLLM_VERSION}")
    add("--debug", action="store_true", help="show the traceback of a failure")
    return made


def engine_args(args: argparse.Namespace) -> dict[str, Any]:
    """What LLM(...) is given. The batch is set because LLM() would profile 8,192 tokens and a server 2,048."""
    names = ["max_model_len", "gpu_memory_utilization", "kv_cache_dtype", "enable_prefix_caching"]
    names += ["max_num_batched_tokens", "block_size", "attention_backend", "enforce_eager"]
    given = {name: getattr(args, name) for name in names}
    return {name: value for name, value in given.items() if value is not None and (name, value) != (names[-1], False)}


def serve_command(args: argparse.Namespace) -> str:
    """The same settings for an OpenAI-compatible server."""
    words = ["vllm", "serve", args.model]
    for name, value in engine_args(args).items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            words += [f"--{flag}", "0.90" if value == 0.9 else str(value)]
    return shlex.join(words)


# --- prediction ---
def shape_of(name: str, config: Any, dtype_bytes: int) -> ModelConfig:
    """The five numbers of a model's config.json; a model whose cache has another form is refused with the reason."""

    def get(key: str) -> Any:
        return getattr(config, key, None)

    if get("kv_lora_rank"):
        raise Stop("its cache holds the latent of MLA, not keys and values")
    kinds = set(get("layer_types") or ())
    windowed = get("sliding_window") and get("use_sliding_window") is not False and not kinds
    hybrid = any(get(key) for key in ("layers_block_type", "hybrid_override_pattern", "attn_layer_period"))
    if windowed or hybrid or kinds - {"full_attention"}:
        raise Stop("not all of its layers have full attention")
    layers, heads = get("num_hidden_layers"), get("num_attention_heads")
    kv_heads = get("num_key_value_heads") or heads
    head_dim = get("head_dim") or (get("hidden_size") // heads if heads and get("hidden_size") else None)
    if not (layers and kv_heads and head_dim):
        raise Stop("its config.json does not name layers, KV heads and head size in the usual way")
    return ModelConfig(name, layers, kv_heads, head_dim, dtype_bytes)


def predict(cfg: ModelConfig, available_bytes: int, block_size: int, max_model_len: int) -> dict[str, float]:
    """What vLLM makes of so many bytes."""
    page_size = kv_bytes_per_token(cfg) * block_size // cfg.num_layers
    blocks = num_gpu_blocks(available_bytes, page_size, cfg.num_layers)
    return {
        "available_bytes": available_bytes,
        "num_gpu_blocks": blocks,
        "kv_cache_size_tokens": kv_cache_size_tokens(blocks, block_size, max_model_len),
        "max_concurrency": max_concurrency(blocks, block_size, max_model_len),
    }


def weight_bytes(model: str) -> int | None:
    """Bytes of the checkpoint, where they are known before it is loaded."""
    files = sum(file.stat().st_size for file in Path(model).glob("*.safetensors"))
    return files or WEIGHT_BYTES.get(model.rpartition("/")[2])


def available_before(card: dict[str, Any], args: argparse.Namespace) -> tuple[int, int] | None:
    """Lowest and highest bytes for the KV cache, before anything is loaded; None where nothing can be said."""
    if card["device"] == "cpu":
        space = os.environ.get("VLLM_CPU_KVCACHE_SPACE", "")
        return (int(space) * GIB,) * 2 if space.isdigit() else None
    weights = weight_bytes(args.model)
    if weights is None or args.max_num_batched_tokens != ESTIMATED_TOKENS:
        return None
    requested = requested_bytes(card["total_bytes"], args.gpu_memory_utilization)
    low, high = (max(available_kv_bytes(requested, weights, b), 0) for b in (OTHER_HIGH_BYTES, OTHER_LOW_BYTES))
    return low, high


def caution(card: dict[str, Any], args: argparse.Namespace) -> str | None:
    """Why the estimate of other memory does not hold for what was asked, if so."""
    if card["device"] == "cpu":
        return None
    if args.max_num_batched_tokens != ESTIMATED_TOKENS:
        return f"no prediction: other memory is estimated for batches of {ESTIMATED_TOKENS:,} tokens"
    if Path(args.model).name not in WEIGHT_BYTES:
        return "other memory is estimated for Qwen2.5-7B; another model may take more or less"
    return None


# --- before the engine ---
def installed_vllm(args: argparse.Namespace) -> str:
    for package in ("vllm", "vllm-cpu"):
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
        if version.partition("+")[0] == VLLM_VERSION or args.any_version:
            return version
        raise Stop(
            f"vLLM {version} is installed and this lab was checked against {VLLM_VERSION}: "
            f"pip install vllm=={VLLM_VERSION}, or go on with --any-version"
        )
    raise Stop(f"vLLM is not installed here: pip install vllm=={VLLM_VERSION}, or start this file with `uv run`")


def driver_version() -> str | None:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip().partition("\n")[0] or None


def read_card(args: argparse.Namespace) -> dict[str, Any]:
    """The device, its memory and driver. Without a device, or without enough free memory, the lab stops here."""
    import torch
    from vllm.platforms import current_platform as device

    driver, kind = driver_version(), device.device_type
    if kind not in ("cuda", "cpu"):
        if driver:
            raise Stop(f"torch {torch.__version__} cannot use the card with driver {driver}: update it to 580 or newer")
        raise Stop(
            "no GPU found, and nvidia-smi finds none: rent a card, or install a CPU build of vLLM to try the lab"
        )
    capability = device.get_device_capability()
    card: dict[str, Any] = {
        "device": kind,
        "name": device.get_device_name(),
        "driver": driver,
        "compute_capability": f"{capability.major}.{capability.minor}" if capability else None,
    }
    if kind == "cuda":
        free, total = torch.cuda.mem_get_info()
        card |= {"free_bytes": free, "total_bytes": total}
        wanted = requested_bytes(total, args.gpu_memory_utilization)
        if free < wanted:
            fits = int(98 * free / total) / 100
            raise Stop(
                f"{free / GIB:.2f} of {total / GIB:.2f} GiB are free and {wanted / GIB:.2f} are asked for: end the "
                f"other program (nvidia-smi lists it), or pass --gpu-memory-utilization {fits:.2f}"
            )
    return card


# --- the engine ---
class StartupLines(logging.Handler):
    """Keeps the lines of vLLM's log that say where the memory went."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if STARTUP_LINE.match(record.getMessage()):
            self.lines.append(record.getMessage())

    def gib(self, words: str) -> float | None:
        """The GiB printed after these words, when they were printed."""
        found = re.search(words + r" ([\d.]+)", "\n".join(self.lines))
        return float(found[1]) if found else None


def measure(llm: Any, log: StartupLines) -> dict[str, Any]:
    """What the engine decided. It runs in this process, so exact bytes can be read beside the log's rounded GiB."""
    config = llm.llm_engine.vllm_config
    cache, layers = config.cache_config, config.compilation_config.static_forward_context.values()
    backends = {layer.attn_backend.get_name() for layer in layers if hasattr(layer, "attn_backend")}  # not of experts
    return {
        "available_bytes": llm.llm_engine.engine_core.engine_core.available_gpu_memory_for_kv_cache,
        "num_gpu_blocks": cache.num_gpu_blocks,
        "block_size": cache.block_size,
        "kv_cache_size_tokens": cache.kv_cache_size_tokens,
        "max_concurrency": cache.kv_cache_max_concurrency,
        "prefix_caching": bool(cache.enable_prefix_caching),
        "attention_backend": ", ".join(sorted(backends)),
        "weights_gib": log.gib("Model loading took"),
    }


def ask(llm: Any, card: dict[str, Any], args: argparse.Namespace) -> dict[str, Any]:
    """The answer, or the sentence that says why there is none: the sizes stand either way."""
    try:
        if card["device"] == "cpu" and args.kv_cache_dtype.startswith("fp8"):
            raise Stop(
                "the CPU build sizes an FP8 KV cache but crashes when it writes to it: use --kv-cache-dtype auto"
            )
        reply = answer(llm, args)
        print(f"\nanswer, {reply['output_tokens']} tokens in {reply['seconds']} s:\n{reply['text']}")
        return {"answer": reply, "no_answer": None}
    except Exception as error:
        if args.debug:
            raise
        failure = str(error) if isinstance(error, Stop) else explain(error, args)
        print(f"\nno answer: {failure}")
        return {"answer": None, "no_answer": failure}


def answer(llm: Any, args: argparse.Namespace) -> dict[str, Any]:
    """One question through the model's chat template, which llm.generate() would leave out."""
    from vllm import SamplingParams

    start = time.perf_counter()
    params = SamplingParams(max_tokens=args.max_tokens, temperature=0)
    output = llm.chat([{"role": "user", "content": args.question}], params, use_tqdm=False)[0]
    return {
        "question": args.question,
        "text": output.outputs[0].text.strip(),
        "prompt_tokens": len(output.prompt_token_ids),
        "output_tokens": len(output.outputs[0].token_ids),
        "seconds": round(time.perf_counter() - start, 3),
    }


# --- what is shown ---
ROWS = (
    ("available GiB", "available_bytes", lambda n: f"{n / GIB:.2f}"),
    ("blocks", "num_gpu_blocks", lambda n: f"{n:,}"),
    ("tokens", "kv_cache_size_tokens", lambda n: f"{n:,}"),
    ("maximum concurrency", "max_concurrency", lambda n: f"{n:.2f}x"),
)


def table(found: Any, formula: Any, before: Any) -> str:
    """Measured beside predicted: from the reported bytes (with the residual), and from the card alone."""
    lines = [("", "before the start", "vLLM", "formula", "residual")]
    for label, key, show in ROWS:
        span = " to ".join(dict.fromkeys(show(end[key]) for end in before or ()))
        cells = [label, span or "-", show(found[key]) if found else "", "-", "-"]
        if found and formula and key != "available_bytes":  # the formula starts from these bytes
            off = found[key] - formula[key]
            cells[3:] = show(formula[key]), f"{off:+.2f}" if isinstance(off, float) else f"{off:+,}"
        lines.append(tuple(cells))
    lines = lines if found else [line[:2] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines
    )


def notes(found: dict[str, Any], card: dict[str, Any], args: argparse.Namespace) -> str:
    """What the table does not say: the memory that only a start can measure, and the attention backend."""
    text = f"attention backend: {found['attention_backend']}"
    capability = card["compute_capability"]
    nvidia = card["driver"] is not None
    if args.kv_cache_dtype.startswith("fp8") and nvidia and capability and not capability.startswith("9."):
        text += (
            f"\n  vLLM {VLLM_VERSION} gives FP8 KV to FlashAttention on compute capability 9.x only; this card has "
            f"{capability}, where FlashInfer is next in line, then Triton"
        )
    if found["weights_gib"] is not None and "total_bytes" in card:
        asked = requested_bytes(card["total_bytes"], args.gpu_memory_utilization) / GIB
        kv = found["available_bytes"] / GIB
        text += (
            f"\nother memory: {asked - found['weights_gib'] - kv:.2f} GiB = {asked:.2f} asked for - "
            f"{found['weights_gib']:.2f} weights - {kv:.2f} KV cache (estimated for Qwen2.5-7B in "
            f"batches of {ESTIMATED_TOKENS:,} tokens: {OTHER_LOW_BYTES / GIB:.2f} to {OTHER_HIGH_BYTES / GIB:.2f})"
        )
    return text


# --- failures: what vLLM and the libraries below it say, and what the reader can do ---
FAILURES = {
    r"max seq len \((\d+)\), \(([\d.]+) GiB KV cache is needed.*?memory \(([\d.]+) GiB\).*?model length is (\d+)": (
        r"one request of \1 tokens needs \2 GiB of KV cache and \3 GiB is there: lower --max-model-len to at most \4, "
        "raise --gpu-memory-utilization, or use --kv-cache-dtype fp8"
    ),
    r"No available memory for the cache blocks|max seq len \(\d+\), \(": (
        "weights and working memory leave too little for the KV cache: raise --gpu-memory-utilization, lower "
        "--max-num-batched-tokens, or choose a smaller --model"
    ),
    r"Free memory on device \S+ \(([\d.]+)/([\d.]+) GiB\)": (
        r"\1 of \2 GiB are free, less than asked for: end the other program, or lower --gpu-memory-utilization"
    ),
    r"max_model_len \((\d+)\) is greater than the derived max_model_len \(\w+=(\d+)": (
        r"--max-model-len \1 is more than the model was made for: \2 tokens at most"
    ),
    r"maximum context length|longer than the maximum model length": (
        "the question does not fit: raise --max-model-len, or shorten --question"
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
    r"(?i)connect|max retries|time[d ]*out|offline|entry ?not ?found|repo id|repository|not a local folder": (
        "{model} could not be fetched: check the name given to --model; where the hub cannot be reached, export "
        "HF_ENDPOINT=https://hf-mirror.com, or pip install modelscope and export VLLM_USE_MODELSCOPE=True, or give "
        "--model a folder"
    ),
}


def explain(error: BaseException, args: argparse.Namespace) -> str:
    """One sentence for an error, and the flag to change."""
    causes: list[str] = []
    link: BaseException | None = error
    while link is not None and len(causes) < 10:
        causes.append(f"{type(link).__name__}: {link}")
        link = link.__cause__ or link.__context__
    for pattern, sentence in FAILURES.items():
        if found := re.search(pattern, "\n".join(causes), re.DOTALL):
            return found.expand(sentence).replace("{model}", args.model)
    return f"vLLM stopped with {causes[0].splitlines()[0]} (--debug shows the traceback)"


# --- the run ---
def run(args: argparse.Namespace) -> None:
    version = installed_vllm(args)
    check_out(args)
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # the engine in this process: exact bytes, nothing left behind
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    import torch
    from vllm import LLM
    from vllm.transformers_utils.config import get_config

    log = StartupLines()
    logging.getLogger("vllm").addHandler(log)
    card = read_card(args)
    config = get_config(args.model, trust_remote_code=False).get_text_config()
    shape, refused = None, None
    try:
        shape = shape_of(Path(args.model).name, config, KV_DTYPE_BYTES.get(args.kv_cache_dtype, 2))
    except Stop as why:
        refused = f"no prediction for this model: {why}"
    span = available_before(card, args)
    block_size = args.block_size or (128 if card["device"] == "cpu" else 16)
    before = [predict(shape, end, block_size, args.max_model_len) for end in span] if shape and span else None
    print(f"\npredicted before the start on {card['name']}, {args.max_model_len:,} tokens a request")
    print(f"{table(None, None, before)}\n{refused or caution(card, args) or ''}", flush=True)

    start = time.perf_counter()
    llm = LLM(model=args.model, **engine_args(args))
    seconds = round(time.perf_counter() - start, 1)
    found = measure(llm, log)
    formula = predict(shape, found["available_bytes"], found["block_size"], args.max_model_len) if shape else None
    print(f"\n{shape.name}: {kv_bytes_per_token(shape):,} bytes a token, " if shape else f"\n{refused}\n", end="")
    print(
        f"blocks of {found['block_size']} tokens, {args.max_model_len:,} tokens a request, started in {seconds:.0f} s"
    )
    print(f"{table(found, formula, before)}\n{notes(found, card, args)}", flush=True)

    result = {
        "schema": 1,
        "lab": LAB,
        "lab_version": LAB_VERSION,
        "date": time.strftime("%Y-%m-%d"),
        "versions": {"vllm": version, "torch": torch.__version__, "python": platform.python_version()},
        "card": card,
        "model": Path(args.model).name if Path(args.model).is_dir() else args.model,
        "engine_args": engine_args(args),
        "shape": asdict(shape) if shape else None,
        "start_seconds": seconds,
        "predicted_before_start": before,
        "predicted_from_available": formula,
        "measured": found,
        "startup_lines": log.lines,
        "answer": None,
        "no_answer": "not asked yet",
    }
    save(result, args)  # before the question, so that a crash in a kernel leaves the sizes
    result |= ask(llm, card, args)
    save(result, args)
    print(f"\nresult: {args.out}\nthe same as a server: {serve_command(args)}")


def check_out(args: argparse.Namespace) -> None:
    """Find out before the paid start whether the result can be written."""
    try:
        with Path(args.out).open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise Stop(f"the result could not be written to {args.out} ({error.strerror}): choose another --out") from error


def save(result: dict[str, Any], args: argparse.Namespace) -> None:
    try:
        Path(args.out).write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise Stop(f"the result could not be written to {args.out} ({error.strerror}): choose another --out") from error


def main(argv: list[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without "¥" must not stop the lab
    args = parser().parse_args(argv)
    if args.show_command:
        print(serve_command(args))
        return 0
    try:
        run(args)
        return 0
    except KeyboardInterrupt:
        print(f"\n{LAB}: stopped; the engine ran in this process, so its memory is free again", file=sys.stderr)
        return 130
    except Exception as error:
        if args.debug:
            raise
        print(f"\n{LAB}: {error if isinstance(error, Stop) else explain(error, args)}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
