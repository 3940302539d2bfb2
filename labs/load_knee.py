# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["vllm==0.26.0"]
# ///
"""Find the knee of a server.

Question: How many requests a second can one server take before they pile up, and how many can it serve in time?
Card: One RTX 4090 with 24 GB. AutoDL, which rents cards by the hour and bills in yuan (¥), lists it as RTX 4090.
Minimum memory: 8 GiB visible for the default model, so a card sold as 10 GB. Computed, not tried. Compute capability
    8.0 or newer.
Time: About 12 minutes after the first download of 5.6 GB; with --quick about 4. Estimates.
Cost: About ¥0.4 after the download, at ¥1.88 an hour on AutoDL (quoted from one price table; look at today's price).
Platform: Linux with an NVIDIA driver, 580 or newer: vLLM 0.26.0 asks for torch 2.11.0, which PyPI has for CUDA 13.
Without NVIDIA: Builds of vLLM for ROCm and for CPUs exist, and the definitions are the same. Rates are the
    machine's own.
Measures: For each rate of an open-loop load, requests and tokens a second, TTFT, TPOT and end-to-end latency, and
    goodput under a TTFT and a TPOT target, all as `vllm bench serve` reports them.
Expect: Answered and sent agree up to the knee. Beyond it, answered stays where it is and TTFT grows with the length of
    the load; goodput falls, to nothing in the end. Never more answered than sent.
Why: A server that gets more than it can serve queues the rest. Users do not wait for each other's answers before they
    ask, so the load does not slow down with the server, and the queue grows as long as the load lasts.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import math
import os
import queue
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from io import TextIOWrapper
from pathlib import Path
from typing import Any

LAB, LAB_VERSION = "load_knee", 1


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


# --- generated from labs/parts/server.py by make labs-sync: do not edit ---
# copied: all
def check_port(port: int) -> None:
    """Is the port free? Asked before anything is loaded."""
    with socket.socket() as asked:
        asked.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            asked.bind(("127.0.0.1", port))
        except OSError as error:
            raise Stop(f"port {port} is taken: end the program that holds it, or pass another --port") from error


COMMAND_LINE = """
from importlib import metadata
asked = metadata.version
def version(name):
    try:
        return asked(name)
    except metadata.PackageNotFoundError:
        return asked(name + "-cpu") + "+cpu"
metadata.version = version
from vllm.entrypoints.cli.main import main
main()
"""


def vllm_command(*words: str) -> list[str]:
    """`vllm WORDS...` with the Python that runs the lab; -u, so that its lines are read as they are printed."""
    return [sys.executable, "-u", "-c", COMMAND_LINE, *words]


def start_server(model: str, given: dict[str, Any], port: int, log: Path, debug: bool = False) -> Group:
    """`vllm serve`, to be used in a `with` block; returns at once, `wait_until_ready` waits for its answer."""
    import shlex

    check_port(port)
    words = shlex.split(serve_command(model, given))[1:]
    return Group(vllm_command(*words, "--host", "127.0.0.1", "--port", str(port)), log, debug)


def wait_until_ready(server: Group, model: str, port: int, patience: float = 900) -> float:
    """Seconds until the server answered /health; Stop when it ended instead, or never answered."""
    start = time.monotonic()
    while time.monotonic() < start + patience:
        if server.process.poll() is not None:
            raise Stop(server.why_it_ended(model))
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
                if reply.status == 200:
                    return round(time.monotonic() - start, 1)
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise Stop(f"the server did not answer within {patience:.0f} s (log: {server.log})")


# --- end of labs/parts/server.py ---


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


# --- generated from snippets/load/knee.py by make labs-sync: do not edit ---
# copied: all
KEPT_UP = 0.9
ATTAINED = 0.9  # share of requests within the targets, as in DistServe (arXiv 2401.09670)


@dataclass(frozen=True)
class RatePoint:
    """One rate of the sweep. Rates are requests a second."""

    request_rate: float  # sent
    request_throughput: float  # answered
    request_goodput: float  # answered within the targets
    completed: int
    failed: int = 0

    @property
    def kept_up(self) -> bool:
        """Whether the server kept up with the rate; one request that failed says no."""
        return not self.failed and self.request_throughput >= KEPT_UP * self.request_rate

    @property
    def attainment(self) -> float:
        """Share of all requests that were answered within the targets; a failed one was not."""
        if not self.completed:
            return 0.0
        return self.request_goodput / self.request_throughput * self.completed / (self.completed + self.failed)


@dataclass(frozen=True)
class Knee:
    """The last rate kept up with and the first not; None where the sweep did not reach."""

    kept_up: float | None
    not_kept_up: float | None


def find_knee(points: Iterable[RatePoint]) -> Knee:
    """The knee of a sweep, whatever the order the rates were tried in."""
    kept_up: float | None = None
    for point in sorted(points, key=lambda one: one.request_rate):
        if not point.kept_up:
            return Knee(kept_up, point.request_rate)
        kept_up = point.request_rate
    return Knee(kept_up, None)


def highest_attained(points: Sequence[RatePoint], share: float = ATTAINED) -> RatePoint | None:
    """The highest rate tried up to which every rate had at least `share` of its requests within the targets."""
    best: RatePoint | None = None
    for point in sorted(points, key=lambda one: one.request_rate):
        if point.attainment < share:
            break
        best = point
    return best


def load_seconds_needed(answer_seconds: float) -> float:
    """The shortest load that a server which answers in so many seconds can pass: T / (T + L) = KEPT_UP."""
    return answer_seconds / (1 / KEPT_UP - 1)


# --- end of snippets/load/knee.py ---


# --- what is asked for ---
WARM_UP_REQUESTS = 16
WARM = "Starting main benchmark run"  # what the client prints once they are answered
FAR_BEYOND = 2  # so many rates in a row that were not kept up with end the sweep: each takes longer than the last


def above_zero(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, such as 4 or 0.5")
    return value


def parser() -> argparse.ArgumentParser:
    made = new_parser(LAB, __doc__)
    add_engine_flags(made, enable_prefix_caching=False, max_model_len=None)
    add = made.add_argument
    add("--rates", type=above_zero, nargs="+", help="requests a second (default: 1 2 4 8 16 32; 1 4 16 with --quick)")
    add("--load-seconds", type=above_zero, help="length of each load (default: 60; 10 with --quick)")
    add("--input-len", type=positive, help="tokens of a prompt (default: 512; 32 with --quick)")
    add("--output-len", type=positive, help="tokens of an answer (default: 128; 16 with --quick)")
    add("--ttft-ms", type=above_zero, default=500.0, help="target for the first token (default: %(default)s)")
    add("--tpot-ms", type=above_zero, default=50.0, help="target for each later token (default: %(default)s)")
    add("--seed", type=int, default=0, help="of moments and prompts (default: %(default)s)")
    add("--port", type=positive, default=8000, help="of the server, on this machine only (default: %(default)s)")
    return made


def filled_in(args: argparse.Namespace) -> argparse.Namespace:
    """What was not said, as --quick decides. Few slots with --quick, so that a short load reaches the knee."""
    usual: dict[str, tuple[Any, Any]] = {"rates": ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], [1.0, 4.0, 16.0])}
    usual |= {"load_seconds": (60.0, 10.0), "input_len": (512, 32), "output_len": (128, 16)}
    usual |= {"max_model_len": (2048, 256), "max_num_seqs": (None, 4)}
    for name, (full, quick) in usual.items():
        if getattr(args, name) is None:
            setattr(args, name, quick if args.quick else full)
    return args


def settings(args: argparse.Namespace) -> list[tuple[str, str, dict[str, Any]]]:
    """Name, model and engine arguments: one server takes all rates, in rising order."""
    filled_in(args)
    rates = sorted(set(args.rates))
    return [(f"{rate:g} requests/s", args.model, engine_args(args)) for rate in rates]


def asked_at(rate: float, args: argparse.Namespace) -> dict[str, Any]:
    """The load at one rate. The number of requests is whole, so the load lasts a little more or less than asked."""
    names = ("input_len", "output_len", "ttft_ms", "tpot_ms", "seed")
    return {
        "request_rate": rate,
        "num_prompts": max(round(rate * args.load_seconds), 1),
        **{name: getattr(args, name) for name in names},
    }


def bench_command(model: str, port: int, asked: dict[str, Any], folder: str) -> list[str]:
    """`vllm bench serve` for one rate; checked against the parser of vLLM 0.26.0."""
    options = {
        "--model": model,
        "--host": "127.0.0.1",
        "--port": port,
        "--dataset-name": "random",
        "--random-input-len": asked["input_len"],
        "--random-output-len": asked["output_len"],
        "--random-range-ratio": 0.0,
        "--num-prompts": asked["num_prompts"],
        "--request-rate": asked["request_rate"],
        "--seed": asked["seed"],
        "--temperature": 0,
        "--num-warmups": WARM_UP_REQUESTS,
        "--percentile-metrics": "ttft,tpot,e2el",
        "--metric-percentiles": "90,99",
        "--result-dir": folder,
        "--result-filename": "result.json",
    }
    words = [str(word) for pair in options.items() for word in pair]
    words += ["--ignore-eos", "--disable-tqdm", "--save-result"]
    words += ["--goodput", f"ttft:{asked['ttft_ms']:g}", f"tpot:{asked['tpot_ms']:g}"]
    return vllm_command("bench", "serve", *words)


# --- the load ---
GAUGES = {"most_running": "vllm:num_requests_running", "most_waiting": "vllm:num_requests_waiting"}


def gauges(port: int) -> dict[str, float]:
    """Requests running and waiting in the server at this moment; empty when it does not say."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as reply:
            text = reply.read().decode()
    except (urllib.error.URLError, OSError):
        return {}
    found = {}
    for name, metric in GAUGES.items():
        values = re.findall(rf"^{metric}(?:{{.*?}})? (\S+)$", text, re.MULTILINE)
        found[name] = sum(map(float, values))
    return found


def last_words(group: Group) -> str:
    """The last lines of a program that failed, for the reader to judge."""
    lines = [line.rstrip() for line in group.tail if line.strip()][-3:]
    return "".join(f"\n  {line}" for line in lines)


def ended(process: subprocess.Popen[str], patience: float) -> bool:
    """Has it ended, after waiting so many seconds at most?"""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(patience)
    return process.returncode is not None


def load_once(server: Group, args: argparse.Namespace, asked: dict[str, Any]) -> dict[str, Any]:
    """One rate: vLLM's own client, to its end; returns its result file with the most that ran and waited."""
    most = dict.fromkeys(GAUGES, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        command = bench_command(args.model, args.port, asked, folder)
        with Group(command, log_of(args), args.debug) as client:
            while not ended(client.process, 0.25):
                if server.process.poll() is not None:
                    why = server.why_it_ended(args.model)
                    raise Stop(f"the server ended during the load: {why}; its last lines:{last_words(server)}")
                if any(WARM in line for line in client.tail):
                    most = {name: max(value, most[name]) for name, value in gauges(args.port).items()} or most
        file = Path(folder) / "result.json"
        if client.process.returncode or not file.is_file():
            raise Stop(f"vllm bench serve failed (log: {client.log}); its last lines:{last_words(client)}")
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if not found["completed"]:
        raise Stop(f"no request was answered (log: {client.log}); the client's last lines:{last_words(client)}")
    return found | most


# --- what came of it ---
MEASURED = {
    "request_throughput": "requests/s",
    "request_goodput": "requests/s",
    "output_throughput": "tokens/s",
    "duration": "s",
    **{f"{kind}_{name}_ms": "ms" for name in ("ttft", "tpot", "e2el") for kind in ("mean", "median", "p90", "p99")},
    "most_running": "requests",
    "most_waiting": "requests",
}


def judged(asked: dict[str, Any], found: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """One rate's setting for the result."""
    sent, answered = asked["num_prompts"], found["completed"]
    throughput = round(found["request_throughput"], 4)
    measured = {name: number(round(found[name], 3), unit) for name, unit in MEASURED.items()}
    measured |= {"completed": number(answered, "requests"), "failed": number(found["failed"], "requests")}
    measured |= {"total_input_tokens": number(found["total_input_tokens"], "tokens")}
    # Little's law: what is inside is what comes in a second, times how long it stays.
    measured["mean_in_flight"] = number(round(throughput * found["mean_e2el_ms"] / 1000, 2), "requests")
    checks = [
        check("requests answered", sent, answered, "requests"),
        check("tokens answered", answered * asked["output_len"], found["total_output_tokens"], "tokens"),
        check("requests/s answered, at most those sent", [0, asked["request_rate"]], throughput, "requests/s"),
    ]
    if most := given.get("max_num_seqs"):
        checks.append(check("most requests running, at most max_num_seqs", [0, most], int(found["most_running"])))
    bound = {"request_throughput": number([0, asked["request_rate"]], "requests/s")}
    return {"predicted": bound, "measured": measured, "checks": checks}


def point_of(one: dict[str, Any]) -> RatePoint:
    """A finished setting as a point of the sweep."""
    rates = {name: one["measured"][name]["value"] for name in ("request_throughput", "request_goodput")}
    counts = {name: one["measured"][name]["value"] for name in ("completed", "failed")}
    return RatePoint(one["asked"]["request_rate"], **rates, **counts)


def sweep_table(kept: list[dict[str, Any]]) -> str:
    """A row for each rate."""
    rows: list[tuple[str, ...]] = []
    for one in kept:
        value = {name: found["value"] for name, found in one["measured"].items()}
        point = point_of(one)
        rows.append(
            (
                f"{point.request_rate:g}",
                f"{point.request_throughput:.2f}",
                "yes" if point.kept_up else "no",
                f"{point.request_goodput:.2f}",
                f"{point.attainment:.0%}",
                *(f"{value[name]:,.0f}" for name in ("median_ttft_ms", "p99_ttft_ms")),
                *(f"{value[name]:,.1f}" for name in ("median_tpot_ms", "p99_tpot_ms")),
                f"{value['mean_in_flight']:,.1f}",
                f"{value['most_waiting']:,.0f}",
            )
        )
    head = ("sent/s", "answered/s", "kept up", "good/s", "in target", "TTFT p50", "p99 ms", "TPOT p50", "p99 ms")
    return table((*head, "in flight", "most waiting"), rows)


def verdict(kept: list[dict[str, Any]], args: argparse.Namespace) -> list[str]:
    """The knee and the goodput in words, and why they may not be what they seem."""
    points = [point_of(one) for one in kept]
    knee, best = find_knee(points), highest_attained(points)
    if knee.kept_up is None:
        said = [f"knee: below {knee.not_kept_up:g} requests/s, the lowest rate tried: pass lower --rates"]
    elif knee.not_kept_up is None:
        said = [f"knee: not reached at {knee.kept_up:g} requests/s, the highest rate tried: pass higher --rates"]
    else:
        said = [f"knee: the server keeps up with {knee.kept_up:g} requests/s and no longer with {knee.not_kept_up:g}"]
    targets = f"TTFT up to {args.ttft_ms:g} ms and TPOT up to {args.tpot_ms:g} ms"
    if best:
        said.append(f"{targets}: {best.attainment:.0%} of the requests at {best.request_rate:g} requests/s")
    else:
        said.append(f"{targets}: fewer than {ATTAINED:.0%} of the requests at any rate")
    answer_seconds = kept[0]["measured"]["p99_e2el_ms"]["value"] / 1000
    needed = load_seconds_needed(answer_seconds)
    if args.load_seconds < needed:
        said.append(
            f"a load of {args.load_seconds:g} s is too short to judge by: answers take {answer_seconds:.1f} s, so "
            f"pass --load-seconds {math.ceil(needed)} or more"
        )
    return said


# --- the run ---
def sweep(args: argparse.Namespace, record: Record, wanted: list[tuple[str, str, dict[str, Any]]]) -> None:
    """Start the server, load it with each rate that is not done, and end it."""
    rates, given = sorted(set(args.rates)), wanted[0][2]
    added: list[dict[str, Any]] = []
    used = used_mib()
    with start_server(args.model, given, args.port, log_of(args), args.debug) as server:
        seconds = wait_until_ready(server, args.model, args.port)
        print(f"the server answers after {seconds:.0f} s", flush=True)
        behind = 0
        for rate, (name, model, _) in zip(rates, wanted, strict=True):
            asked = asked_at(rate, args)
            one = record.done(name, model, given, asked)
            if not one:
                print(f"{name}: {asked['num_prompts']} requests over {asked['num_prompts'] / rate:.0f} s", flush=True)
                made = judged(asked, load_once(server, args, asked), given)
                made |= {"start_seconds": seconds, "startup_lines": list(server.lines)}
                one = record.add(name, model, given, asked, **made)
                added.append(one)
            behind = 0 if point_of(one).kept_up else behind + 1
            if behind == FAR_BEYOND:
                break
    wait_until_free(used)


def finished(
    args: argparse.Namespace, record: Record, wanted: list[tuple[str, str, dict[str, Any]]]
) -> tuple[list[dict[str, Any]], bool]:
    """The rates that are done, and whether the sweep is over."""
    rates = sorted(set(args.rates))
    kept = [
        one
        for rate, (name, model, given) in zip(rates, wanted, strict=True)
        if (one := record.done(name, model, given, asked_at(rate, args)))
    ]
    beyond = len(kept) >= FAR_BEYOND and not any(point_of(one).kept_up for one in kept[-FAR_BEYOND:])
    return kept, beyond or len(kept) == len(wanted)


def run(args: argparse.Namespace) -> int:
    wanted = settings(args)
    if args.input_len + args.output_len > args.max_model_len:
        raise Stop(
            f"{args.input_len} tokens of prompt and {args.output_len} of answer are more than --max-model-len "
            f"{args.max_model_len}: raise it, or lower --input-len or --output-len"
        )
    check_port(args.port)
    _, record = open_lab(LAB, LAB_VERSION, args, [args.model])
    over = finished(args, record, wanted)[1]
    if not over:
        print(
            f"\nopen loop, {args.input_len} tokens of prompt and {args.output_len} of answer, {args.load_seconds:g} s "
            f"at each rate\npredicted: answered as sent up to the knee, never more; each answer has all its tokens\n",
            flush=True,
        )
        sweep(args, record, wanted)
    kept, _ = finished(args, record, wanted)
    said = verdict(kept, args)
    kept[-1]["notes"] = said
    record.save()
    print(f"\n{sweep_table(kept)}\n\n" + "\n".join(said))
    print(f"\n{table(CHECKS_HEAD, checks_table(kept))}\n\nresult: {args.out}")
    print(f"the server: {serve_command(args.model, wanted[0][2])}")
    print(f"the client: {shown_client(args)}")
    return 0


def shown_client(args: argparse.Namespace) -> str:
    """The load at the lowest rate as a command that a reader can type."""
    words = bench_command(args.model, args.port, asked_at(min(args.rates), args), ".")
    return shlex.join(["vllm", *words[words.index("bench") :]])


TASKS: dict[str, Task] = {"box": read_box}


def main(argv: list[str] | None = None) -> int:
    return lab_main(LAB, parser(), run, TASKS, argv)


if __name__ == "__main__":
    sys.exit(main())
