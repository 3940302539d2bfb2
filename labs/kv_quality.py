# /// script
# requires-python = ">=3.10,<3.15"
# dependencies = ["vllm==0.26.0"]
# ///
"""Does an FP8 cache change the answers?

Question: The cache in FP8 holds twice the tokens. Which of the model's answers change, and can it still find a fact?
Card: One RTX 4090 with 24 GB. AutoDL, which rents cards by the hour and bills in yuan (¥), lists it as RTX 4090.
Minimum memory: 16 GB for the default model. Computed, not tried. Compute capability 8.9 or newer has FP8 units; from
    8.0 on a backend may convert, and where none does the lab says so.
Time: About 20 minutes the first time, a third of it the download of 5.6 GB; about 12 minutes after that. An estimate.
Cost: About ¥0.7 for the first run, at ¥1.88 an hour on AutoDL (quoted from one price table; look at today's price).
Platform: Linux with an NVIDIA driver, 580 or newer: vLLM 0.26.0 asks for torch 2.11.0, which PyPI has for CUDA 13.
Without NVIDIA: The CPU build sizes an FP8 cache and then cannot write to it, so there the FP8 half is skipped, and two
    BF16 settings that must be equal are compared instead. That proves the comparison, not FP8.
Measures: Where greedy answers first differ and how many tokens agree; how far log-probabilities of one forced text
    drift; which of the hidden codes are found, by length and depth.
Expect: Equal answers at first, then a fork: one token that was nearly a tie is enough. The control, BF16 on the
    attention backend that FP8 was given, forks too. Only what FP8 loses beyond the control is the format's.
Why: FP8 E4M3 keeps 3 bits behind the leading one where BF16 keeps 7, so keys and values move by up to 1/17 of
    themselves instead of 1/257. Attention averages over many of them; whether that is enough has to be measured.
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
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from io import TextIOWrapper
from math import ceil, exp
from pathlib import Path
from statistics import median
from typing import Any

LAB, LAB_VERSION = "kv_quality", 1


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


# --- generated from snippets/planner/blocks.py by make labs-sync: do not edit ---
# copied: NotPlannedError, _positive, num_gpu_blocks
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


# --- end of snippets/planner/blocks.py ---


# --- generated from snippets/token_agreement.py by make labs-sync: do not edit ---
# copied: all
@dataclass(frozen=True)
class Agreement:
    """Two answers to one prompt."""

    first_difference: int | None  # position, from 0, of the first token that differs; None where there is none
    equal_share: float  # of the positions of the longer answer, 0 to 1; what one has and the other lacks differs


def agreement(left: Sequence[int], right: Sequence[int]) -> Agreement:
    """Compare token ids; two empty answers are equal."""
    equal = [one == other for one, other in zip(left, right, strict=False)]
    longer = max(len(left), len(right))
    if False in equal:
        first: int | None = equal.index(False)
    else:
        first = len(equal) if len(equal) < longer else None
    return Agreement(first, sum(equal) / longer if longer else 1.0)


@dataclass(frozen=True)
class Drift:
    """Log-probabilities, natural logarithm, of the same forced tokens in two runs; differences are right minus left."""

    tokens: int
    mean_difference: float  # negative: the right run found the text less likely
    mean_absolute: float
    absolute_at_99: float  # 99 of 100 positions differ by at most this
    largest_absolute: float
    perplexity_left: float
    perplexity_right: float


def drift(left: Sequence[float], right: Sequence[float]) -> Drift:
    """Compare position by position; texts of different length are refused, because they are not the same text."""
    if len(left) != len(right) or not left:
        raise ValueError(f"{len(left)} and {len(right)} log-probabilities: both runs must score the same forced text")
    tokens = len(left)
    differences = [other - one for one, other in zip(left, right, strict=True)]
    sizes = sorted(abs(difference) for difference in differences)
    return Drift(
        tokens=tokens,
        mean_difference=sum(differences) / tokens,
        mean_absolute=sum(sizes) / tokens,
        absolute_at_99=sizes[ceil(0.99 * tokens) - 1],
        largest_absolute=sizes[-1],
        perplexity_left=exp(-sum(left) / tokens),
        perplexity_right=exp(-sum(right) / tokens),
    )


# --- end of snippets/token_agreement.py ---


# --- generated from snippets/haystack.py by make labs-sync: do not edit ---
# copied: all
WHO = "baker captain carpenter doctor farmer gardener librarian mechanic painter pilot sailor tailor teacher"
DID = "cleaned closed counted described drew found inspected measured mended moved opened repaired sold"
WHAT = "barrel basket boat bridge chair clock fence gate ladder lamp map mirror stove table wagon wheel"
WHEN = (
    "after the rain",
    "at noon",
    "before the market",
    "early in the morning",
    "in the first snow",
    "late in autumn",
    "on a quiet Sunday",
    "while the river rose",
)
PLACES = "airport archive bakery castle factory harbour hospital library lighthouse museum observatory station"


@dataclass(frozen=True)
class Needle:
    """A code that belongs to a place."""

    place: str
    code: str

    @property
    def sentence(self) -> str:
        return f"The access code of the {self.place} is {self.code}."

    @property
    def question(self) -> str:
        return f"What is the access code of the {self.place}? Answer with the number alone."


def filler(seed: int) -> Iterator[str]:
    """Sentences without end."""
    rng = random.Random(f"filler {seed}")
    while True:
        who, did, what = (rng.choice(words.split()) for words in (WHO, DID, WHAT))
        yield f"The {who} {did} the {what} {rng.choice(WHEN)}."


def needles(seed: int, count: int) -> list[Needle]:
    """Codes of five digits, each of another place; the first is the one to ask for."""
    places = PLACES.split()
    if not 1 <= count <= len(places):
        raise ValueError(f"{count} codes are asked for; there are places for 1 to {len(places)}")
    rng = random.Random(f"needles {seed}")
    places = rng.sample(places, count)
    codes = rng.sample(range(10_000, 100_000), count)
    return [Needle(place, str(code)) for place, code in zip(places, codes, strict=True)]


def hide(sentences: Sequence[str], asked: Needle, others: Sequence[Needle], depth: float) -> str:
    """One text with the asked code at `depth` (0 is its beginning, 1 its end) and the others evenly between."""
    if not 0 <= depth <= 1:
        raise ValueError(f"depth is {depth}; 0 is the beginning of the text and 1 its end")
    at = [(round(depth * len(sentences)), asked.sentence)]
    at += [(len(sentences) * (i + 1) // (len(others) + 1), other.sentence) for i, other in enumerate(others)]
    text = list(sentences)
    for place, sentence in sorted(at, key=lambda pair: pair[0], reverse=True):
        text.insert(place, sentence)
    return " ".join(text)


def is_found(answer: str, asked: Needle) -> bool:
    """Whether the first number of five digits in the answer is the asked code."""
    numbers = re.findall(r"(?<!\d)\d{5}(?!\d)", answer)
    return bool(numbers) and numbers[0] == asked.code


# --- end of snippets/haystack.py ---


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
OPENINGS = (
    "Explain in a short paragraph",
    "Describe for a beginner",
    "Write a short note about",
    "Tell me three facts about",
)
TOPICS = (
    "how a bicycle stays upright",
    "why bread rises",
    "what a database index does",
    "how vaccines work",
    "the water cycle",
    "why the sky is blue",
    "how a compiler works",
    "what inflation is",
    "how bees find flowers",
    "what a binary search does",
    "how glass is made",
    "why ships float",
    "what a prime number is",
    "how a camera lens works",
    "the history of paper",
    "how sleep helps memory",
)
OTHER_CODES = 3  # beside the one that is asked for, so that copying any code does not count as finding it
ROOM = 96  # tokens left for chat template, question and answer of a hidden code
MAX_CODE_TOKENS = 24


def numbers(text: str) -> list[int]:
    return [positive(part.strip()) for part in text.split(",")]


def depths(text: str) -> list[float]:
    found = [float(part) for part in text.split(",")]
    if not all(0 <= depth <= 1 for depth in found):
        raise argparse.ArgumentTypeError(f"{text!r}: a depth is 0 for the beginning of the text to 1 for its end")
    return found


def parser() -> argparse.ArgumentParser:
    made = new_parser(LAB, __doc__)
    # Log-probabilities of a prompt need logits for each of its tokens at once: 1,024 of them, not the server's 2,048.
    # 16 requests at once fit any of the caches, so that all engines form the same batches: another batch adds its sums
    # in another order, which alone can change a token.
    same_batches = {"max_num_batched_tokens": 1024, "max_num_seqs": 16}
    add_engine_flags(made, max_model_len=None, enable_prefix_caching=False, **same_batches)
    add = made.add_argument
    add("--max-model-len", type=positive, help="tokens of the longest request (default: what the prompts need)")
    add("--no-enable-prefix-caching", dest="enable_prefix_caching", action="store_false", help="always so in this lab")
    add("--kv-cache-dtype", default="auto", help=argparse.SUPPRESS)  # the lab sets it
    add("--prompts", type=positive, help="questions that are answered greedily (default: 32; with --quick 4)")
    add("--max-tokens", type=positive, help="tokens of each answer (default: 256; with --quick 24)")
    add("--texts", type=positive, help="texts that are scored (default: 4; with --quick 1)")
    add("--text-tokens", type=positive, help="tokens of each scored text (default: 4096; with --quick 256)")
    add("--lengths", type=numbers, help="prompts with a hidden code (default: 2048,8192,16384; with --quick 512)")
    add("--depths", type=depths, help="where it is hidden, 0 to 1 (default: 0,0.25,0.5,0.75,1; with --quick 0,0.5,1)")
    add("--repeats", type=positive, help="codes for each length and depth (default: 3; with --quick 1)")
    add("--seed", type=int, default=1, help="of every prompt (default: %(default)s)")
    return made


def asked_of(args: argparse.Namespace) -> dict[str, Any]:
    """What both runs of a comparison are asked, with the defaults filled in."""
    usual: dict[str, tuple[Any, Any]] = {
        "prompts": (32, 4),
        "max_tokens": (256, 24),
        "texts": (4, 1),
        "text_tokens": (4096, 256),
        "lengths": ([2048, 8192, 16384], [512]),
        "depths": ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.5, 1.0]),
        "repeats": (3, 1),
    }
    asked = {name: getattr(args, name) or quick_or_not[args.quick] for name, quick_or_not in usual.items()}
    if min(asked["lengths"]) <= 2 * ROOM:
        raise Stop(f"--lengths {min(asked['lengths'])} leaves no room for text: {2 * ROOM + 1} tokens at least")
    return {**asked, "seed": args.seed}


def longest(asked: dict[str, Any]) -> int:
    """Tokens of the longest request."""
    tokens = (512 + asked["max_tokens"], asked["text_tokens"] + 1, max(asked["lengths"]) + MAX_CODE_TOKENS)
    return int(max(tokens))


def questions(asked: dict[str, Any]) -> list[str]:
    """Questions from the seed, no two alike."""
    every = [f"{opening} {topic}." for opening in OPENINGS for topic in TOPICS]
    if asked["prompts"] > len(every):
        raise Stop(f"--prompts {asked['prompts']} is more than there are: {len(every)}")
    return random.Random(f"questions {asked['seed']}").sample(every, asked["prompts"])


# --- the engine's part ---
def answer_all(given: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """Task: answers, scores and hidden codes of one engine."""
    llm, seconds = start_engine(given)
    asked, tokenizer = given["asked"], llm.get_tokenizer()
    tell("say", f"  started in {seconds:.0f} s; {asked['prompts']} answers")
    answers = greedy_answers(llm, asked)
    tell("say", f"  scoring {asked['texts']} x {asked['text_tokens']:,} tokens")
    scores = [score(llm, text_of(tokenizer, asked, i)) for i in range(asked["texts"])]
    hidden = hidden_codes(tokenizer, asked)
    tell("say", f"  {len(hidden)} hidden codes")
    return {
        "start_seconds": seconds,
        **cache_sizes(llm),
        "answers": answers,
        "logprobs": scores,
        "codes": find_codes(llm, hidden),
    }


def greedy_answers(llm: Any, asked: dict[str, Any]) -> list[list[int]]:
    """Token ids of each answer."""
    from vllm import SamplingParams

    chats = [[{"role": "user", "content": question}] for question in questions(asked)]
    outputs = llm.chat(chats, SamplingParams(max_tokens=asked["max_tokens"], temperature=0), use_tqdm=False)
    return [list(output.outputs[0].token_ids) for output in outputs]


def text_of(tokenizer: Any, asked: dict[str, Any], number: int) -> list[int]:
    """The first tokens of a seeded text."""
    wanted, sentences = asked["text_tokens"], filler(1000 * asked["seed"] + number)
    ids: list[int] = []
    while len(ids) < wanted:
        ids += tokenizer.encode(f"{next(sentences)} ", add_special_tokens=False)
    return ids[:wanted]


def score(llm: Any, ids: list[int]) -> list[float]:
    """Log-probability of each token but the first, given those before it; all are read from the cache."""
    from vllm import SamplingParams

    params = SamplingParams(max_tokens=1, temperature=0, prompt_logprobs=0)
    (output,) = llm.generate([{"prompt_token_ids": ids}], params, use_tqdm=False)
    pairs = zip(ids[1:], output.prompt_logprobs[1:], strict=True)
    return [round(found[token].logprob, 6) for token, found in pairs]


@dataclass(frozen=True)
class Hidden:
    """A code in a text: how long, how deep, and the chat that asks for it."""

    length: int
    depth: float
    asked: Needle
    content: str


def hidden_codes(tokenizer: Any, asked: dict[str, Any]) -> list[Hidden]:
    """Every length and depth, `repeats` times, each with a text and codes of its own."""
    made = []
    cells = [(n, d, r) for n in asked["lengths"] for d in asked["depths"] for r in range(asked["repeats"])]
    for number, (length, depth, _) in enumerate(cells):
        seed = 1_000_000 * asked["seed"] + number
        wanted, *others = needles(seed, 1 + OTHER_CODES)
        codes = [needle.sentence for needle in (wanted, *others)]
        room = length - ROOM - sum(len(tokenizer.encode(f"{text} ", add_special_tokens=False)) for text in codes)
        sentences: list[str] = []
        for sentence in filler(seed):
            room -= len(tokenizer.encode(f"{sentence} ", add_special_tokens=False))
            if room < 0:
                break
            sentences.append(sentence)
        made.append(Hidden(length, depth, wanted, f"{hide(sentences, wanted, others, depth)}\n\n{wanted.question}"))
    return made


def find_codes(llm: Any, hidden: list[Hidden]) -> list[list[Any]]:
    """For each: length asked for, depth, tokens of the prompt, whether the code was found, and the answer."""
    from vllm import SamplingParams

    chats = [[{"role": "user", "content": one.content}] for one in hidden]
    outputs = llm.chat(chats, SamplingParams(max_tokens=MAX_CODE_TOKENS, temperature=0), use_tqdm=False)
    rows = []
    for one, output in zip(hidden, outputs, strict=True):
        text = output.outputs[0].text
        rows.append([one.length, one.depth, len(output.prompt_token_ids), is_found(text, one.asked), text.strip()])
    return rows


# --- the comparison ---
def raw_series(found: dict[str, Any]) -> dict[str, Any]:
    """What a run said, as the result file keeps it and later comparisons read it."""
    return {
        "answers": {
            "columns": [["prompt", ""], ["token", "id"]],
            "rows": [[i, token] for i, answer in enumerate(found["answers"]) for token in answer],
        },
        "logprobs": {
            "columns": [["text", ""], ["position", "tokens"], ["logprob", "nat"]],
            "rows": [[i, p, value] for i, text in enumerate(found["logprobs"]) for p, value in enumerate(text, 1)],
        },
        "codes": {
            "columns": [["length", "tokens"], ["depth", ""], ["prompt", "tokens"], ["found", ""], ["answer", ""]],
            "rows": found["codes"],
        },
    }


def answers_in(setting: dict[str, Any]) -> list[list[int]]:
    """Token ids of each answer; one that is empty has no rows."""
    made: list[list[int]] = [[] for _ in range(setting["asked"]["prompts"])]
    for prompt, token in setting["series"]["answers"]["rows"]:
        made[prompt].append(token)
    return made


def logprobs_in(setting: dict[str, Any]) -> list[tuple[int, float]]:
    """Position and log-probability of every scored token of every text."""
    return [(position, value) for _, position, value in setting["series"]["logprobs"]["rows"]]


def compare(reference: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """How far a setting lies from the reference, as numbers with units."""
    agreed = [agreement(*pair) for pair in zip(answers_in(reference), answers_in(other), strict=True)]
    forks = [one.first_difference for one in agreed if one.first_difference is not None]
    left, right = logprobs_in(reference), logprobs_in(other)
    whole = drift([value for _, value in left], [value for _, value in right])
    half = reference["asked"]["text_tokens"] // 2
    early, late = (
        drift(*([value for position, value in side if (position > half) is second] for side in (left, right)))
        for second in (False, True)
    )
    pairs = [
        (one[3], two[3])
        for one, two in zip(reference["series"]["codes"]["rows"], other["series"]["codes"]["rows"], strict=True)
    ]
    return {
        "answers_equal": number(len(agreed) - len(forks), "answers"),
        "answers_compared": number(len(agreed), "answers"),
        "first_difference_median": number(median(forks) if forks else None, "tokens"),
        "tokens_equal": number(round(sum(one.equal_share for one in agreed) / len(agreed), 4), "share"),
        "logprob_tokens": number(whole.tokens, "tokens"),
        "logprob_mean_difference": number(round(whole.mean_difference, 6), "nat"),
        "logprob_mean_absolute": number(round(whole.mean_absolute, 6), "nat"),
        "logprob_mean_absolute_first_half": number(round(early.mean_absolute, 6), "nat"),
        "logprob_mean_absolute_second_half": number(round(late.mean_absolute, 6), "nat"),
        "logprob_absolute_at_99": number(round(whole.absolute_at_99, 6), "nat"),
        "logprob_largest": number(round(whole.largest_absolute, 6), "nat"),
        "perplexity_reference": number(round(whole.perplexity_left, 4), ""),
        "perplexity": number(round(whole.perplexity_right, 4), ""),
        "codes_found_reference": number(sum(one for one, _ in pairs), "codes"),
        "codes_found": number(sum(two for _, two in pairs), "codes"),
        "codes_lost": number(sum(one and not two for one, two in pairs), "codes"),
        "codes_won": number(sum(two and not one for one, two in pairs), "codes"),
    }


LABELS = {
    "answers_equal": "answers equal to the end",
    "first_difference_median": "first difference, median of the others, at token",
    "tokens_equal": "share of equal tokens",
    "logprob_mean_absolute": "log-probability, mean absolute drift, nat",
    "logprob_mean_absolute_first_half": "  first half of the text",
    "logprob_mean_absolute_second_half": "  second half of the text",
    "logprob_absolute_at_99": "  99 of 100 tokens drift at most",
    "logprob_mean_difference": "  mean drift with its sign",
    "perplexity": "perplexity of the forced text",
    "codes_found": "hidden codes found",
    "codes_lost": "  found by the reference and lost here",
    "codes_won": "  found here alone",
}


def comparison_table(compared: dict[str, dict[str, Any]]) -> str:
    """One column a setting; the reference's own values stand in the text below the table."""

    def show(value: Any) -> str:
        return "-" if value is None else f"{value:,.4f}" if isinstance(value, float) else f"{value:,}"

    rows: list[tuple[str, ...]] = [
        (label, *(show(measured[key]["value"]) for measured in compared.values())) for key, label in LABELS.items()
    ]
    return table(("against BF16", *compared), rows)


def codes_table(settings: dict[str, dict[str, Any]]) -> str:
    """Codes found, one row for each length and depth, one column a setting."""
    cells: dict[tuple[int, float], dict[str, list[bool]]] = {}
    for name, one in settings.items():
        for length, depth, _, found, _ in one["series"]["codes"]["rows"]:
            cells.setdefault((length, depth), {}).setdefault(name, []).append(found)
    rows: list[tuple[str, ...]] = [
        (f"{length:,} tokens, depth {depth:.2f}", *(f"{sum(found)} of {len(found)}" for found in by_name.values()))
        for (length, depth), by_name in cells.items()
    ]
    return table(("hidden codes found", *settings), rows)


CONTROL = "BF16 control"
NO_FP8 = "the CPU build sizes an FP8 KV cache but crashes when it writes to it; on a card this setting runs"


# --- the run ---
def checks_of(found: dict[str, Any], shape: ModelConfig, asked: dict[str, Any]) -> list[dict[str, Any]]:
    """What must hold of every engine, whatever it answers."""
    page_size = kv_bytes_per_token(shape) * found["block_size"] // shape.num_layers
    blocks = num_gpu_blocks(found["available_bytes"], page_size, shape.num_layers)
    scored = asked["texts"] * (asked["text_tokens"] - 1)
    too_long = sum(prompt > length for length, _, prompt, *_ in found["codes"])
    return [
        check("blocks", blocks, found["num_gpu_blocks"], "blocks"),
        check("tokens scored", scored, sum(map(len, found["logprobs"])), "tokens"),
        check("prompts with a code that are longer than asked", 0, too_long, "prompts"),
    ]


def equal_checks(compared: dict[str, Any]) -> list[dict[str, Any]]:
    """What must hold of two settings that differ in nothing that is computed."""
    return [
        check("answers equal", compared["answers_compared"]["value"], compared["answers_equal"]["value"], "answers"),
        check("largest drift of a log-probability", 0.0, compared["logprob_largest"]["value"], "nat"),
        check("codes found", compared["codes_found_reference"]["value"], compared["codes_found"]["value"], "codes"),
    ]


def waiting(found: dict[str, Any], given: dict[str, Any]) -> list[str]:
    """A note where not all requests fit at once, because then this engine's batches are not those of the others."""
    requests, longest_request, room = given["max_num_seqs"], given["max_model_len"], found["kv_cache_size_tokens"]
    if requests * longest_request <= room:
        return []
    return [
        f"{requests} requests of {longest_request:,} tokens do not fit {room:,} tokens of cache: batches may differ "
        "between settings; lower --max-num-seqs or --lengths"
    ]


def backend_of(setting: dict[str, Any]) -> str:
    return str(next(note for note in setting["notes"] if note.startswith("attention backend: "))).partition(": ")[2]


def control_args(args: argparse.Namespace, device: str, done: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """BF16 once more: on FP8's attention backend where that is another one, else with blocks of another size."""
    if "FP8" in done and backend_of(done["FP8"]) != backend_of(done["BF16"]):
        return engine_args(args, dtype="bfloat16", attention_backend=backend_of(done["FP8"]))
    size = 64 if device == "cpu" else 32  # the CPU build takes 128 by itself and a card 16
    return engine_args(args, dtype="bfloat16", block_size=size)


def settings(args: argparse.Namespace) -> list[tuple[str, str, dict[str, Any]]]:
    """The two engines that are compared; the control's backend is known once FP8 has one."""
    asked = asked_of(args)
    questions(asked)  # stops here when there are too few
    args.max_model_len = args.max_model_len or longest(asked)
    if args.max_model_len < longest(asked):
        raise Stop(f"--max-model-len {args.max_model_len} is too short: {longest(asked)} tokens, or leave it out")
    if args.kv_cache_dtype != "auto":
        raise Stop("this lab sets --kv-cache-dtype itself, BF16 and FP8 in turn: leave it out")
    bf16 = engine_args(args, dtype="bfloat16")
    return [("BF16", args.model, bf16), ("FP8", args.model, bf16 | {"kv_cache_dtype": "fp8"})]


def run(args: argparse.Namespace) -> int:
    (_, _, bf16), (_, _, fp8_args) = settings(args)
    asked = asked_of(args)
    box, record = open_lab(LAB, LAB_VERSION, args, [args.model])
    device, config = box["card"]["device"], box["configs"][args.model]
    two_bytes, one_byte = (kv_bytes_per_token(shape_of(args.model, config, size)) for size in (2, 1))
    print(
        f"\npredicted before the start, on {box['card']['name']}: {two_bytes:,} bytes of cache a token in BF16 and "
        f"{one_byte:,} in FP8;\n"
        "a number from 1/64 to 448 in size moves by at most 1/257 of itself in BF16, by 1/17 in FP8",
        flush=True,
    )

    def measured(name: str, given: dict[str, Any], against: dict[str, Any] | None = None) -> dict[str, Any]:
        if done := record.done(name, args.model, given, asked):
            return done
        print(f"\n{name}: {serve_command(args.model, given)}", flush=True)
        task = {"model": args.model, "engine_args": given, "debug": args.debug, "asked": asked}
        found, lines = ask_child("answer_all", task, log_of(args), silent)
        shape = shape_of(args.model, config, KV_DTYPE_BYTES.get(given["kv_cache_dtype"], 2))
        compared = compare(against, {"asked": asked, "series": raw_series(found)}) if against else {}
        equal = equal_checks(compared) if against and name == CONTROL and device == "cpu" else []
        return record.add(
            name,
            args.model,
            given,
            asked,
            shape=asdict(shape),
            start_seconds=found["start_seconds"],
            startup_lines=lines,
            predicted={"bytes_a_token": number(kv_bytes_per_token(shape), "bytes")},
            measured={"tokens": number(found["kv_cache_size_tokens"], "tokens"), **compared},
            series=raw_series(found),
            checks=[*checks_of(found, shape, asked), *equal],
            notes=[f"attention backend: {found['attention_backend']}", *waiting(found, given)],
        )

    done = {"BF16": measured("BF16", bf16)}
    if device == "cpu":
        record.add("FP8", args.model, fp8_args, asked, skipped=NO_FP8)
        print(f"\nFP8: skipped, {NO_FP8}")
    else:
        done["FP8"] = measured("FP8", fp8_args, done["BF16"])
    if device == "cpu" or not args.quick:  # --quick starts two engines at most
        done[CONTROL] = measured(CONTROL, control_args(args, device, done), done["BF16"])
    report(record, done)
    print(f"\nresult: {args.out}")
    return 0


def report(record: Record, done: dict[str, dict[str, Any]]) -> None:
    """The tables at the end."""
    compared = {name: one["measured"] for name, one in done.items() if name != "BF16"}
    print(f"\n{comparison_table(compared)}\n\n{codes_table(done)}\n")
    for name, one in done.items():
        print(f"{name}: {one['measured']['tokens']['value']:,} tokens of cache, {', '.join(one['notes'])}")
    if CONTROL not in done:
        print("without the control (--quick) nobody can say how much of this another kernel alone would change")
    print(
        f"\n{table(('setting', 'invariant', 'predicted', 'measured', 'equal'), checks_table(record.data['settings']))}"
    )


TASKS: dict[str, Task] = {"box": read_box, "answer_all": answer_all}


def main(argv: list[str] | None = None) -> int:
    return lab_main(LAB, parser(), run, TASKS, argv)


if __name__ == "__main__":
    sys.exit(main())
