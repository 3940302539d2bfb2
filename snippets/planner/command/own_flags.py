"""The flags that enter the plan: vLLM's, under its names, and the planner's own."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from typing import NamedTuple

from snippets.planner.answers.layouts import MOST_CARDS
from snippets.planner.command import numbers
from snippets.planner.command.numbers import at_most, gib, human_readable_int, shown, whole
from snippets.planner.engine_args import EngineArgs

CACHE_DTYPES = (
    *("auto", "bfloat16", "float16", "fp8", "fp8_ds_mla", "fp8_e4m3", "fp8_e5m2", "fp8_inc", "fp8_per_token_head"),
    *("int4_per_token_head", "int8_per_token_head", "nvfp4"),
    *("turboquant_3bit_nc", "turboquant_4bit_nc", "turboquant_k3v4_nc", "turboquant_k8v4"),
)  # config/cache.py:19
DTYPES = ("auto", "bfloat16", "float", "float16", "float32", "half")  # config/model.py:120
STATE_DTYPES = ("auto", "bfloat16", "float16", "float32")  # config/cache.py MambaDType
MAMBA_MODES = ("align", "all", "none")
USAGES = ("server", "llm")


def _one_of(choices: tuple[str, ...]) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in choices:
            raise argparse.ArgumentTypeError(f"{shown(value)} is not one of {', '.join(choices)}")
        return value

    return read


def _json_object(value: str) -> dict[str, object]:
    try:
        fields = json.loads(value)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"{shown(value)} is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise argparse.ArgumentTypeError(f"{shown(value)} is not a JSON object in braces")
    return {str(key).replace("-", "_"): item for key, item in fields.items()}


class Flag(NamedTuple):
    """One flag of vLLM that changes memory."""

    options: tuple[str, ...]
    read: Callable[[str], object] | None  # None: a switch
    help: str

    @property
    def field(self) -> str:
        """Its name in EngineArgs."""
        return self.options[0].removeprefix("--").replace("-", "_")


LENGTH = numbers.max_model_len
BLOCKS = at_most(numbers.MOST_BLOCKS, whole)
RANKS = at_most(numbers.MOST_RANKS, whole)
BLOCK = at_most(numbers.MOST_TOKENS_PER_BLOCK, whole)
BATCHED = at_most(numbers.MOST_BATCHED_TOKENS, human_readable_int)
SIZE = at_most(numbers.MOST_BYTES, human_readable_int)

# In the order a finished command shows them. A switch also has its --no- form.
ENGINE_FLAGS = (
    Flag(("--max-model-len",), LENGTH, "longest context in tokens: 8192, 8k (8,000), 8K (8,192) or auto"),
    Flag(("--gpu-memory-utilization",), numbers.number, "share of the card that vLLM takes (default 0.92)"),
    Flag(("--kv-cache-memory-bytes",), SIZE, "bytes for the KV cache, instead of the share: 8G is 8 GiB"),
    Flag(("--max-num-seqs",), at_most(numbers.MOST_SEQS, whole), "most requests in one step"),
    Flag(("--max-num-batched-tokens",), BATCHED, "most tokens in one step"),
    Flag(("--block-size",), BLOCK, "tokens in one block"),
    Flag(("--kv-cache-dtype",), _one_of(CACHE_DTYPES), "how keys and values are stored: " + ", ".join(CACHE_DTYPES)),
    Flag(("--dtype",), _one_of(DTYPES), "of weights and activations: " + ", ".join(DTYPES)),
    Flag(("--quantization", "-q"), str, "how the weights are stored, where config.json does not say"),
    Flag(("--tensor-parallel-size", "-tp"), RANKS, "cards that share every layer"),
    Flag(("--pipeline-parallel-size", "-pp"), RANKS, "stages of layers, one after another"),
    Flag(("--data-parallel-size", "-dp"), RANKS, "copies of the model"),
    Flag(("--enable-expert-parallel", "-ep"), None, "split experts between cards, not inside them"),
    Flag(("--decode-context-parallel-size", "-dcp"), RANKS, "cards among which the tokens of one request are spread"),
    Flag(("--enable-prefix-caching",), None, "keep blocks of finished requests for reuse"),
    Flag(("--enable-chunked-prefill",), None, "split long prompts over steps"),
    Flag(("--disable-hybrid-kv-cache-manager",), None, "treat window layers as full attention"),
    Flag(("--num-gpu-blocks-override",), BLOCKS, "use this number of blocks, whatever the memory"),
    Flag(("--enforce-eager",), None, "no CUDA graphs"),
    Flag(("--async-scheduling",), None, "prepare the next step while this one runs"),
    Flag(("--mamba-cache-mode",), _one_of(MAMBA_MODES), "which recurrent states are kept: " + ", ".join(MAMBA_MODES)),
    Flag(("--mamba-block-size",), BLOCK, "tokens between kept recurrent states"),
    Flag(("--mamba-cache-dtype",), _one_of(STATE_DTYPES), "of convolution states: " + ", ".join(STATE_DTYPES)),
    Flag(("--mamba-ssm-cache-dtype",), _one_of(STATE_DTYPES), "of recurrent states: " + ", ".join(STATE_DTYPES)),
    Flag(("--attention-backend",), str, "FLASH_ATTN, FLASHINFER, TRITON_ATTN, FLASHMLA, …"),
)
SPECULATIVE_FLAGS = (
    Flag(("--speculative-config", "-sc"), _json_object, 'JSON: {"method": "eagle3", "num_speculative_tokens": 3, …}'),
    Flag(("--spec-method",), str, "its method alone"),
    Flag(("--spec-model",), str, "its drafter alone: a path to a config.json or a catalog key"),
    Flag(("--spec-tokens",), at_most(numbers.MOST_DRAFTED_TOKENS, whole), "its number of drafted tokens alone"),
)


def add_own_flags(parser: argparse.ArgumentParser) -> None:
    """Everything the plan reads. Values absent from the line stay None, so that EngineArgs' defaults hold."""
    own = parser.add_argument_group("what to plan for")
    own.add_argument("--gpu", metavar="KEY", help="a card of the catalog, such as rtx-4090 (see --list-gpus)")
    own.add_argument("--total-gib", type=gib, metavar="X", help="memory of the card as the driver reports it")
    own.add_argument("--free-gib", type=gib, metavar="X", help="what of it is free at start (default: an empty card's)")
    own.add_argument("--weights-gib", type=gib, metavar="X", help="weights on one card, as 'Model loading took' says")
    own.add_argument("--available-kv-gib", type=gib, metavar="X", help="'Available KV cache memory' of a start-up log")
    own.add_argument("--usage", type=_one_of(USAGES), help="server (vllm serve) or llm (LLM()): their defaults differ")
    own.add_argument("--vllm-version", metavar="V", help="whose log lines to print (default 0.26.0)")
    out = parser.add_argument_group("what to print (default: a short report)")
    shown = out.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="the whole plan as JSON")
    shown.add_argument("--markdown", action="store_true", help="as a Markdown page")
    shown.add_argument("--csv", action="store_true", help="each number with its formula, as a table for a spreadsheet")
    shown.add_argument("--explain", action="store_true", help="each number with its formula and vLLM's source line")
    n_cards = numbers.between(1, MOST_CARDS, whole)
    out.add_argument("--layouts", type=n_cards, metavar="N", help="every way to lay it out on N of them, 1 to 64")
    out.add_argument("--list-models", action="store_true", help="the models of the catalog")
    out.add_argument("--list-gpus", action="store_true", help="the cards of the catalog")
    out.add_argument("--specs", action="store_true", help="plan layer specs, one JSON object a line, from stdin")
    engine = parser.add_argument_group("vLLM's flags that change memory")
    for flag in (*ENGINE_FLAGS, *SPECULATIVE_FLAGS):
        if flag.read is None:
            action: type[argparse.Action] = argparse.BooleanOptionalAction
            engine.add_argument(*flag.options, action=action, default=None, help=flag.help)
        else:
            name = flag.field.rsplit("_", 1)[-1].upper()
            engine.add_argument(*flag.options, type=flag.read, metavar=name, help=flag.help)


def engine_args(values: argparse.Namespace, **more: object) -> EngineArgs:
    """EngineArgs of the flags that stood on the line."""
    given = {flag.field: getattr(values, flag.field) for flag in ENGINE_FLAGS}
    given |= {"usage": values.usage, **more}
    return EngineArgs(**{name: value for name, value in given.items() if value is not None})
