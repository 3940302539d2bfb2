"""Random lines of layer specs of every kind, for Hypothesis: models as they are built, and mixes nobody builds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Layer = dict[str, Any]
Line = dict[str, Any]
Draw = Callable[[st.SearchStrategy[Any]], Any]

BLOCK_SIZES = st.sampled_from([16, 16, 16, 32, 64, 128, 1, 8, 544])
HEAD_SIZES = st.sampled_from([64, 80, 96, 128, 128, 192, 256, 512, 20])
KV_HEADS = st.sampled_from([1, 2, 4, 8, 8, 16, 32, 5])  # what tensor parallelism leaves of a model's heads
WINDOWS = st.sampled_from([1, 15, 16, 128, 512, 1023, 1024, 4096, 32768])
CACHE_DTYPES = st.sampled_from(["auto"] * 5 + ["fp8", "fp8_e4m3", "fp8_e5m2", "float16", "bfloat16"])
PACKED_DTYPES = st.sampled_from(
    ["nvfp4", "int4_per_token_head", "int8_per_token_head", "fp8_per_token_head", "fp8_inc", "auto"]
)
DTYPES = st.sampled_from(["bfloat16", "bfloat16", "float16", "float32", "half"])
OTHER_SHAPE = st.fixed_dictionaries(
    {}, optional={"head_size": HEAD_SIZES, "kv_heads": KV_HEADS, "block_size": BLOCK_SIZES}
)
STATES = [[[8192, 3], [128, 64, 128]], [[4096, 3], [4096, 16]], [[2048, 3]], [[1, 7], [3, 5]]]
LENGTHS = st.one_of(st.sampled_from([2048, 8192, 32768, 131072, 1048576]), st.integers(1, 300000))
COUNTS = st.integers(1, 48)
FEW = st.integers(1, 12)


@st.composite
def attention(draw: Draw, kind: str = "full") -> Layer:
    """One entry of ordinary keys and values."""
    layer: Layer = {"n": draw(COUNTS), "kind": kind, "block_size": draw(BLOCK_SIZES), "kv_heads": draw(KV_HEADS)}
    layer["head_size"] = draw(HEAD_SIZES)
    if kind in ("full", "sliding") and draw(st.integers(0, 5)) == 0:
        layer["head_size_v"] = draw(HEAD_SIZES)
    layer["cache_dtype"] = draw(st.one_of(CACHE_DTYPES, CACHE_DTYPES, PACKED_DTYPES))
    if draw(st.integers(0, 7)) == 0:
        layer["dtype"] = draw(DTYPES)
    return _of_kind(draw, layer)


def _of_kind(draw: Draw, layer: Layer) -> Layer:
    if layer["kind"] in ("sliding", "sliding_mla"):
        layer["window"] = draw(WINDOWS)
    if layer["kind"] == "chunked":
        layer["chunk"] = draw(st.sampled_from([8192, 8192, 2048, 100]))
    if layer["kind"] == "turboquant":
        layer["tq_slot_size"] = draw(st.sampled_from([134, 196, 116, 98]))
        layer["cache_dtype"] = "turboquant_4bit_nc"
    return layer


@st.composite
def latent(draw: Draw) -> list[Layer]:
    """MLA, with or without V3.2's indexer."""
    cache_dtype = draw(st.sampled_from(["auto", "fp8", "fp8_ds_mla", "bfloat16", "int4_per_token_head"]))
    block_size = draw(st.sampled_from([16, 32, 64, 128]))
    main = {"n": draw(COUNTS), "kind": "mla", "block_size": block_size, "head_size": draw(st.sampled_from([576, 288]))}
    layers: list[Layer] = [main | {"cache_dtype": cache_dtype}]
    if draw(st.booleans()):
        layers.append(main | {"head_size": 132, "dtype": "uint8", "cache_dtype": draw(st.sampled_from([None, "auto"]))})
    return layers


@st.composite
def state(draw: Draw) -> Layer:
    """A recurrent layer; its page may be padded."""
    shapes = draw(st.sampled_from(STATES))
    layer: Layer = {
        "n": draw(COUNTS),
        "kind": "mamba",
        "block_size": draw(st.sampled_from([16, 528, 544, 8192, 262144])),
        "shapes": shapes,
        "dtypes": draw(st.sampled_from([["bfloat16", "float32"], ["float16", "float16"]]))[: len(shapes)],
    }
    if draw(st.booleans()):
        layer["page_size_padded"] = draw(st.sampled_from([2**16, 2**21, 4456448, 4456448, 8912896]))
    if draw(st.integers(0, 3)) == 0:
        layer["num_speculative_blocks"] = draw(st.integers(0, 4))
    if draw(st.integers(0, 4)) == 0:
        layer |= {"mamba_type": draw(st.sampled_from(["MAMBA1", "GDN_ATTN"])), "mamba_cache_mode": "align"}
    return layer


@st.composite
def alternating(draw: Draw) -> list[Layer]:
    """Full attention and windows or chunks, in a pattern; of one shape, or of two (Gemma-4, gpt-oss)."""
    kind = draw(st.sampled_from(["sliding", "sliding", "chunked"]))
    full = draw(attention()) | {"n": 1}
    local = _of_kind(draw, {**full, "kind": kind, "n": draw(st.integers(1, 6))})
    if draw(st.integers(0, 2)) == 0:
        local |= draw(OTHER_SHAPE)
    if draw(st.integers(0, 3)) == 0:
        full["indexes_kv_by_block_stride"] = local["indexes_kv_by_block_stride"] = True
    if draw(st.integers(0, 11)) == 0:
        local["page_size_padded"] = draw(st.sampled_from([65536, 131072, 73728]))
    layers = [dict(local), dict(full)] * draw(FEW)
    return [*layers, {**local, "n": draw(FEW)}] if draw(st.booleans()) else layers


@st.composite
def with_states(draw: Draw) -> list[Layer]:
    """A hybrid: states and attention, the state's page padded to attention's or not."""
    full = draw(attention()) | {"n": draw(FEW)}
    recurrent = draw(state())
    if draw(st.booleans()):
        full["block_size"] = draw(st.sampled_from([528, 544, 80, 144]))
        width = full["head_size"] + full.get("head_size_v", full["head_size"])
        recurrent["page_size_padded"] = full["block_size"] * full["kv_heads"] * width * 2
        full["cache_dtype"] = "auto"
    layers = [full, recurrent, *([draw(state())] if draw(st.integers(0, 3)) == 0 else [])]
    return list(draw(st.permutations(layers)))


@st.composite
def deepseek_v4(draw: Draw) -> list[Layer]:
    """Compressed latents, their indexers, windows and compressor states: the packed layout."""
    told = draw(st.sampled_from(["fp8_ds_mla", "fp8_ds_mla", "bfloat16"]))
    alignment = draw(st.sampled_from([576, 576, 512, None]))
    v4 = {"cache_dtype": told, "model_version": "deepseek_v4", "alignment": alignment, "head_size": 512}
    few, many = draw(st.integers(1, 24)), draw(st.integers(1, 24))
    layers = [
        {"n": few, "kind": "mla", "block_size": 256, "compress_ratio": 4} | v4,
        {"n": many, "kind": "mla", "block_size": 256, "compress_ratio": 128} | v4,
        {"n": few, "kind": "mla", "block_size": 256, "compress_ratio": 4, "head_size": 132, "dtype": "uint8",
         "cache_dtype": None, "alignment": alignment},
        {"n": draw(COUNTS), "kind": "sliding_mla", "block_size": 64, "window": 128} | v4,
    ]  # fmt: skip
    for block_size, width in draw(st.sampled_from([[], [(4, 2048)], [(4, 2048), (8, 1024)], [(4, 512), (4, 2048)]])):
        layers.append(
            {"n": draw(st.sampled_from([few, few, many])), "kind": "sliding_mla", "block_size": block_size,
             "head_size": width, "window": block_size * 2, "dtype": "float32", "cache_dtype": None,
             "alignment": alignment}
        )  # fmt: skip
    return [layer for layer in layers if draw(st.integers(0, 15))]


@st.composite
def anything(draw: Draw) -> list[Layer]:
    """A few entries of any kinds, with odd fields."""
    kinds = ["full", "full", "sliding", "chunked", "cross", "turboquant", "mla", "sliding_mla", "encoder_only"]
    base = draw(attention())
    layers = []
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4)):
        layer = _of_kind(draw, {**(base if draw(st.booleans()) else draw(attention())), "kind": kind, "n": draw(FEW)})
        if kind in ("mla", "sliding_mla") and draw(st.booleans()):
            layer |= {"alignment": 576, "kv_heads": 1}
        layers.append(layer)
    if draw(st.integers(0, 4)) == 0:
        layers.append(draw(state()))
    if draw(st.integers(0, 7)) == 0:
        draw(st.sampled_from(layers))["page_size_padded"] = draw(st.sampled_from([2**15, 2**20, 10**6]))
    return layers


@st.composite
def encoder_decoder(draw: Draw) -> list[Layer]:
    """Whisper's way: as many cross layers as decoder layers, and an encoder that caches nothing."""
    full = draw(attention())
    return [{**full, "kind": "encoder_only"}, full, {**full, "kind": "cross"}]


@st.composite
def quantized_slots(draw: Draw) -> list[Layer]:
    """TurboQuant in the middle, unquantized layers at both ends."""
    middle = _of_kind(draw, draw(attention()) | {"kind": "turboquant"})
    ends = {**middle, "kind": "full", "cache_dtype": "auto", "n": 2}
    return [ends, middle, ends] if draw(st.booleans()) else [middle]


MODELS = st.one_of(
    attention().map(lambda layer: [layer]),
    attention("sliding").map(lambda layer: [layer]),
    st.lists(attention(), min_size=1, max_size=3),
    latent(),
    state().map(lambda layer: [layer]),
    alternating(),
    alternating(),
    with_states(),
    with_states(),
    deepseek_v4(),
    encoder_decoder(),
    quantized_slots(),
    anything(),
)


@st.composite
def lines(draw: Draw) -> Line:
    """A whole line: layers on one to four stages, the limits, and memory from nothing to plenty."""
    line: Line = {"max_model_len": draw(LENGTHS)}
    layers = draw(MODELS)
    if draw(st.integers(0, 3)) == 0:
        stages = _split(draw, layers)
        memory = draw(available())
        line["available_bytes"] = [draw(st.one_of(st.just(memory), st.just(memory), available())) for _ in stages]
        line["stages"] = stages
    else:
        line["available_bytes"] = draw(available())
        line["layers"] = layers
    if draw(st.booleans()):
        line["max_in_flight_tokens"] = draw(st.sampled_from([2048, 4096, 8192, 32768, 1, 1000]))
    for field, values in OPTIONS.items():
        if draw(st.integers(0, 9)) == 0:
            line[field] = draw(st.sampled_from(values))
    return line | {"log_lines": True}


OPTIONS: dict[str, list[Any]] = {
    "dcp": [2, 4, 8, 3],
    "disable_hybrid": [True],
    "num_gpu_blocks_override": [1, 7, 512, 5000, 100000],
    "original_max_model_len": [-1],
    "mamba_cache_mode": ["align", "all"],
    "max_num_batched_tokens": [0, 1500, 16384],
}


@st.composite
def available(draw: Draw) -> int:
    """Bytes, spread over the orders of magnitude; rarely none or less."""
    if draw(st.integers(0, 19)) == 0:
        return int(draw(st.sampled_from([0, -(2**30), 1, 1000])))
    return int(draw(st.integers(2**9, 2**10)) * 2 ** draw(st.integers(19, 30)) + draw(st.integers(0, 10**6)))


def _split(draw: Draw, layers: list[Layer]) -> list[list[Layer]]:
    """The layers in order on several stages, cut anywhere; a cut may leave a stage without a cache."""
    total = sum(layer["n"] for layer in layers)
    cuts = sorted(draw(st.integers(0, total)) for _ in range(draw(st.integers(1, 3))))
    stages: list[list[Layer]] = []
    for low, high in zip([0, *cuts], [*cuts, total], strict=True):
        before, stage = 0, []
        for layer in layers:
            n = min(high, before + layer["n"]) - max(low, before)
            if n > 0:
                stage.append({**layer, "n": n})
            before += layer["n"]
        stages.append(stage)
    return stages
