"""What can be set: the question's story first, the rare settings folded, the rest beside what it changes."""

from __future__ import annotations

from collections.abc import Mapping

from snippets import baseline
from snippets.planner.answers import usual_traffic
from snippets.planner.engine_args import EngineArgs
from snippets.planner.settings.lengths import parse_human_int, parse_max_model_len
from snippets.widgets.declare import Check, Choice, Group, Number, Option, Text, Word
from snippets.widgets.planning import options
from snippets.widgets.planning.own_config import NOT_IN_LINK, check_config, in_link

MOST_CONFIG_BYTES = 1_000_000
MOST_TOKENS = 16 * 2**20
POWERS = tuple(2**n for n in range(8, 25))
LENGTH_STOPS = tuple(str(n) for n in POWERS)

WORDS = {
    "paste": "Paste a config.json here,\nor drop the file.",
    "too large": "A config.json is below 1 MB; this is larger. The weights (.safetensors) are not needed.",
    "paste help": "Read on this page; nothing is sent anywhere.",
    "draft help": "The drafter's own config.json.",
    "length help": "As vLLM reads it: 8192, 8k (8,000), 8K (8,192), or auto for what fits.",
    "bytes help": "Sets the cache outright: 8G is 8 GiB. vLLM then looks at no share of the card.",
    "given weights help": "“Model loading took … GiB” of a start-up log, on one card. Empty: counted from the config.",
    "given kv help": "“Available KV cache memory: … GiB” of a log, on one card. Empty: estimated.",
    "deviation help": "Standard deviation; 0 makes all alike.",
    "prefix help": "The same system prompt in front of every prompt.",
    "price help": "For one card, in any currency. It is sent nowhere, but a link you copy holds it.",
    "load help": "Empty: what your traffic makes of it, from “How many really run”.",
    "cards help": "Every layout of so many cards is tried. Empty: as many as above.",
}
BYTES = ("1G", "2G", "4G", "8G", "16G", "32G", "64G")


def check_length(typed: str) -> None:
    """--max-model-len, or nothing. Raises ValueError."""
    parse_max_model_len(typed)


def check_bytes(typed: str) -> None:
    """--kv-cache-memory-bytes, or nothing. Raises ValueError."""
    if typed and parse_human_int(typed, "kv_cache_memory_bytes") < 1:
        raise ValueError("kv_cache_memory_bytes must be 1 or more")


def _config(name: str, label: str, help_: str, chosen_by: Mapping[str, str] | None = None) -> Text:
    return Text(
        name,
        label,
        check_config,
        MOST_CONFIG_BYTES,
        WORDS["too large"],
        placeholder=WORDS["paste"],
        help=help_,
        in_link=in_link,
        not_in_link=NOT_IN_LINK,
        chosen_by=chosen_by,
    )


def _three_states(name: str) -> Choice:
    return Choice(name, name, "auto", (Option("auto", "auto"), Option("on", "on"), Option("off", "off")))


def _optional(name: str, most: int, unit: str = "", stops: tuple[int, ...] = (), help_: str = "") -> Number:
    return Number(name, name, None, 1, most, unit, optional=True, slider=bool(stops), stops=stops, help=help_)


def _size(name: str, most: int = 64) -> Number:
    return Number(name, name, 1, 1, most, stops=tuple(2**n for n in range(most.bit_length())))


def _tokens(name: str, label: str, default: int, least: int = 1, help_: str = "", section_stops: bool = True) -> Number:
    stops = tuple(n for n in POWERS if n <= 2**17) if section_stops else ()
    return Number(name, label, default, least, MOST_TOKENS, "tokens", slider=section_stops, stops=stops, help=help_)


GROUPS = (
    Group(
        "Model and cards",
        (
            Choice("model", "Model", "qwen2.5-7b", options.models(), style="select"),
            _config("config", "config.json", WORDS["paste help"], {"model": options.PASTE}),
            Choice("gpu", "Card", "rtx-4090", options.cards(), style="select"),
            Number("gpu_gib", "Memory of the card", 24, 1, 1024, "GiB", whole=False, slider=False),
            _size("tensor_parallel_size"),
        ),
    ),
    Group(
        "Requests",
        (
            Word(
                "max_model_len",
                "max_model_len",
                str(baseline.MAX_MODEL_LEN),
                check_length,
                stops=LENGTH_STOPS,
                help=WORDS["length help"],
            ),
            Choice("kv_cache_dtype", "kv_cache_dtype", "auto", options.kv_cache_dtypes(), style="select"),
            _optional("max_num_seqs", 65536, stops=tuple(2**n for n in range(13))),
        ),
    ),
    Group(
        "Memory",
        (
            Number(
                "gpu_memory_utilization",
                "gpu_memory_utilization",
                EngineArgs.gpu_memory_utilization,
                0.01,
                1,
                whole=False,
                stops=tuple(n / 100 for n in range(30, 101)),
            ),
            Check("enforce_eager", "enforce_eager"),
        ),
    ),
    Group(
        "More of vLLM's settings",
        (
            _optional("max_num_batched_tokens", 2**21, "tokens"),
            _optional("block_size", 8192, "tokens"),
            Choice(
                "dtype",
                "dtype",
                "auto",
                tuple(Option(name, name) for name in ("auto", "bfloat16", "float16", "float32")),
                style="select",
            ),
            _three_states("enable_prefix_caching"),
            Check("disable_hybrid_kv_cache_manager", "disable_hybrid_kv_cache_manager"),
            Word(
                "kv_cache_memory_bytes",
                "kv_cache_memory_bytes",
                "",
                check_bytes,
                help=WORDS["bytes help"],
            ),
            _optional("num_gpu_blocks_override", 10**9, "blocks"),
        ),
        folded=True,
    ),
    Group(
        "More parallelism",
        (
            _size("pipeline_parallel_size", 32),
            _size("data_parallel_size", 32),
            _size("decode_context_parallel_size", 16),
            Check("enable_expert_parallel", "enable_expert_parallel"),
        ),
        folded=True,
    ),
    Group(
        "Speculative decoding",
        (
            Choice("method", "method", options.NONE, options.methods(), style="select"),
            Number("num_speculative_tokens", "num_speculative_tokens", 1, 1, 32),
            Choice("drafter", "Drafter", "qwen2.5-0.5b", options.drafters(), style="select"),
            _config("draft_config", "Drafter's config.json", WORDS["draft help"]),
        ),
        folded=True,
    ),
    Group(
        "What your log says",
        (
            Number(
                "weights_gib",
                "Weights",
                None,
                0.001,
                4096,
                "GiB",
                whole=False,
                optional=True,
                slider=False,
                help=WORDS["given weights help"],
            ),
            Number(
                "available_gib",
                "Available for the cache",
                None,
                0,
                4096,
                "GiB",
                whole=False,
                optional=True,
                slider=False,
                help=WORDS["given kv help"],
            ),
        ),
        folded=True,
    ),
    Group(
        "Traffic",
        (
            _tokens("prompt_mean", "Prompt, mean", usual_traffic.PROMPT_TOKENS),
            _tokens(
                "prompt_deviation",
                "Prompt, spread",
                usual_traffic.PROMPT_DEVIATION,
                0,
                WORDS["deviation help"],
                section_stops=False,
            ),
            _tokens("output_mean", "Answer, mean", usual_traffic.OUTPUT_TOKENS),
            _tokens(
                "output_deviation",
                "Answer, spread",
                usual_traffic.OUTPUT_DEVIATION,
                0,
                WORDS["deviation help"],
                section_stops=False,
            ),
            _tokens(
                "shared_prefix",
                "Shared prefix",
                usual_traffic.SHARED_PREFIX_TOKENS,
                0,
                WORDS["prefix help"],
                section_stops=False,
            ),
        ),
        section="traffic",
    ),
    Group(
        "Cards to spread over",
        (
            Number(
                "cards",
                "Number of cards",
                None,
                1,
                64,
                optional=True,
                stops=tuple(range(1, 17)),
                help=WORDS["cards help"],
            ),
        ),
        section="layouts",
    ),
    Group(
        "Load",
        (
            Number(
                "batch",
                "Requests at once",
                None,
                1,
                65536,
                "requests",
                optional=True,
                slider=False,
                help=WORDS["load help"],
            ),
            Number(
                *("context", "Tokens of each", None, 1, MOST_TOKENS, "tokens"),
                optional=True,
                slider=False,
                help=WORDS["load help"],
            ),
            Number(
                "price",
                "Price of a card",
                None,
                0,
                10**6,
                "per hour",
                whole=False,
                optional=True,
                slider=False,
                help=WORDS["price help"],
            ),
        ),
        section="speed",
    ),
)
