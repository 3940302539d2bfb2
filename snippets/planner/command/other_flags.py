"""The rest of `vllm serve`'s flags: most leave memory alone and are passed over, some would make the plan wrong."""

from __future__ import annotations

import argparse
import json
import pkgutil
from collections.abc import Sequence
from functools import cache
from typing import Any

# They change what is cached or how it is counted: with one of these the exact figures would be of another server.
CHANGES_THE_CACHE = {
    "--config": "it holds further flags; write them on the line",
    "--hf-overrides": "it changes config.json; change the file instead",
    "--hf-config-path": "it names another config.json; give that one",
    "--kv-cache-dtype-skip-layers": "some layers keep another dtype",
    "--disable-sliding-window": "it shortens the context to the window",
    "--prefill-context-parallel-size": "it spreads one prompt over cards",
    "--kv-transfer-config": "a connector can turn the hybrid cache manager off",
    "--kv-sharing-fast-prefill": "it changes what the last layers see",
    "--performance-mode": "it changes the scheduler's defaults; type --max-num-seqs and --max-num-batched-tokens",
    "--max-num-scheduled-tokens": "it changes the tokens in flight",
    "--runner": "another runner caches in other ways",
    "--convert": "a pooling model caches in other ways",
    "--model-impl": "another implementation has other layers",
    "--attention-config": "use --attention-backend",
    "--diffusion-config": "a diffusion model has no such cache",
    "--mamba-backend": "it can change the recurrent state's form",
    "--language-model-only": "it drops the vision tower's weights",
}
# They change weights or working memory: harmless where the memory left for the cache is given.
CHANGES_THE_BUDGET = {
    "--cpu-offload-gb": "part of the weights stays in the computer's memory",
    "--cpu-offload-params": "part of the weights stays in the computer's memory",
    "--offload-group-size": "part of the weights stays in the computer's memory",
    "--enable-lora": "adapters take memory",
    "--lora-modules": "adapters take memory",
    "--enable-dbo": "two half batches have their own buffers",
    "--ubatch-size": "the parts of a batch have their own buffers",
    "--enable-eplb": "experts are held more than once",
    "--mm-ipc-gpu-memory-gb": "decoded images take part of the cache's memory",
    "--quantization-config": "the weights are stored in another form",
    "--load-format": "the weights may be stored in another form",
    "--enable-prompt-embeds": "prompts need buffers of their own",
}
# They move the estimate a little; a note says so.
MOVES_THE_ESTIMATE = (
    *("--compilation-config", "--optimization-level", "--cudagraph-capture-sizes", "--max-cudagraph-capture-size"),
    *("--limit-mm-per-prompt", "--mm-processor-kwargs", "--skip-mm-profiling", "--mm-encoder-tp-mode"),
    *("--moe-backend", "--linear-backend", "--all2all-backend", "--disable-custom-all-reduce", "--max-logprobs"),
    *("--enable-sleep-mode", "--enable-cumem-allocator", "--kernel-config"),
)
# Values that say what is so anyway.
HARMLESS = {
    "--performance-mode": ("balanced",),
    "--prefill-context-parallel-size": ("1",),
    "--runner": ("auto", "generate"),
    "--convert": ("auto", "none"),
    "--model-impl": ("auto", "vllm"),
    "--mamba-backend": ("triton",),
    "--load-format": ("auto", "safetensors", "dummy", "runai_streamer", "fastsafetensors"),
    "--cpu-offload-gb": ("0",),
    "--offload-group-size": ("0",),
    "--mm-ipc-gpu-memory-gb": ("0",),
    "--ubatch-size": ("0",),
    "--hf-overrides": ("{}",),
}
SWITCHED_OFF_IS_HARMLESS = "--no-"


@cache
def vllm_flags() -> tuple[tuple[tuple[str, ...], str], ...]:
    """Every option of `vllm serve`: its spellings and how many values it takes."""
    raw = pkgutil.get_data("snippets.planner.command", "vllm_flags.json")  # works from inside a zip too
    if raw is None:
        raise FileNotFoundError("snippets/planner/command/vllm_flags.json")
    return tuple((tuple(row[:-1]), row[-1]) for row in json.loads(raw)["flags"])


class _Remember(argparse.Action):
    """Keeps the spelling and the values of a flag the plan does not read."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        seen = getattr(namespace, "others", None) or []
        words = [values] if isinstance(values, str) else [str(value) for value in values or ()]
        namespace.others = [*seen, (self.option_strings[0], option_string or "", tuple(words))]


def add_other_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of `vllm serve` that the parser does not know yet, hidden from its help."""
    known = set(parser._option_string_actions)
    for spellings, takes in vllm_flags():
        if known.isdisjoint(spellings):
            nargs = {"one": None, "none": 0, "many": "+", "optional": "?"}[takes]
            parser.add_argument(*spellings, action=_Remember, nargs=nargs, dest="others", help=argparse.SUPPRESS)


def sort_others(others: Sequence[tuple[str, str, tuple[str, ...]]], memory_given: bool) -> tuple[list[str], list[str]]:
    """(notes, refusals) for the flags that stood on the line beside those the plan reads."""
    passed, moved, refused = [], [], []
    for name, spelled, values in others:
        reason = CHANGES_THE_CACHE.get(name) or ("" if memory_given else CHANGES_THE_BUDGET.get(name, ""))
        harmless = spelled.startswith(SWITCHED_OFF_IS_HARMLESS) or (values and values[0] in HARMLESS.get(name, ()))
        if reason and not harmless:
            mend = "" if name in CHANGES_THE_CACHE else ", or give --available-kv-gib"
            refused.append(f"{spelled} is not planned for: {reason}. Leave it out{mend}.")
        elif name in MOVES_THE_ESTIMATE and not memory_given:
            moved.append(spelled)
        else:
            passed.append(spelled)
    notes = []
    if passed:
        notes.append(f"Not in the command, since memory does not depend on them: {', '.join(passed)}.")
    if moved:
        notes.append(f"Not in the command, though the estimate may move a little with them: {', '.join(moved)}.")
    return notes, refused
