"""The memory cliff: weights are paid once, the KV cache for every token of every request. Where do they meet?"""

from __future__ import annotations

from collections.abc import Mapping

from snippets.catalog.models import model
from snippets.draw.cliff import Cliff, memory_cliff
from snippets.draw.cliff.words import requests, tokens
from snippets.draw.figure import Layout
from snippets.draw.footprint import footprint
from snippets.draw.scale import memory_text, ratio_text
from snippets.kv_shapes import kv_bytes_per_token, kv_head_choices
from snippets.planner.budget import GPU_MEMORY_UTILIZATION, requested_bytes
from snippets.units import KIB, count
from snippets.widgets.cliff.case import Case, read, whole
from snippets.widgets.cliff.controls import GROUPS, MOST_QUERY_HEADS, MOST_TOKENS
from snippets.widgets.cliff.presets import card_bar, model_bar
from snippets.widgets.declare import ControlState, Readout, Tone, Values, View, Widget

TITLE = "Memory cliff"
WORDS = {
    "per token": "per token",
    "per token one": "in one layer",
    "per token detail": "over all {layers} layers",
    "per token window": "until a window is full",
    "kv": "KV cache",
    "kv detail": "{batch} × {tokens}",
    "weights": "weights",
    "ratio": "KV ÷ weights",
    "ratio detail": "1 at the crossing",
    "kv heads": "KV heads",
    "kv heads shared": "each shared by {n} query heads",
    "kv heads own": "one for every query head",
    "latent": "a latent of {latent} + {rope} numbers for {n} query heads",
    "parameters": "parameters",
    "billion": "billion",
    "million": "million",
    "parameters exact": "{n}, exact",
    "parameters counted": "{n}, counted from the shape",
    "parameters typed": "as typed; counted: {n}",
    "context": "crosses at",
    "context never": "crosses",
    "context detail": "with {requests}",
    "batch": "or at",
    "batch detail": "of {tokens}",
    "tokens": "tokens",
    "token": "token",
    "requests": "requests",
    "request": "request",
    "never": "never",
    "never detail": "up to {limit} tokens",
    "of": "{n} of {whole}",
    "or": "{most} or {last}",
    "context note": "{model} is published for {tokens}. What lies beyond shows what memory it would take.",
    "limit note": "A vLLM server would need more: by default it takes {utilization:g} of each card, here {limit} "
    "in all, and activations and graphs come out of that.",
    "window note": "Windows are set on {n} layers; the model has {layers}, so all of them slide.",
    "attention error": "GQA needs KV heads that divide the {heads} query heads evenly, and {kv} does not. "
    "Set KV heads first: {choices}.",
    "heads error": "{heads} query heads cannot be shared evenly by {kv} KV heads. Take a multiple of {kv}, "
    "or other KV heads first.",
    "kv heads error": "{kv} does not divide {heads} query heads evenly. Take one of {choices}.",
}
FORMATS = {"bf16": "BF16", "fp8": "FP8", "int4": "4-bit; embeddings and scales 16-bit"}


def _say(key: str, **values: object) -> str:
    return WORDS[key].format(**values)


def _memory(name: str, label: str, bytes_: float, tone: Tone, detail: str) -> Readout:
    value, _, unit = memory_text(bytes_).partition(" ")
    return Readout(name, WORDS[label], value, unit, tone, detail)


def _per_token(case: Case) -> Readout:
    per_token = kv_bytes_per_token(case.shape, case.kv_dtype_bytes)
    whole = per_token % KIB == 0 or per_token < KIB
    value, unit = (count(per_token), "B") if per_token < KIB else (count(per_token / KIB, 0 if whole else 1), "KiB")
    layers = case.shape.num_layers
    detail = "per token one" if layers == 1 else "per token detail"
    if case.shape.num_sliding_layers:
        detail = "per token window"
    return Readout("per_token", WORDS["per token"], value, unit, "kv", _say(detail, layers=layers))


def _kv_heads(case: Case) -> Readout:
    shape = case.shape
    shared = shape.num_attention_heads // shape.num_kv_heads
    if shape.attention == "mla":
        sizes = {"latent": shape.kv_lora_rank, "rope": shape.qk_rope_head_dim}
        detail = _say("latent", n=shape.num_attention_heads, **sizes)
    else:
        detail = WORDS["kv heads own"] if shared == 1 else _say("kv heads shared", n=shared)
    return Readout("kv_heads", WORDS["kv heads"], count(shape.num_kv_heads), detail=detail)


def _parameters(case: Case) -> Readout:
    total = case.parameters.total
    if total != case.counted:
        detail = _say("parameters typed", n=count(case.counted))
    else:
        detail = _say("parameters exact" if case.exact else "parameters counted", n=count(total))
    value, unit = (total / 10**9, "billion") if total >= 10**9 else (total / 10**6, "million")
    return Readout("parameters", WORDS["parameters"], count(value, 2), WORDS[unit], detail=detail)


def _crossing(case: Case) -> tuple[Readout, Readout]:
    """The first context and the first number of requests at which KV is at least the weights."""
    context, batch = case.crossing, case.crossing_batch
    load = _say("context detail", requests=requests(case.batch))
    each = _say("batch detail", tokens=tokens(case.seq_len))
    if context is None:
        never = _say("never detail", limit=count(MOST_TOKENS))
        first = Readout("crossing_context", WORDS["context never"], WORDS["never"], "", "limit", never)
    else:
        unit = WORDS["token" if context == 1 else "tokens"]
        first = Readout("crossing_context", WORDS["context"], count(context), unit, "limit", load)
    unit = WORDS["request" if batch == 1 else "requests"]
    return first, Readout("crossing_batch", WORDS["batch"], count(batch), unit, "limit", each)


def _readouts(case: Case) -> tuple[Readout, ...]:
    load = _say("kv detail", batch=count(case.batch), tokens=tokens(case.seq_len))
    kv = case.kv_bytes(case.seq_len)
    return (
        _per_token(case),
        _memory("kv", "kv", kv, "kv", load),
        _memory("weights", "weights", case.weight_bytes, "weights", FORMATS[case.weight_format]),
        Readout("ratio", WORDS["ratio"], ratio_text(kv / case.weight_bytes), detail=WORDS["ratio detail"]),
        *_crossing(case),
        _kv_heads(case),
        _parameters(case),
    )


def _notes(case: Case, values: Values) -> tuple[str, ...]:
    notes = []
    wanted, layers = whole(values, "num_sliding_layers"), case.shape.num_layers
    if wanted > layers:
        notes.append(_say("window note", n=wanted, layers=layers))
    base = model(str(values["base_model"]))
    if case.exact and max(case.seq_len, case.crossing or 0) > base.max_position_embeddings:
        notes.append(_say("context note", model=base.name, tokens=tokens(base.max_position_embeddings)))
    total, one = case.weight_bytes + case.kv_bytes(case.seq_len), requested_bytes(int(case.gpu_bytes))
    cards = -(-total // int(case.gpu_bytes))
    if total > cards * one:
        limit = memory_text(cards * one)
        notes.append(_say("limit note", utilization=GPU_MEMORY_UTILIZATION, limit=limit))
    return tuple(notes)


def _controls(case: Case, values: Values) -> dict[str, ControlState]:
    """Sliders that stop only where the shape exists, and controls that do not apply put away."""
    shape, offered = case.shape, whole(values, "num_kv_heads")
    heads = shape.num_attention_heads
    divides = heads % offered == 0  # it need not while GQA is not chosen; then the reader must be able to mend it
    latent_hidden = ControlState(hidden=shape.attention != "mla")
    return {
        "num_kv_heads": ControlState(
            shown=_say("of", n=count(offered), whole=count(heads)),
            stops=kv_head_choices(heads),
            hidden=shape.attention != "gqa" and divides,
        ),
        "num_attention_heads": ControlState(stops=tuple(range(offered, MOST_QUERY_HEADS + 1, offered))),
        "kv_lora_rank": latent_hidden,
        "qk_rope_head_dim": latent_hidden,
        "num_sliding_layers": ControlState(
            shown=_say("of", n=count(shape.num_sliding_layers), whole=count(shape.num_layers)),
            stops=tuple(range(shape.num_layers + 1)),
        ),
        "sliding_window": ControlState(hidden=not shape.num_sliding_layers),
    }


def view(values: Values, layout: Layout) -> View:
    """Everything the widget shows for one state."""
    case = read(values)
    window = case.shape.sliding_window
    cliff = Cliff(
        kv_bytes=case.kv_bytes,
        weight_bytes=case.weight_bytes,
        gpu_bytes=case.gpu_bytes,
        seq_len=case.seq_len,
        batch=case.batch,
        crossing=case.crossing,
        crossing_batch=case.crossing_batch,
        limit=MOST_TOKENS,
        window=window if 0 < window < MOST_TOKENS else None,
        flat=case.shape.num_full_layers == 0,
    )
    gpus = footprint(case.weight_bytes, case.kv_bytes(case.seq_len), case.gpu_bytes, "memory-cliff-gpus")
    return View(
        readouts=_readouts(case),
        figures=(memory_cliff(cliff, "memory-cliff-context")(layout), gpus(layout)),
        notes=_notes(case, values),
        controls=_controls(case, values),
    )


def check(values: Values) -> Mapping[str, str]:
    """What is wrong across controls: KV heads that do not divide the query heads, said at each that can mend it."""
    heads, kv_heads = whole(values, "num_attention_heads"), whole(values, "num_kv_heads")
    if values["attention"] != "gqa" or heads % kv_heads == 0:
        return {}
    *most, last = map(count, kv_head_choices(heads))
    choices = _say("or", most=", ".join(most), last=last) if most else last
    wrong = {"attention": "attention error", "num_attention_heads": "heads error", "num_kv_heads": "kv heads error"}
    return {name: _say(words, heads=heads, kv=kv_heads, choices=choices) for name, words in wrong.items()}


WIDGET = Widget(
    name="memory_cliff",
    title=TITLE,
    groups=GROUPS,
    view=view,
    check=check,
    preset_bars=(model_bar(), card_bar()),
    source="memory_cliff-python",
)
