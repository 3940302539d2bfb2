# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["vllm==0.26.0"]
# ///
"""Predict the KV cache, then measure it.

Question: How many tokens, and how many full-length requests, fit beside the weights, in BF16 and in 4 bits, with a
    BF16 and with an FP8 KV cache?
Card: One RTX 4090 with 24 GB. AutoDL, which rents cards by the hour and bills in yuan (¥), lists it as RTX 4090.
    Several cards with --tensor-parallel-size.
Minimum memory: 17.2 GiB visible for all four settings, and CUDA graphs on top, so a card sold as 20 GB; 7.0 GiB for
    --model Qwen/Qwen2.5-7B-Instruct-AWQ --kv-cache-dtype fp8. Computed, not tried. Compute capability 8.0 or newer.
Time: About 40 minutes the first time, most of it the download of 20.8 GB; about 10 minutes after that. An estimate.
Cost: About ¥1.3 for the first run, at ¥1.88 an hour on AutoDL (quoted from one price table; look at today's price).
Platform: Linux with an NVIDIA driver, 580 or newer: vLLM 0.26.0 asks for torch 2.11.0, which PyPI has for CUDA 13.
Without NVIDIA: Builds of vLLM for ROCm and for CPUs exist, and the arithmetic is the same. FP8 KV and memory behaviour
    vary; the CPU build sizes an FP8 cache and then cannot answer with it, so there the lab asks nothing.
Measures: GiB left for the KV cache, blocks, tokens, maximum concurrency, weights, CUDA graphs, and the attention
    backend chosen, for each setting with an engine of its own.
Expect: Blocks, tokens and concurrency equal to what the formula makes of the GiB that vLLM reports. Those GiB
    themselves inside the range predicted before the start.
Why: Blocks come from a division, so they can be predicted exactly. The GiB cannot: activations and the CUDA context are
    known only once they are measured. They enter as a range estimated from start-up logs, none of this card with this
    version, so your card may lie outside. CUDA graphs come on top: vLLM captures them after the cache is allocated.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from io import TextIOWrapper
from math import ceil
from pathlib import Path
from typing import Any

LAB, LAB_VERSION = "serve_kv", 3
MODELS = ["Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct-AWQ"]
KV_DTYPES = ["auto", "fp8"]


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


# --- generated from labs/parts/stop.py by make labs-sync: do not edit ---
# copied: all
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


# --- end of labs/parts/stop.py ---


# --- generated from labs/parts/flags.py by make labs-sync: do not edit ---
# copied: all
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


# --- end of labs/parts/flags.py ---


# --- generated from labs/parts/startup.py by make labs-sync: do not edit ---
# copied: all
LOG_PREFIX = re.compile(r"^(?:\([^)]*\) )*(?:DEBUG|INFO|WARNING|ERROR) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]*\] ")
STARTUP_LINE = re.compile(
    r"(Model loading took|Estimated CUDA graph memory|Graph capturing finished|Available KV cache memory|"
    r"GPU KV cache size|Maximum concurrency for|Free memory on device|Explicitly set|Auto set|Using max model len|"
    r"Using \S+ attention backend|Using \S+ backend|Setting kv cache block size|Chunked prefill is enabled|"
    r"Overriding num_gpu_blocks|init engine)"
)


def startup_message(line: str) -> str | None:
    """The message of a line worth keeping, without time, file and process; None for any other line."""
    message = LOG_PREFIX.sub("", line.strip())
    return message if STARTUP_LINE.match(message) else None


def logged_number(lines: list[str], words: str) -> float | None:
    """The number printed after these words (a regular expression), when they were printed."""
    found = re.search(words + r"\s*([\d,]+(?:\.\d+)?)", "\n".join(lines))
    return float(found[1].replace(",", "")) if found else None


def logged_backend(lines: list[str]) -> str | None:
    """The attention backend as the log names it."""
    found = re.search(r"Using (?:AttentionBackendEnum\.)?(\S+?) (?:attention )?backend", "\n".join(lines))
    return found[1] if found else None


# --- end of labs/parts/startup.py ---


# --- generated from labs/parts/cards.py by make labs-sync: do not edit ---
# copied: all
def nvidia_smi(field: str) -> list[str]:
    """One field of every card; empty without nvidia-smi."""
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def used_mib() -> list[int]:
    """MiB in use on every card, asked without touching the cards; empty where there are none."""
    return [int(text) for text in nvidia_smi("memory.used") if text.isdigit()]


def wait_until_free(before: list[int], patience: float = 60, slack_mib: int = 64) -> None:
    """Wait until the cards hold no more than they did before the engine; Stop when they keep holding it."""
    until = time.monotonic() + patience
    while True:
        left = max((now - then for then, now in zip(before, used_mib(), strict=False)), default=0)
        if left <= slack_mib:
            return
        if time.monotonic() > until:
            raise Stop(
                f"{left:,} MiB of the card are still in use after the engine ended: nvidia-smi lists by which program; "
                "end it and run the lab again, it goes on where it stopped"
            )
        time.sleep(1)


# --- end of labs/parts/cards.py ---


# --- generated from labs/parts/child.py by make labs-sync: do not edit ---
# copied: all
LIBC = ctypes.CDLL(None)
Tell = Callable[[str, Any], None]
Task = Callable[[dict[str, Any], Tell], dict[str, Any]]


def end_with_the_lab() -> None:
    """In a new process, before its command: when the lab is killed, so is this one."""
    LIBC.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Group:
    """A command and every process it starts. Leaving the `with` block ends them all, whatever happened."""

    def __init__(self, command: Sequence[str], log: Path, debug: bool = False, pass_fds: Sequence[int] = ()) -> None:
        self.lines: list[str] = []  # start-up messages
        self.tail: list[str] = []  # the last lines of any kind, for a failure that nobody foresaw
        self.log, self.debug = log, debug
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            pass_fds=pass_fds,
            start_new_session=True,  # Ctrl-C reaches the lab alone, which then ends the whole group
            preexec_fn=end_with_the_lab,
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        quiet_until = 0.0
        with self.log.open("a", encoding="utf-8") as kept:
            for line in self.process.stdout:
                kept.write(line)
                kept.flush()
                self.tail = [*self.tail[-199:], line]
                message = startup_message(line)
                if message:
                    self.lines.append(message)
                if message or self.debug:
                    print(f"  {line.rstrip() if self.debug else message}", flush=True)
                elif "%|" in line and time.monotonic() > quiet_until:  # the bar of a download, now and then
                    quiet_until = time.monotonic() + 15
                    print(f"  {line.strip()[:100]}", flush=True)

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not leave half of them running
        try:
            self.end()
        finally:
            signal.signal(signal.SIGINT, handler)

    def end(self, patience: float = 15) -> None:
        """Ask the group to end, wait, then force it. Nothing of it is left afterwards."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, sign)
            until = time.monotonic() + patience
            while self._alive() and time.monotonic() < until:
                time.sleep(0.05)
        self.reader.join(5)

    def _alive(self) -> bool:
        self.process.poll()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                state, _, group = stat.read_text().rpartition(")")[2].split()[:3]
                if group == str(self.process.pid) and state not in "ZX":  # the dead may wait long to be collected
                    return True
        return False

    def why_it_ended(self, model: str) -> str:
        """One sentence for a process that ended without a word."""
        self.reader.join(5)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        status = self.process.returncode
        if status == -signal.SIGKILL:
            return f"the engine's process was killed, as Linux does when main memory runs out (log: {self.log})"
        raised = "".join(line for line in self.tail if re.search(r"Error\b|Exception\b|error:", line))
        if known := known_failure(raised, model):
            return known
        how = f"signal {-status} ({signal.Signals(-status).name})" if status and status < 0 else f"status {status}"
        return f"the engine's process ended with {how} (log: {self.log})"


def ask_child(task: str, given: dict[str, Any], log: Path, heard: Tell) -> tuple[dict[str, Any], list[str]]:
    """Run one of the lab's tasks in a process of its own; returns what it returned, and the start-up lines.

    What the task tells on the way goes to `heard(kind, data)`; ("say", text) is printed. Its failure is raised as Stop.
    """
    read, write = os.pipe()
    told: queue.Queue[tuple[str, Any] | None] = queue.Queue()

    def listen() -> None:
        with os.fdopen(read, encoding="utf-8") as lines:
            for line in lines:
                told.put(tuple(json.loads(line)))
        told.put(None)

    command = [sys.executable, str(Path(__file__).resolve()), "--child", task, str(write)]
    used = used_mib()
    with Group(command, log, bool(given.get("debug")), [write]) as group:
        os.close(write)
        threading.Thread(target=listen, daemon=True).start()
        assert group.process.stdin
        with contextlib.suppress(BrokenPipeError), group.process.stdin as pipe:
            pipe.write(json.dumps(given))
        while True:
            try:
                message = told.get(timeout=0.5)
            except queue.Empty:
                if group.process.poll() is None or not told.empty():
                    continue
                message = None
            if message is None:
                raise Stop(group.why_it_ended(given.get("model", "the model")), group.lines)
            kind, data = message
            if kind == "done":
                break
            if kind == "stop":
                raise Stop(data, group.lines)
            if kind == "say":
                print(data, flush=True)
            else:
                heard(kind, data)
        with contextlib.suppress(subprocess.TimeoutExpired):
            group.process.wait(20)  # an engine that ends by itself leaves the card tidier than one that is ended
    wait_until_free(used)
    return data, group.lines


def be_child(tasks: dict[str, Task], task: str, write: str) -> int:
    """The other end of `ask_child`, in the new process."""
    os.set_inheritable(int(write), False)
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # the engine in this process: exact bytes can be read from it
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    given = json.load(sys.stdin)
    with os.fdopen(int(write), "w", encoding="utf-8") as pipe:

        def tell(kind: str, data: Any) -> None:
            print(json.dumps([kind, data]), file=pipe, flush=True)

        try:
            tell("done", tasks[task](given, tell))
            return 0
        except Exception as error:
            if not isinstance(error, Stop):
                traceback.print_exc()  # into the log
            tell("stop", explain(error, given.get("model", "the model")))
            return 1


# --- end of labs/parts/child.py ---


# --- generated from labs/parts/shape.py by make labs-sync: do not edit ---
# copied: all
CONFIG_KEYS = (
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "hidden_size",
    "kv_lora_rank",
    "layer_types",
    "sliding_window",
    "use_sliding_window",
    "layers_block_type",
    "hybrid_override_pattern",
    "attn_layer_period",
)


def shape_of(name: str, config: dict[str, Any], dtype_bytes: int, cards: int = 1) -> ModelConfig:
    """The five numbers, on each of the cards that share the model; another form of cache is refused with the reason."""
    get = config.get
    if get("kv_lora_rank"):
        raise Stop("its cache holds the latent of MLA, not keys and values")
    kinds = set(get("layer_types") or ())
    windowed = get("sliding_window") and get("use_sliding_window") is not False and not kinds
    hybrid = any(get(key) for key in ("layers_block_type", "hybrid_override_pattern", "attn_layer_period"))
    if windowed or hybrid or kinds - {"full_attention"}:
        raise Stop("not all of its layers have full attention")
    layers, heads = get("num_hidden_layers"), get("num_attention_heads")
    kv_heads = get("num_key_value_heads") or heads
    head_dim = get("head_dim") or ((get("hidden_size") or 0) // heads if heads else None)
    if not (layers and kv_heads and head_dim):
        raise Stop("its config.json does not name layers, KV heads and head size in the usual way")
    return ModelConfig(
        Path(name).name, layers, max(1, kv_heads // cards), head_dim, dtype_bytes
    )  # config/model.py:1339


# --- end of labs/parts/shape.py ---


# --- generated from labs/parts/box.py by make labs-sync: do not edit ---
# copied: all
GIB = 2**30
VLLM_VERSION = "0.26.0"
WEIGHT_BYTES = {"Qwen2.5-7B-Instruct-AWQ": 5_570_747_392, "Qwen2.5-7B-Instruct": 15_231_233_024}


def installed_vllm(any_version: bool) -> str:
    """The version of vLLM here; another than the lab's is refused unless wanted."""
    for package in ("vllm", "vllm-cpu"):
        try:
            version = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
        if version.partition("+")[0] == VLLM_VERSION or any_version:
            return version
        raise Stop(
            f"vLLM {version} is installed and this lab was checked against {VLLM_VERSION}: "
            f"pip install vllm=={VLLM_VERSION}, or go on with --any-version"
        )
    raise Stop(f"vLLM is not installed here: pip install vllm=={VLLM_VERSION}, or start this file with `uv run`")


def check_out(out: str) -> None:
    """Find out before the paid start whether the result can be written."""
    try:
        with Path(out).open("a", encoding="utf-8"):
            pass
        if not Path(out).stat().st_size:
            Path(out).unlink()
    except OSError as error:
        raise Stop(f"the result could not be written to {out} ({error.strerror}): choose another --out") from error


def hub_folder() -> Path:
    """Where models are kept, as huggingface_hub decides, or ModelScope where vLLM is told to use it."""
    if os.environ.get("VLLM_USE_MODELSCOPE", "").lower() in ("1", "true"):
        return Path(os.environ.get("MODELSCOPE_CACHE", "~/.cache/modelscope")).expanduser()
    home = os.environ.get("HF_HOME", "~/.cache/huggingface")
    return Path(os.environ.get("HF_HUB_CACHE", f"{home}/hub")).expanduser()


def missing_bytes(model: str) -> int:
    """What is still to be downloaded; 0 for a folder and for a model whose size is not known."""
    name = model.rpartition("/")[2]
    if name not in WEIGHT_BYTES or Path(model).is_dir():
        return 0
    folder = hub_folder()
    places = [folder / f"models--{model.replace('/', '--')}", *folder.glob(f"**/{name.replace('.', '___')}")]
    files = (file for place in places for file in place.glob("**/*") if file.is_file() and not file.is_symlink())
    return max(WEIGHT_BYTES[name] - sum(file.stat().st_size for file in files), 0)


def check_disk(models: list[str]) -> None:
    """Is there room for everything that is still to be downloaded?"""
    wanted = {model: missing_bytes(model) for model in models}
    folder = hub_folder()
    place = next(parent for parent in [folder, *folder.parents] if parent.exists())
    free = shutil.disk_usage(place).free
    if free < sum(wanted.values()):
        named = " and ".join(model for model, size in wanted.items() if size)
        raise Stop(
            f"{free / 1e9:.1f} GB are free in {place}, and {sum(wanted.values()) / 1e9:.1f} GB are still to be fetched "
            f"for {named}: name a folder on a larger disk with HF_HOME (on AutoDL: export HF_HOME=~/autodl-tmp/hf)"
        )


def read_box(given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Task: the device, versions, and each model's config. It runs apart, because asking a card takes memory on it."""
    import platform

    import torch
    from vllm.platforms import current_platform as device
    from vllm.transformers_utils.config import get_config

    driver = next(iter(nvidia_smi("driver_version")), None)
    kind = device.device_type
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
        "count": torch.cuda.device_count() if kind == "cuda" else 1,
        "driver": driver,
        "compute_capability": f"{capability.major}.{capability.minor}" if capability else None,
        "total_bytes": None,
        "free_bytes": None,
        "cpu_kv_space_gib": os.environ.get("VLLM_CPU_KVCACHE_SPACE") if kind == "cpu" else None,
    }
    if kind == "cuda":
        card["free_bytes"], card["total_bytes"] = torch.cuda.mem_get_info()
    configs = {}
    for model in given["models"]:
        given["model"] = model  # the one that a failure is about
        found = get_config(model, trust_remote_code=False).get_text_config()
        configs[model] = {key: getattr(found, key, None) for key in given["config_keys"]}
    versions = {"torch": torch.__version__, "python": platform.python_version()}
    return {"card": card, "versions": versions, "configs": configs}


def check_cards(card: dict[str, Any], share_asked: float, cards_asked: int) -> None:
    """Are there enough cards, and is enough of each one free?"""
    if card["device"] != "cuda":
        return
    if cards_asked > card["count"]:
        raise Stop(f"--tensor-parallel-size {cards_asked} needs {cards_asked} cards and {card['count']} are visible")
    free, total = card["free_bytes"], card["total_bytes"]
    wanted = total * share_asked
    if free < wanted:
        fits = int(98 * free / total) / 100
        raise Stop(
            f"{free / GIB:.2f} of {total / GIB:.2f} GiB are free and {wanted / GIB:.2f} are asked for: end the "
            f"other program (nvidia-smi lists it), or pass --gpu-memory-utilization {fits:.2f}"
        )


# --- end of labs/parts/box.py ---


# --- generated from labs/parts/record.py by make labs-sync: do not edit ---
# copied: all
SCHEMA = 2
FOUND: dict[str, Any] = {  # what a setting may hold besides its name, model and arguments
    "shape": None,
    "start_seconds": None,
    "startup_lines": [],
    "predicted": {},  # name: number(...)
    "measured": {},  # name: number(...), or a text
    "series": {},  # name: {"columns": [[name, unit], ...], "rows": [[...], ...]}
    "checks": [],  # check(...)
    "notes": [],
    "skipped": None,  # the reason, where the setting cannot run here
}


def number(value: Any, unit: str) -> dict[str, Any]:
    """A measured or predicted number with its unit; a range is number([low, high], unit)."""
    return {"value": value, "unit": unit}


def check(invariant: str, predicted: Any, measured: Any, unit: str = "") -> dict[str, Any]:
    """Something that must hold exactly; [low, high] as the prediction holds for anything between."""
    if isinstance(predicted, list):
        equal = measured is not None and predicted[0] <= measured <= predicted[1]
    else:
        equal = predicted == measured
    return {"invariant": invariant, "predicted": predicted, "measured": measured, "unit": unit, "equal": equal}


class Record:
    """A lab's result, on disk after each setting."""

    def __init__(self, out: str, lab: str, lab_version: int, vllm: str, box: dict[str, Any], quick: bool) -> None:
        self.path = Path(out)
        head = {
            "schema": SCHEMA,
            "lab": lab,
            "lab_version": lab_version,
            "date": time.strftime("%Y-%m-%d"),
            "quick": quick,
            "versions": {"vllm": vllm, **box["versions"]},
            "card": box["card"],
        }
        self.data: dict[str, Any] = head | {"settings": []}
        if self.path.exists():
            self._resume(head)

    def _resume(self, head: dict[str, Any]) -> None:
        try:
            kept = json.loads(self.path.read_text(encoding="utf-8"))
            same = all(kept[key] == head[key] for key in ("schema", "lab", "lab_version", "quick", "versions"))
            same = same and kept["card"]["name"] == head["card"]["name"]
            self.data["settings"] = kept["settings"]
        except (ValueError, KeyError, TypeError):
            same = False
        if not same:
            raise Stop(
                f"{self.path} holds a result of another kind (lab, version, card or --quick differ): choose another "
                "--out, or move it away"
            )

    def done(self, name: str, model: str, given: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any] | None:
        """The finished setting of that name, model, engine arguments and lab's own arguments, if there is one."""
        same = self._same(name, model, given, asked)
        return next((one for one in self.data["settings"] if same(one) and not one["skipped"]), None)

    @staticmethod
    def _same(name: str, model: str, given: dict[str, Any], asked: dict[str, Any]) -> Callable[[dict[str, Any]], bool]:
        wanted = json.loads(json.dumps((name, _shown(model), given, asked)))  # as it reads from the file
        return lambda one: [one["name"], one["model"], one["engine_args"], one["asked"]] == wanted

    def add(self, name: str, model: str, given: dict[str, Any], asked: dict[str, Any], **found: Any) -> dict[str, Any]:
        """Keep a finished setting, or one that is `skipped` with the reason, and write the file."""
        if unknown := found.keys() - FOUND:
            raise TypeError(f"a setting holds no {', '.join(unknown)}")
        same = self._same(name, model, given, asked)
        others = [one for one in self.data["settings"] if not same(one)]  # what was skipped before may be measured now
        made = {"name": name, "model": _shown(model), "engine_args": given, "asked": asked, **FOUND, **found}
        self.data["settings"] = [*others, made]
        self.save()
        return made

    def save(self) -> None:
        """Write a file beside it and put that in its place, so that no reader finds half a result."""
        new = self.path.with_name(f"{self.path.name}.new")
        try:
            new.write_text(json.dumps(self.data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
            os.replace(new, self.path)
        except OSError as error:
            raise Stop(
                f"the result could not be written to {self.path} ({error.strerror}): choose another --out"
            ) from error


def _shown(model: str) -> str:
    """A folder goes by its own name: nobody's paths belong in a result."""
    return Path(model).name if Path(model).is_dir() else model


CHECKS_HEAD = ("setting", "invariant", "predicted", "measured", "equal")


def checks_table(settings: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Setting, invariant, predicted, measured, equal: one row for each check."""

    def show(value: Any) -> str:
        if isinstance(value, list):
            return " to ".join(map(show, value))
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float):
            return f"{value:,.0f}" if value.is_integer() else f"{value:,.2f}"
        return f"{value:,}" if isinstance(value, int) else str(value)

    return [
        (one["name"], c["invariant"], show(c["predicted"]), show(c["measured"]), "yes" if c["equal"] else "NO")
        for one in settings
        for c in one["checks"]
    ]


# --- end of labs/parts/record.py ---


# --- generated from labs/parts/lab.py by make labs-sync: do not edit ---
# copied: all
def log_of(args: argparse.Namespace) -> Path:
    """Where the engine's whole output goes: beside the result."""
    return Path(args.out).with_suffix(".log")


def silent(kind: str, data: Any) -> None:
    """For a task that tells nothing on the way."""


def open_lab(lab: str, lab_version: int, args: argparse.Namespace, models: list[str]) -> tuple[dict[str, Any], Record]:
    """Check what there is to run on, then make the result or take up one that was begun."""
    version = installed_vllm(args.any_version)
    check_out(args.out)
    check_disk(models)
    asked = {"models": models, "model": models[0], "config_keys": CONFIG_KEYS, "debug": args.debug}
    box, _ = ask_child("box", asked, log_of(args), silent)
    check_cards(box["card"], args.gpu_memory_utilization, args.tensor_parallel_size)
    return box, Record(args.out, lab, lab_version, version, box, args.quick)


def lab_main(
    lab: str,
    made: argparse.ArgumentParser,
    run: Callable[[argparse.Namespace], int],
    tasks: dict[str, Task],
    argv: list[str] | None,
) -> int:
    """What `main` does: the status of the run, 1 with one sentence after a failure, 130 after Ctrl-C."""
    given = sys.argv[1:] if argv is None else argv
    if given[:1] == ["--child"]:
        return be_child(tasks, *given[1:])
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without "¥" must not stop the lab
    args = made.parse_args(given)
    try:
        for sign in (signal.SIGTERM, signal.SIGHUP):  # a closed SSH session ends the lab as Ctrl-C does
            signal.signal(sign, signal.default_int_handler)
        return run(args)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is ending already
        kept = (
            f"; finished settings are in {args.out}, and the lab goes on from there" if Path(args.out).exists() else ""
        )
        print(f"\n{lab}: stopped, the engine is ended and its memory free{kept}", file=sys.stderr)
        return 130
    except Exception as error:
        if args.debug:
            raise
        print(f"\n{lab}: {explain(error, 'the model')}", file=sys.stderr)
        return 1


# --- end of labs/parts/lab.py ---


# --- generated from labs/parts/engine.py by make labs-sync: do not edit ---
# copied: all
def start_engine(given: dict[str, Any], **more: Any) -> tuple[Any, float]:
    """LLM(...) with the setting's arguments, and the seconds its start took."""
    from vllm import LLM

    start = time.perf_counter()
    llm = LLM(model=given["model"], **given["engine_args"], **more)
    return llm, round(time.perf_counter() - start, 1)


def cache_sizes(llm: Any) -> dict[str, Any]:
    """What the engine decided; exact, where its log is rounded. The backend is None with several cards."""
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
        "max_num_batched_tokens": config.scheduler_config.max_num_batched_tokens,
        "max_num_seqs": config.scheduler_config.max_num_seqs,
        "attention_backend": ", ".join(sorted(backends)) or None,
    }


# --- end of labs/parts/engine.py ---


# --- generated from labs/parts/table.py by make labs-sync: do not edit ---
# copied: all
def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """The first column to the left, the others to the right, two spaces between."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip() for line in lines
    )


# --- end of labs/parts/table.py ---


# --- what is asked for ---
def parser() -> argparse.ArgumentParser:
    made = new_parser(LAB, __doc__)
    add_engine_flags(made)
    add = made.add_argument
    several = "one or several; a model and a KV dtype make a setting"
    add("--model", nargs="+", default=MODELS, help=f"names on the hub, or folders: {several} (default: %(default)s)")
    add(
        "--kv-cache-dtype", nargs="+", choices=["auto", *KV_DTYPE_BYTES], default=KV_DTYPES, help="default: %(default)s"
    )
    add("--question", default="Why does an LLM server keep a KV cache? Answer in two sentences.")
    add("--max-tokens", type=positive, default=64, help="tokens of the answer (default: %(default)s)")
    add("--show-command", action="store_true", help="print the equivalent `vllm serve` commands and stop")
    return made


def settings(args: argparse.Namespace) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, model and engine arguments of each engine. The batch is set because LLM() would profile 8,192 tokens and a
    server 2,048."""
    models = args.model[:1] if args.quick else args.model
    return [
        (f"{Path(model).name}, KV {dtype}", model, engine_args(args, kv_cache_dtype=dtype))
        for model in models
        for dtype in args.kv_cache_dtype
    ]


# --- prediction ---
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


def available_before(card: dict[str, Any], model: str, given: dict[str, Any]) -> tuple[int, int] | None:
    """Lowest and highest bytes for the KV cache, before anything is loaded; None where nothing can be said."""
    if card["device"] == "cpu":
        space = card["cpu_kv_space_gib"] or ""
        return (int(space) * GIB,) * 2 if space.isdigit() else None
    weights = weight_bytes(model)
    other_batch = given["max_num_batched_tokens"] != ESTIMATED_TOKENS
    if weights is None or other_batch or given.get("tensor_parallel_size", 1) > 1:
        return None
    requested = requested_bytes(card["total_bytes"], given["gpu_memory_utilization"])
    low, high = (max(available_kv_bytes(requested, weights, b), 0) for b in (OTHER_HIGH_BYTES, OTHER_LOW_BYTES))
    return low, high


def caution(card: dict[str, Any], model: str, given: dict[str, Any]) -> str | None:
    """Why the estimate of other memory does not hold for what was asked, if so."""
    if card["device"] == "cpu":
        return None
    if given["max_num_batched_tokens"] != ESTIMATED_TOKENS:
        return f"no prediction: other memory is estimated for batches of {ESTIMATED_TOKENS:,} tokens"
    if given.get("tensor_parallel_size", 1) > 1:
        return "no prediction: other memory is estimated for one card"
    if Path(model).name not in WEIGHT_BYTES:
        return "other memory is estimated for Qwen2.5-7B; another model may take more or less"
    return None


# --- in the engine's process ---
def measure(given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Task: start the engine, tell its sizes, then ask it the question."""
    llm, seconds = start_engine(given)
    tell("sizes", {"start_seconds": seconds, **cache_sizes(llm)})
    if given["no_question"]:
        return {"answer": None, "no_answer": given["no_question"]}
    try:
        return {"answer": answer(llm, given), "no_answer": None}
    except Exception as error:
        if given["debug"]:
            raise
        return {"answer": None, "no_answer": explain(error, given["model"])}


def answer(llm: Any, given: dict[str, Any]) -> dict[str, Any]:
    """One question through the model's chat template, which llm.generate() would leave out."""
    from vllm import SamplingParams

    start = time.perf_counter()
    params = SamplingParams(max_tokens=given["max_tokens"], temperature=0)
    output = llm.chat([{"role": "user", "content": given["question"]}], params, use_tqdm=False)[0]
    return {
        "text": output.outputs[0].text.strip(),
        "tokens": len(output.outputs[0].token_ids),
        "seconds": round(time.perf_counter() - start, 3),
    }


# --- what is shown ---
ROWS: tuple[tuple[str, str, str, Callable[[Any], str]], ...] = (
    ("available GiB", "available_bytes", "bytes", lambda n: f"{n / GIB:.2f}"),
    ("blocks", "num_gpu_blocks", "blocks", lambda n: f"{n:,}"),
    ("tokens", "kv_cache_size_tokens", "tokens", lambda n: f"{n:,}"),
    ("maximum concurrency", "max_concurrency", "requests", lambda n: f"{n:.2f}x"),
)


def span(before: list[dict[str, float]] | None, key: str, show: Callable[[Any], str]) -> str:
    """Both ends of a prediction, or the one number that they are."""
    return " to ".join(dict.fromkeys(show(end[key]) for end in before or ())) or "-"


def one_setting(found: dict[str, Any] | None, formula: dict[str, float] | None, before: Any) -> str:
    """Measured beside predicted: from the reported bytes (with the residual), and from the card alone."""
    if found is None:
        return table(("", "before the start"), [(label, span(before, key, show)) for label, key, _, show in ROWS])
    rows = []
    for label, key, _, show in ROWS:
        cells = ["-", "-"]
        if formula and key != "available_bytes":  # the formula starts from these bytes
            off = found[key] - formula[key]
            cells = [show(formula[key]), f"{off:+.2f}" if isinstance(off, float) else f"{off:+,}"]
        rows.append((label, span(before, key, show), show(found[key]), *cells))
    return table(("", "before the start", "vLLM", "formula", "residual"), rows)


def all_settings(kept: list[dict[str, Any]]) -> str:
    """One row for each setting: what vLLM reported, and the predicted range of the concurrency."""
    rows = []
    for one in kept:
        if one["skipped"]:
            rows.append((one["name"], *["-"] * 7))
            continue
        found = {name: made["value"] for name, made in one["measured"].items()}
        said = one["predicted"].get("max_concurrency", {"value": []})["value"]
        rows.append(
            (
                one["name"],
                *(f"{found[key]:.2f}" if found[key] is not None else "-" for key in ("weights", "graphs")),
                *(show(found[key]) for _, key, _, show in ROWS),
                " to ".join(dict.fromkeys(f"{n:.2f}x" for n in said)) or "-",
            )
        )
    head = ("setting", "weights GiB", "graphs GiB", "available GiB", "blocks", "tokens", "concurrency", "predicted")
    return table(head, rows)


def notes(found: dict[str, Any], card: dict[str, Any], given: dict[str, Any]) -> list[str]:
    """What the table does not say: the attention backend, and the memory that only a start can measure."""
    text = [f"attention backend: {found['attention_backend']}"]
    capability = card["compute_capability"]
    nvidia = card["driver"] is not None
    if given["kv_cache_dtype"].startswith("fp8") and nvidia and capability and not capability.startswith("9."):
        text.append(
            f"vLLM {VLLM_VERSION} gives FP8 KV to FlashAttention on compute capability 9.x only; this card has "
            f"{capability}, where FlashInfer is next in line, then Triton"
        )
    if found["weights"] is not None and card["total_bytes"]:
        asked = requested_bytes(card["total_bytes"], given["gpu_memory_utilization"]) / GIB
        kv = found["available_bytes"] / GIB
        text.append(
            f"other memory: {asked - found['weights'] - kv:.2f} GiB = {asked:.2f} asked for - "
            f"{found['weights']:.2f} weights - {kv:.2f} KV cache (estimated for Qwen2.5-7B in "
            f"batches of {ESTIMATED_TOKENS:,} tokens: {OTHER_LOW_BYTES / GIB:.2f} to {OTHER_HIGH_BYTES / GIB:.2f})"
        )
    return text


# --- the run ---
def predicted_before(
    shape: ModelConfig | None, card: dict[str, Any], model: str, given: dict[str, Any]
) -> list[dict[str, float]] | None:
    """Both ends of what the card alone tells, where it tells anything."""
    ends = available_before(card, model, given)
    block_size = given.get("block_size") or (128 if card["device"] == "cpu" else 16)
    return [predict(shape, end, block_size, given["max_model_len"]) for end in ends] if shape and ends else None


def run_setting(
    args: argparse.Namespace, record: Record, box: dict[str, Any], name: str, model: str, given: dict[str, Any]
) -> None:
    """Predict, start an engine, compare, keep."""
    card, cards = box["card"], given.get("tensor_parallel_size", 1)
    shape, refused = None, None
    try:
        shape = shape_of(model, box["configs"][model], KV_DTYPE_BYTES.get(given["kv_cache_dtype"], 2), cards)
    except Stop as why:
        refused = f"no prediction for this model: {why}"
    before = predicted_before(shape, card, model, given)
    print(f"\n{name}: predicted before the start on {card['name']}, {given['max_model_len']:,} tokens a request")
    print(f"{one_setting(None, None, before)}\n{refused or caution(card, model, given) or ''}", flush=True)
    no_question = None
    if card["device"] == "cpu" and given["kv_cache_dtype"].startswith("fp8"):
        no_question = "the CPU build sizes an FP8 KV cache but crashes when it writes to it: use --kv-cache-dtype auto"
    asked = {"question": args.question, "max_tokens": args.max_tokens}
    task = {"model": model, "engine_args": given, "debug": args.debug, "no_question": no_question, **asked}
    sizes: dict[str, Any] = {}
    try:
        said, lines = ask_child("measure", task, log_of(args), lambda _, data: sizes.update(data))
    except Stop as why:
        if not sizes:
            raise
        said, lines = {"answer": None, "no_answer": str(why)}, why.lines  # a kernel that crashed leaves the sizes

    seconds = sizes.pop("start_seconds")
    found = sizes | {
        "attention_backend": sizes["attention_backend"] or logged_backend(lines),
        "weights": logged_number(lines, "Model loading took"),
        "graphs": logged_number(lines, r"Graph capturing finished in \d+ secs, took"),
    }
    formula = predict(shape, found["available_bytes"], found["block_size"], given["max_model_len"]) if shape else None
    token = f"{kv_bytes_per_token(shape):,} bytes a token{' on each card' if cards > 1 else ''}, " if shape else ""
    print(f"\n{name}: {token}blocks of {found['block_size']} tokens, started in {seconds:.0f} s")
    told = [*([refused] if refused else []), *notes(found, card, given)]
    print("\n".join([one_setting(found, formula, before), *told]))
    reply = said["answer"]
    if reply:
        print(f"answer, {reply['tokens']} tokens in {reply['seconds']} s:\n{reply['text']}")
    else:
        told.append(f"skipped: no answer, {said['no_answer']}" if no_question else f"no answer: {said['no_answer']}")
        print(told[-1])
    keep(record, name, model, given, asked, (shape, before, formula), (found, reply, seconds), lines, told)


def keep(
    record: Record,
    name: str,
    model: str,
    given: dict[str, Any],
    asked: dict[str, Any],
    made: tuple[ModelConfig | None, list[dict[str, float]] | None, dict[str, float] | None],
    measured: tuple[dict[str, Any], dict[str, Any] | None, float],
    lines: list[str],
    told: list[str],
) -> None:
    """Write the setting into the result, each number with its unit."""
    shape, before, formula = made
    found, reply, seconds = measured
    units = {key: unit for _, key, unit, _ in ROWS} | {"weights": "GiB", "graphs": "GiB"}
    units |= {"block_size": "tokens", "max_num_batched_tokens": "tokens", "max_num_seqs": "requests"}
    numbers = {key: number(value, units.get(key, "")) for key, value in found.items()}
    if reply:
        numbers |= {
            "answer": number(reply["text"], ""),
            "answer_tokens": number(reply["tokens"], "tokens"),
            "answer_seconds": number(reply["seconds"], "s"),
        }
    checks = [check(label, formula[key], found[key], unit) for label, key, unit, _ in ROWS[1:]] if formula else []
    if before and before[0] == before[1]:  # the CPU build takes the bytes it is told to
        checks.insert(0, check("bytes for the cache", before[0]["available_bytes"], found["available_bytes"], "bytes"))
    record.add(
        name,
        model,
        given,
        asked,
        shape=asdict(shape) if shape else None,
        start_seconds=seconds,
        startup_lines=lines,
        predicted={key: number([end[key] for end in before], unit) for _, key, unit, _ in ROWS} if before else {},
        measured=numbers,
        checks=checks,
        notes=told,
    )


def run(args: argparse.Namespace) -> int:
    wanted = settings(args)
    if args.show_command:
        print("\n".join(serve_command(model, given) for _, model, given in wanted))
        return 0
    asked = {"question": args.question, "max_tokens": args.max_tokens}
    box, record = open_lab(LAB, LAB_VERSION, args, list(dict.fromkeys(model for _, model, _ in wanted)))
    status = 0
    for name, model, given in wanted:
        if record.done(name, model, given, asked):
            print(f"\n{name}: done before, kept in {args.out}")
            continue
        try:
            run_setting(args, record, box, name, model, given)
        except Stop as why:  # the other settings may still fit
            print(f"\n{LAB}: {name}: {why}", file=sys.stderr)
            record.add(name, model, given, asked, skipped=str(why))
            status = 1
    kept = record.data["settings"]
    print(f"\n{all_settings(kept)}\n\n{table(CHECKS_HEAD, checks_table(kept))}\n\nresult: {args.out}")
    print("the same as a server:", *(serve_command(model, given) for _, model, given in wanted), sep="\n  ")
    return status


TASKS = {"box": read_box, "measure": measure}


def main(argv: list[str] | None = None) -> int:
    return lab_main(LAB, parser(), run, TASKS, argv)


if __name__ == "__main__":
    sys.exit(main())
