# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["vllm==0.26.0"]
# ///
"""One at a time, in static batches, continuously.

Question: The same requests, the same engine: what do three rules about who may join a step change in throughput and
    waiting?
Card: One RTX 4090 with 24 GB. AutoDL, which rents cards by the hour and bills in yuan (¥), lists it as RTX 4090.
Minimum memory: 8 GiB visible for the default model, so a card sold as 10 GB. Computed, not tried. Compute capability
    8.0 or newer.
Time: About 8 minutes after the first download of 5.6 GB, most of it for one request at a time; with --quick about 3.
    Estimates.
Cost: About ¥0.3 after the download, at ¥1.88 an hour on AutoDL (quoted from one price table; look at today's price).
Platform: Linux with an NVIDIA driver, 580 or newer: vLLM 0.26.0 asks for torch 2.11.0, which PyPI has for CUDA 13.
Without NVIDIA: Builds of vLLM for ROCm and for CPUs exist, and the steps are the same. Times are the machine's own.
Measures: Engine steps, slots in use, requests and tokens a second, and percentiles of TTFT, TPOT and end-to-end latency
    by the definitions of `vllm bench serve`.
Expect: The steps of one at a time and of static batches exactly as predicted before the start, and those of continuous
    batching exactly as predicted from when each request was handed over. More tokens a second and shorter waiting
    from one rule to the next.
Why: A step reads all the weights whoever is in it, so an empty slot costs almost as much as a full one. Who is in which
    step follows from the lengths and the rule alone and can be counted. How long a step takes only the card can say.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import math
import os
import queue
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from io import TextIOWrapper
from itertools import accumulate
from math import floor
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

LAB, LAB_VERSION = "continuous_batching", 1


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


# --- generated from snippets/kv_cache_size.py by make labs-sync: do not edit ---
# copied: ModelConfig
@dataclass(frozen=True)
class ModelConfig:
    """The numbers that decide the size; a model's config.json has them."""

    name: str
    num_layers: int
    num_kv_heads: int  # not the query heads: those are never cached
    head_dim: int
    dtype_bytes: int = 2  # per element of the cache: 2 for BF16, 1 for FP8


# --- end of snippets/kv_cache_size.py ---


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


# --- generated from snippets/sim/lengths.py by make labs-sync: do not edit ---
# copied: all
@dataclass(frozen=True)
class Request:
    """One request: tokens in its prompt and tokens it will answer with."""

    prompt_tokens: int
    output_tokens: int
    cut: bool = False  # the draw was longer than the maximum context

    @property
    def stored_tokens(self) -> int:
        """Tokens in the cache at the end: the answer's last token is sent, its key and value are never computed."""
        return self.prompt_tokens + self.output_tokens - 1


@dataclass(frozen=True)
class LogNormal:
    """Token counts whose logarithm is normal: many short, few long."""

    mean_tokens: float
    sigma: float  # standard deviation of the logarithm

    def draw(self, random: Random) -> int:
        """One count, at least 1. Box-Muller by hand: `gauss` and `lognormvariate` may change between versions."""
        radius = math.sqrt(-2 * math.log(1 - random.random()))
        normal = radius * math.cos(2 * math.pi * random.random())
        return max(1, round(math.exp(math.log(self.mean_tokens) - self.sigma**2 / 2 + self.sigma * normal)))


PROMPT_AND_OUTPUT = {
    "alpaca": (LogNormal(19.31, 0.6), LogNormal(58.45, 0.8)),
    "sharegpt": (LogNormal(161.31, 1.1), LogNormal(337.99, 0.9)),
}
DISTRIBUTIONS = (*PROMPT_AND_OUTPUT, "uniform", "maximum")


def _draw(distribution: str, max_context: int, random: Random) -> Request:
    if distribution == "maximum":
        prompt = max(1, max_context // 4)
        return Request(prompt, max_context - prompt)
    if distribution == "uniform":  # any total up to the maximum is as likely as any other, and so is any split of it
        total = 2 + int(random.random() * (max_context - 1))
        prompt = 1 + int(random.random() * (total - 1))
        return Request(prompt, total - prompt)
    prompt, output = (length.draw(random) for length in PROMPT_AND_OUTPUT[distribution])
    kept = min(prompt, max_context - 1)
    return Request(kept, min(output, max_context - kept), cut=prompt + output > max_context)


def draw_requests(distribution: str, count: int, max_context: int, seed: int) -> tuple[Request, ...]:
    """The first `count` requests of a seed; asking for more leaves the first ones as they are.

    Prompt and answer together stay within `max_context` tokens: a longer draw is cut there and marked.
    """
    if distribution not in DISTRIBUTIONS:
        raise ValueError(f"distribution is one of {', '.join(DISTRIBUTIONS)}, not {distribution!r}")
    if count < 1 or max_context < 2:
        raise ValueError(f"need at least 1 request of at least 2 tokens, not {count} of {max_context}")
    random = Random(seed)
    return tuple(_draw(distribution, max_context, random) for _ in range(count))


# --- end of snippets/sim/lengths.py ---


# --- generated from snippets/sim/paged.py by make labs-sync: do not edit ---
# copied: cdiv
def cdiv(a: int, b: int) -> int:
    """a / b, rounded up; vLLM's name."""
    return -(-a // b)


# --- end of snippets/sim/paged.py ---


# --- generated from snippets/sim/scheduler.py by make labs-sync: do not edit ---
# copied: Limits, Schedule, _Running, schedule
@dataclass(frozen=True)
class Limits:
    """What the scheduler works within; vLLM's names."""

    num_gpu_blocks: int  # the null block among them
    block_size: int  # tokens
    max_num_seqs: int
    max_num_batched_tokens: int
    watermark: float = 0.0  # share of the blocks kept free when a request is let in

    @property
    def usable_blocks(self) -> int:
        """Blocks that requests can hold: one is the null block."""
        return self.num_gpu_blocks - 1


@dataclass(frozen=True)
class Schedule:
    """What came of a load. Steps are counted from 1."""

    steps: int
    preemptions: int
    first_preemption_step: int | None
    recomputed_tokens: int  # computed, lost to a preemption, and to be computed again
    most_running: int
    sequence_steps: int  # requests with tokens in a step, summed over all steps
    first_token_step: tuple[int, ...]  # of each request
    last_token_step: tuple[int, ...]


@dataclass
class _Running:
    number: int
    request: Request
    answered: int = 0  # tokens of the answer so far; they survive a preemption
    computed: int = 0
    blocks: int = 0
    granted: int = field(default=0, repr=False)  # tokens of this step

    @property
    def tokens(self) -> int:
        return self.request.prompt_tokens + self.answered


def schedule(requests: Sequence[Request], limits: Limits, handed_over: Sequence[int] | None = None) -> Schedule:
    """Serve all requests to their end. Raises ValueError when one could never fit into the empty pool.

    `handed_over` says after how many steps each reaches the scheduler, in order; left out, all are there at the start.
    A step needs somebody: while no request is there, the next one comes without a step in between.
    """
    size, free = limits.block_size, limits.usable_blocks
    for number, request in enumerate(requests, 1):
        if cdiv(request.stored_tokens, size) > free:
            raise ValueError(
                f"request {number} stores {request.stored_tokens:,} tokens, {cdiv(request.stored_tokens, size):,} "
                f"blocks of {size}, and {free:,} can be used: give shorter requests or more memory"
            )
    watermark_blocks = int(limits.watermark * limits.num_gpu_blocks)
    coming = deque(zip(handed_over or [0] * len(requests), map(_Running, range(len(requests)), requests), strict=True))
    waiting, running = deque[_Running](), list[_Running]()
    steps = preemptions = recomputed = most_running = sequence_steps = 0
    first: int | None = None
    first_token_step, last_token_step = [0] * len(requests), [0] * len(requests)
    while coming or waiting or running:
        while coming and (coming[0][0] <= steps or not (waiting or running)):
            waiting.append(coming.popleft()[1])
        steps += 1
        budget, lost, at = limits.max_num_batched_tokens, 0, 0
        while at < len(running) and budget:
            one = running[at]
            one.granted = min(one.tokens - one.computed, budget)
            need = cdiv(one.computed + one.granted, size) - one.blocks
            while need > free and at < len(running):
                victim = running.pop()
                waiting.appendleft(victim)
                free += victim.blocks
                recomputed += victim.computed
                victim.blocks = victim.computed = victim.granted = 0
                lost += 1
            if at == len(running):  # the one that needs blocks was the last to start
                break
            one.blocks, free, budget, at = one.blocks + need, free - need, budget - one.granted, at + 1
        while not lost and waiting and budget and len(running) < limits.max_num_seqs:
            one = waiting[0]
            if cdiv(one.tokens, size) + (watermark_blocks if running else 0) > free:
                break
            one.granted = min(one.tokens, budget)
            one.blocks = cdiv(one.granted, size)
            free, budget = free - one.blocks, budget - one.granted
            running.append(waiting.popleft())
        preemptions += lost
        first = steps if lost and first is None else first
        most_running = max(most_running, len(running))
        sequence_steps += sum(one.granted > 0 for one in running)
        for one in running:
            one.computed, one.granted = one.computed + one.granted, 0
            if one.computed == one.tokens:
                one.answered += 1
                first_token_step[one.number] = first_token_step[one.number] or steps
                last_token_step[one.number] = steps
        done = [one for one in running if one.answered == one.request.output_tokens]
        free += sum(one.blocks for one in done)
        running = [one for one in running if one.answered < one.request.output_tokens]
    tokens = tuple(first_token_step), tuple(last_token_step)
    return Schedule(steps, preemptions, first, recomputed, most_running, sequence_steps, *tokens)


# --- end of snippets/sim/scheduler.py ---


# --- generated from snippets/sim/batching.py by make labs-sync: do not edit ---
# copied: all
@dataclass(frozen=True)
class BatchRun:
    """Steps are counted from 1. The tuples have one entry per request, in the order they came."""

    steps: int
    sequence_steps: int  # requests with tokens in a step, summed over all steps
    first_token_step: tuple[int, ...]
    last_token_step: tuple[int, ...]

    def slot_use(self, max_num_seqs: int) -> float:
        """Share of the slots, `max_num_seqs` in every step, in which a request had tokens."""
        return self.sequence_steps / (self.steps * max_num_seqs)


def continuous(
    requests: Sequence[Request],
    max_num_seqs: int,
    max_num_batched_tokens: int,
    handed_over: Sequence[int] | None = None,
) -> BatchRun:
    """Requests join and leave between any two steps; `handed_over` as in `schedule`."""
    room = Limits(sum(one.stored_tokens for one in requests) + 1, 1, max_num_seqs, max_num_batched_tokens)
    run = schedule(requests, room, handed_over)
    return BatchRun(run.steps, run.sequence_steps, run.first_token_step, run.last_token_step)


def static_batches(requests: Sequence[Request], batch_size: int, max_num_batched_tokens: int) -> BatchRun:
    """`batch_size` requests at a time, in the order they come; the next batch starts when the last one is done."""
    steps = sequence_steps = 0
    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    for start in range(0, len(requests), batch_size):
        batch = continuous(requests[start : start + batch_size], batch_size, max_num_batched_tokens)
        first += tuple(steps + step for step in batch.first_token_step)
        last += tuple(steps + step for step in batch.last_token_step)
        steps += batch.steps
        sequence_steps += batch.sequence_steps
    return BatchRun(steps, sequence_steps, first, last)


def one_at_a_time(requests: Sequence[Request], max_num_batched_tokens: int) -> BatchRun:
    """Each request alone: a static batch of one."""
    return static_batches(requests, 1, max_num_batched_tokens)


def fewest_steps(requests: Sequence[Request], max_num_seqs: int) -> int:
    """Fewer steps no schedule needs: a step makes one token a request, for `max_num_seqs` requests at most."""
    longest = max(request.output_tokens for request in requests)
    return max(longest, -(-sum(request.output_tokens for request in requests) // max_num_seqs))


# --- end of snippets/sim/batching.py ---


# --- generated from snippets/load/arrivals.py by make labs-sync: do not edit ---
# copied: all
def arrival_seconds(count: int, request_rate: float, seed: int) -> tuple[float, ...]:
    """Moments at which `count` requests come, at `request_rate` a second on average, in order."""
    if count < 1 or not 0 < request_rate < math.inf:
        raise ValueError(f"need at least 1 request at a rate above 0, not {count} at {request_rate} a second")
    random = Random(seed)
    moments = tuple(accumulate(-math.log(1 - random.random()) for _ in range(count)))
    return tuple(moment * (count / request_rate) / moments[-1] for moment in moments)


# --- end of snippets/load/arrivals.py ---


# --- generated from snippets/load/metrics.py by make labs-sync: do not edit ---
# copied: ServedRequest, percentile, latency_metrics, throughput_metrics
@dataclass(frozen=True)
class ServedRequest:
    """One answered request; moments in seconds on one clock."""

    sent_seconds: float
    first_token_seconds: float
    finished_seconds: float
    output_tokens: int

    @property
    def ttft_ms(self) -> float:
        """Time to the first token."""
        return (self.first_token_seconds - self.sent_seconds) * 1000

    @property
    def e2el_ms(self) -> float:
        """Time to the last token."""
        return (self.finished_seconds - self.sent_seconds) * 1000

    @property
    def tpot_ms(self) -> float | None:
        """Time per output token after the first."""
        if self.output_tokens <= 1:
            return None
        return (self.e2el_ms - self.ttft_ms) / (self.output_tokens - 1)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` percent lie, interpolated between neighbours; 0 of no values, as vLLM prints."""
    if not values:
        return 0.0
    ordered = sorted(values)
    place = (len(ordered) - 1) * share / 100
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def latency_metrics(served: Sequence[ServedRequest], shares: Sequence[int] = (90, 99)) -> dict[str, float]:
    """Mean, median and percentiles of TTFT, TPOT and E2EL, under the keys of vLLM's result file."""
    columns = {
        "ttft": [one.ttft_ms for one in served],
        "tpot": [tpot for one in served if (tpot := one.tpot_ms) is not None],
        "e2el": [one.e2el_ms for one in served],
    }
    found: dict[str, float] = {}
    for name, values in columns.items():
        found[f"mean_{name}_ms"] = fmean(values) if values else 0.0
        found[f"median_{name}_ms"] = percentile(values, 50)
        found |= {f"p{share}_{name}_ms": percentile(values, share) for share in shares}
    return found


def throughput_metrics(served: Sequence[ServedRequest], duration_seconds: float) -> dict[str, float]:
    """Requests and output tokens a second, from the first request sent to the last answer complete."""
    return {
        "request_throughput": len(served) / duration_seconds,
        "output_throughput": sum(one.output_tokens for one in served) / duration_seconds,
    }


# --- end of snippets/load/metrics.py ---


# --- what is asked for ---
ONE, STATIC, CONTINUOUS = "one at a time", "static batches", "continuous"
POLICIES = (ONE, STATIC, CONTINUOUS)


@dataclass(frozen=True)
class Trace:
    """The load: what comes when. The lengths' seed is the moments' too."""

    requests: tuple[Request, ...]
    moments: tuple[float, ...]  # seconds

    @property
    def output_tokens(self) -> int:
        return sum(one.output_tokens for one in self.requests)


def rate(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a rate above 0, such as 4 or 0.5 requests a second")
    return value


def parser() -> argparse.ArgumentParser:
    made = new_parser(LAB, __doc__)
    add_engine_flags(made, enable_prefix_caching=False, max_model_len=None)
    add = made.add_argument
    add("--requests", type=positive, help="how many (default: 64; 16 with --quick)")
    add("--request-rate", type=rate, help="requests a second, a Poisson process (default: 4; 2 with --quick)")
    add("--lengths", choices=DISTRIBUTIONS, help="of prompts and answers (default: sharegpt; alpaca with --quick)")
    add("--seed", type=int, default=0, help="of lengths, moments and prompts (default: %(default)s)")
    return made


def filled_in(args: argparse.Namespace) -> argparse.Namespace:
    """What was not said, as --quick decides. Prefix caching stays off: each rule serves the same prompts again."""
    usual = {"requests": (64, 16), "request_rate": (4.0, 2.0), "lengths": ("sharegpt", "alpaca")}
    usual |= {"max_num_seqs": (16, 4), "max_model_len": (1024, 256)}
    for name, (full, quick) in usual.items():
        if getattr(args, name) is None:
            setattr(args, name, quick if args.quick else full)
    return args


def settings(args: argparse.Namespace) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, model and engine arguments: one engine serves all three rules."""
    filled_in(args)
    return [(policy, args.model, engine_args(args, async_scheduling=False)) for policy in POLICIES]


def trace_of(args: argparse.Namespace) -> Trace:
    """The load that these arguments ask for: the same on any machine."""
    requests = draw_requests(args.lengths, args.requests, args.max_model_len, args.seed)
    return Trace(requests, arrival_seconds(args.requests, args.request_rate, args.seed))


# --- prediction ---
def predict(trace: Trace, max_num_seqs: int, room: int) -> dict[str, BatchRun]:
    """Steps before the start: exact for the first two; of continuous as it would be were all there at the start."""
    return {
        ONE: one_at_a_time(trace.requests, room),
        STATIC: static_batches(trace.requests, max_num_seqs, room),
        CONTINUOUS: continuous(trace.requests, max_num_seqs, room),
    }


def slots_of(policy: str, max_num_seqs: int) -> int:
    return 1 if policy == ONE else max_num_seqs


def prediction_table(predicted: dict[str, BatchRun], trace: Trace, max_num_seqs: int) -> str:
    """What is known before anything is loaded."""
    rows: list[tuple[str, ...]] = []
    for policy, run in predicted.items():
        slots = slots_of(policy, max_num_seqs)
        steps = f"{run.steps:,}"
        if policy == CONTINUOUS:
            steps = f"{fewest_steps(trace.requests, slots):,} to {predicted[ONE].steps:,}"
        use = f"{run.slot_use(slots):.0%} of {slots}"
        rows.append((policy, steps, "-" if policy == CONTINUOUS else use))
    rows.append(("  all there at the start", f"{run.steps:,}", use))
    return table(("predicted", "steps", "slots in use"), rows)


# --- the engine ---
def may_start(policy: str, coming: deque[int], arrived: int, inside: int, max_num_seqs: int) -> int:
    """How many of those to come, in order, the rule hands to the engine now; `arrived` of them are there."""
    if policy == CONTINUOUS:
        return arrived
    batch = min(slots_of(policy, max_num_seqs), len(coming))
    return batch if not inside and arrived >= batch else 0


def play(engine: Any, policy: str, given: dict[str, Any]) -> dict[str, Any]:
    """Replay the trace under one rule. A step is one forward pass: asynchronous scheduling is off."""
    from vllm import SamplingParams

    lengths, moments = [Request(*one) for one in given["requests"]], given["moments"]
    rows: list[dict[str, Any]] = [
        {"sent_seconds": moment, "first_token_step": 0, "last_token_step": 0, "made": 0} for moment in moments
    ]
    coming, inside, steps = deque(range(len(lengths))), 0, 0
    max_num_seqs = given["engine_args"]["max_num_seqs"]
    start = time.perf_counter()
    while coming or inside:
        now = time.perf_counter() - start
        arrived = sum(moments[number] <= now for number in coming)
        for _ in range(may_start(policy, coming, arrived, inside, max_num_seqs)):
            number = coming.popleft()
            prompt = seeded_tokens(f"{given['seed']}-{number}", lengths[number].prompt_tokens)
            params = SamplingParams(
                max_tokens=lengths[number].output_tokens, ignore_eos=True, temperature=0, detokenize=False
            )
            engine.add_request(str(number), {"prompt_token_ids": prompt}, params)
            rows[number]["handed_over_step"] = steps
            inside += 1
        if not inside:
            time.sleep(max(min(moments[number] for number in coming if moments[number] > now) - now, 0))
            continue
        outputs = engine.step()
        steps += 1
        now = time.perf_counter() - start
        for output in outputs:
            row, made = rows[int(output.request_id)], len(output.outputs[0].token_ids)
            if made and not row["first_token_step"]:
                row |= {"first_token_step": steps, "first_token_seconds": now}
            if output.finished:
                row |= {"last_token_step": steps, "finished_seconds": now, "made": made}
                inside -= 1
    return {"steps": steps, "seconds": time.perf_counter() - start, "rows": rows}


def serve(given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Task: one engine, the trace once for each rule; each is told as soon as it is done."""
    llm, seconds = start_engine(given)
    sizes, wanted = cache_sizes(llm), given["engine_args"]
    each = -(-wanted["max_model_len"] // sizes["block_size"])
    fit = (sizes["num_gpu_blocks"] - 1) // each  # one block is set aside
    if fit < wanted["max_num_seqs"]:
        raise Stop(
            f"the cache holds {fit} requests of {wanted['max_model_len']:,} tokens and the lab counts on "
            f"{wanted['max_num_seqs']}: pass --max-num-seqs {max(fit, 1)}, or a smaller --max-model-len"
        )
    tell("say", f"started in {seconds:.0f} s")
    some = [[prompt, min(output, 4)] for prompt, output in given["requests"][: 2 * wanted["max_num_seqs"]]]
    play(llm.llm_engine, CONTINUOUS, given | {"requests": some, "moments": [0.0] * len(some), "seed": "warm"})
    for policy in given["policies"]:
        tell("say", f"{policy} ...")
        tell(policy, play(llm.llm_engine, policy, given))
    return {"start_seconds": seconds, **sizes}


# --- what came of it ---
COLUMNS = (
    ("request", ""),
    ("prompt", "tokens"),
    ("answer", "tokens"),
    ("sent", "s"),
    ("handed over after step", ""),
    ("first token in step", ""),
    ("last token in step", ""),
    ("first token", "s"),
    ("finished", "s"),
)
KEPT = (
    "sent_seconds",
    "handed_over_step",
    "first_token_step",
    "last_token_step",
    "first_token_seconds",
    "finished_seconds",
)
SHOWN = {  # measured: how the table names it, and its unit
    "request_throughput": ("requests answered", "requests/s"),
    "output_throughput": ("tokens made", "tokens/s"),
    "median_ttft_ms": ("TTFT, median", "ms"),
    "p99_ttft_ms": ("TTFT, p99", "ms"),
    "median_tpot_ms": ("TPOT, median", "ms"),
    "p99_tpot_ms": ("TPOT, p99", "ms"),
    "median_e2el_ms": ("E2EL, median", "ms"),
    "p99_e2el_ms": ("E2EL, p99", "ms"),
}


def judged(
    policy: str, told: dict[str, Any], before: BatchRun, trace: Trace, args: argparse.Namespace
) -> dict[str, Any]:
    """One rule's setting for the result: measured, and each step beside the prediction."""
    rows, steps, requests = told["rows"], told["steps"], trace.requests
    slots = slots_of(policy, args.max_num_seqs)
    served = [
        ServedRequest(row["sent_seconds"], row["first_token_seconds"], row["finished_seconds"], row["made"])
        for row in rows
    ]
    if policy == CONTINUOUS:
        handed_over = [row["handed_over_step"] for row in rows]
        exact = continuous(requests, slots, args.max_num_batched_tokens, handed_over)
        bounds = [fewest_steps(requests, slots), one_at_a_time(requests, args.max_num_batched_tokens).steps]
        checks = [
            check("steps, before the start", bounds, steps, "steps"),
            check("steps, from when requests were handed over", exact.steps, steps, "steps"),
        ]
    else:
        exact, checks = before, [check("steps, before the start", before.steps, steps, "steps")]
    pairs = zip(zip(exact.first_token_step, exact.last_token_step, strict=True), rows, strict=True)
    as_predicted = sum(pair == (row["first_token_step"], row["last_token_step"]) for pair, row in pairs)
    made = sum(one.output_tokens for one in served)
    checks += [
        check("requests whose first and last token came in the predicted step", len(rows), as_predicted, "requests"),
        check("tokens answered", trace.output_tokens, made, "tokens"),
    ]
    numbers = throughput_metrics(served, told["seconds"]) | latency_metrics(served)
    measured = {name: number(round(value, 3), SHOWN.get(name, ("", "ms"))[1]) for name, value in numbers.items()}
    measured |= {
        "steps": number(steps, "steps"),
        "slot_use": number(round(exact.sequence_steps / (steps * slots), 4), "share"),
        "duration": number(round(told["seconds"], 3), "s"),
    }
    series = [
        [index, one.prompt_tokens, one.output_tokens, *(round(row[name], 3) for name in KEPT)]
        for index, (one, row) in enumerate(zip(requests, rows, strict=True))
    ]
    return {
        "predicted": {"steps": number(before.steps if policy != CONTINUOUS else bounds, "steps")},
        "measured": measured,
        "checks": checks,
        "series": {"requests": {"columns": [list(column) for column in COLUMNS], "rows": series}},
    }


def measured_table(settings: list[dict[str, Any]]) -> str:
    """The three rules side by side."""
    rows = [
        (f"{words} ({unit})", *(f"{one['measured'][name]['value']:,.1f}" for one in settings))
        for name, (words, unit) in SHOWN.items()
    ]
    rows.insert(0, ("duration (s)", *(f"{one['measured']['duration']['value']:,.1f}" for one in settings)))
    rows.insert(0, ("slots in use", *(f"{one['measured']['slot_use']['value']:.0%}" for one in settings)))
    rows.insert(0, ("steps", *(f"{one['measured']['steps']['value']:,}" for one in settings)))
    return table(("measured", *(one["name"] for one in settings)), rows)


def run(args: argparse.Namespace) -> int:
    wanted = settings(args)
    if args.max_num_batched_tokens < args.max_num_seqs:
        raise Stop(
            f"a step of {args.max_num_batched_tokens} tokens has no room for {args.max_num_seqs} requests: raise "
            "--max-num-batched-tokens, or lower --max-num-seqs"
        )
    _, record = open_lab(LAB, LAB_VERSION, args, [args.model])
    trace = trace_of(args)
    given = wanted[0][2]
    before = predict(trace, args.max_num_seqs, args.max_num_batched_tokens)
    prompts = sum(one.prompt_tokens for one in trace.requests)
    print(
        f"\n{len(trace.requests)} requests with lengths as in {args.lengths}, seed {args.seed}: {prompts:,} tokens of "
        f"prompts, {trace.output_tokens:,} of answers; the last comes after {trace.moments[-1]:.1f} s\n"
        f"{prediction_table(before, trace, args.max_num_seqs)}\n",
        flush=True,
    )
    load = {name: getattr(args, name) for name in ("requests", "request_rate", "lengths", "seed")}
    todo = [policy for policy in POLICIES if not record.done(policy, args.model, given, load)]
    added: list[dict[str, Any]] = []

    def heard(policy: str, told: Any) -> None:
        made = judged(policy, told, before[policy], trace, args)
        added.append(record.add(policy, args.model, given, load, **made))

    if todo:
        task = {
            "model": args.model,
            "engine_args": given,
            "debug": args.debug,
            "policies": todo,
            "seed": args.seed,
            "requests": [[one.prompt_tokens, one.output_tokens] for one in trace.requests],
            "moments": trace.moments,
        }
        sizes, lines = ask_child("serve", task, log_of(args), heard)
        for one in added:
            one |= {"start_seconds": sizes["start_seconds"], "startup_lines": lines}
        record.save()
    kept = [found for policy in POLICIES if (found := record.done(policy, args.model, given, load))]
    print(f"\n{measured_table(kept)}\n\n{table(CHECKS_HEAD, checks_table(kept))}")
    print(f"\nresult: {args.out}\nthe same as a server: {serve_command(args.model, given)}")
    return 0


TASKS: dict[str, Task] = {"box": read_box, "serve": serve}


def main(argv: list[str] | None = None) -> int:
    return lab_main(LAB, parser(), run, TASKS, argv)


if __name__ == "__main__":
    sys.exit(main())
