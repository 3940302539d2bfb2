"""What can be set in the memory cliff, in the order of its story: attention, load, bytes, card, and the rest folded."""

from __future__ import annotations

from snippets.catalog.gpus import gpu
from snippets.widgets.cliff.presets import CARD_OPENS_WITH, OPENS_WITH, base_models, values
from snippets.widgets.declare import Choice, Group, Number, Option

MOST_TOKENS = 2**20
MOST_QUERY_HEADS = 256
MOST_LAYERS = 200
MOST_REQUESTS = 1024


def quarter_doublings(high: int) -> tuple[int, ...]:
    """Whole numbers from 1 to a power of two, four to a doubling where there are as many: 1, 2, 3, 4, 5 … 8, 10, 12."""
    found = {quarters * 2**doubling // 4 for doubling in range(high.bit_length()) for quarters in (4, 5, 6, 7)}
    return tuple(sorted(n for n in found if n <= high))


_OPENS = values(OPENS_WITH)
_CARD = gpu(CARD_OPENS_WITH)


def _opens(name: str) -> int:
    return int(_OPENS[name])


ATTENTION = Group(
    "Attention",
    (
        Choice(
            "attention",
            "Kind",
            _OPENS["attention"],
            (Option("mha", "MHA"), Option("gqa", "GQA"), Option("mqa", "MQA"), Option("mla", "MLA")),
        ),
        Number("num_kv_heads", "KV heads", _opens("num_kv_heads"), 1, MOST_QUERY_HEADS),
        Number(
            "kv_lora_rank", "Latent (kv_lora_rank)", _opens("kv_lora_rank"), 1, 4096, stops=tuple(range(64, 4097, 64))
        ),
        Number(
            "qk_rope_head_dim",
            "Rotary key (qk_rope_head_dim)",
            _opens("qk_rope_head_dim"),
            0,
            512,
            stops=tuple(range(0, 513, 16)),
        ),
        Number("num_attention_heads", "Query heads", _opens("num_attention_heads"), 1, MOST_QUERY_HEADS),
        Number("head_dim", "Head dim", _opens("head_dim"), 16, 512, stops=tuple(range(16, 513, 16))),
        Number("num_layers", "Layers", _opens("num_layers"), 1, MOST_LAYERS),
    ),
)
LOAD = Group(
    "Load",
    (
        Number("seq_len", "Context", 8192, 1, MOST_TOKENS, "tokens", stops=quarter_doublings(MOST_TOKENS)),
        Number("batch", "Requests at once", 8, 1, MOST_REQUESTS, stops=quarter_doublings(MOST_REQUESTS)),
    ),
)
BYTES = Group(
    "Bytes",
    (
        Choice("kv_bits", "KV cache", "16", (Option("16", "16-bit"), Option("8", "8-bit"))),
        Choice(
            "weight_format",
            "Weights",
            _OPENS["weight_format"],
            (Option("bf16", "BF16"), Option("fp8", "FP8"), Option("int4", "4-bit")),
        ),
    ),
)
CARD = Group(
    "Card",
    (
        Number(
            "gpu_gib",
            "GPU memory",
            _CARD.visible_gib,
            8,
            288,
            "GiB",
            whole=False,
            help=f"As the driver shows it: an H100 sold as {_CARD.sold_as_gb} GB shows {_CARD.visible_gib} GiB.",
        ),
    ),
)
MORE = Group(
    "Windows and parameter count",
    (
        Number(
            "num_sliding_layers",
            "Layers with a window",
            _opens("num_sliding_layers"),
            0,
            MOST_LAYERS,
            help="These keep only the last tokens of each request.",
        ),
        Number(
            "sliding_window",
            "Window",
            _opens("sliding_window"),
            1,
            MOST_TOKENS,
            "tokens",
            stops=quarter_doublings(MOST_TOKENS),
        ),
        Number(
            "parameters",
            "Parameters",
            None,
            0.01,
            10_000,
            "billion",
            whole=False,
            optional=True,
            slider=False,
            help="Empty: counted from the shape. A number here overrules the count.",
        ),
        Choice(
            "base_model",
            "Counted on",
            _OPENS["base_model"],
            base_models(),
            style="select",
            help="Its hidden size, MLP and vocabulary stay when the shape is changed.",
        ),
    ),
    folded=True,
)
GROUPS = (ATTENTION, LOAD, BYTES, CARD, MORE)
