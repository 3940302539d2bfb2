"""Plans from hand-written layer specs, one JSON object a line: `python -m snippets.planner --specs < lines.jsonl`.

A line, with what a missing field stands for:
    {"max_model_len": 8192, "available_bytes": 21474836480, "layers": [{"n": 32, "kind": "full", "block_size": 16,
     "kv_heads": 8, "head_size": 128, "dtype": "bfloat16"}]}
Beside `layers`: original_max_model_len (-1: auto-fit), dcp (1), disable_hybrid (false), num_gpu_blocks_override,
mamba_cache_mode ("none"), max_in_flight_tokens (16384), max_num_batched_tokens (8192, the encoder's input tokens),
log_lines (false; true adds `log_lines` and `warnings` to the answer).
Pipeline stages: "stages": [[layer, …], …] instead of `layers`, and available_bytes a list with one number per stage.
A layer: n, kind ("full"), block_size, and for attention kv_heads (1), head_size, head_size_v (head_size), dtype
("bfloat16"), cache_dtype ("auto"; decides the storage dtype; null: the layer is not told), page_size_padded,
indexes_kv_by_block_stride (false). sliding and sliding_mla: window. chunked: chunk. turboquant: tq_slot_size. mla and
sliding_mla: compress_ratio (1), alignment, model_version. mamba: shapes, dtypes, page_size_padded,
num_speculative_blocks (0), mamba_cache_mode ("none"), mamba_type ("MAMBA2"). encoder_only layers cache nothing.

The answer: num_blocks, tokens, concurrency, max_model_len, groups ([layers, class, block_size, page_size_bytes] each;
with `stages` one such list per stage), or error. Layers are called `layers.{entry}.{i}` in vLLM's messages.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar, cast

from snippets.planner.cache.dtypes import DTYPE_BYTES, STORED_AS
from snippets.planner.cache.line_fields import Fields, LineError, whole
from snippets.planner.cache.plan import plan_cache
from snippets.planner.cache.spec import CLASS_OF
from snippets.planner.specs import CacheError, CacheGroup, CachePlan, Kind, LayerRun, LayerSpec, Limits, Stage

KINDS: tuple[Kind, ...] = (*CLASS_OF, "encoder_only")
MODES = ("none", "align", "all")
MAMBA_TYPES = ("MAMBA1", "MAMBA2", "SHORT_CONV", "LINEAR", "GDN_ATTN")
CACHE_DTYPES = ("auto", *STORED_AS)
MAX_LAYERS = 100_000
LINE = (
    "max_model_len",
    "available_bytes",
    "layers",
    "stages",
    "original_max_model_len",
    "dcp",
    "disable_hybrid",
    "num_gpu_blocks_override",
    "mamba_cache_mode",
    "max_in_flight_tokens",
    "max_num_batched_tokens",
    "log_lines",
)
LAYER = (
    "n",
    "kind",
    "block_size",
    "kv_heads",
    "head_size",
    "head_size_v",
    "dtype",
    "cache_dtype",
    "page_size_padded",
    "indexes_kv_by_block_stride",
    "window",
    "chunk",
    "tq_slot_size",
    "compress_ratio",
    "alignment",
    "model_version",
    "shapes",
    "dtypes",
    "num_speculative_blocks",
    "mamba_cache_mode",
    "mamba_type",
)

MOST_KEPT = 2_000

Answer = dict[str, object]
Read = TypeVar("Read")
_read: dict[bytes, object] = {}


def answer(line: object) -> Answer:
    """The plan of one line, or {"error": …}: vLLM's own text, or the field that is at fault. Raises nothing."""
    try:
        stages, available, limits, wants_log = read_line(line)
        plan = plan_cache(stages, available, limits)
        return _answer(plan, wants_log, nested=isinstance(line, dict) and "stages" in line)
    except (LineError, CacheError) as error:
        return {"error": str(error)}


def read_line(line: object) -> tuple[list[Stage], list[int], Limits, bool]:
    """Stages, bytes per stage, limits, and whether the log is asked for. Raises LineError."""
    fields = Fields(line, "", LINE)
    max_model_len = fields.integer("max_model_len", least=1)
    original = fields.integer("original_max_model_len", max_model_len, least=-1)
    limits = Limits(
        max_model_len=max_model_len,
        auto_fit=original == -1,
        max_in_flight_tokens=fields.integer("max_in_flight_tokens", 16384),
        max_num_encoder_input_tokens=fields.integer("max_num_batched_tokens", 8192),
        decode_context_parallel_size=fields.integer("dcp", 1, least=1),
        mamba_cache_mode=fields.text("mamba_cache_mode", "none", MODES),
        disable_hybrid_kv_cache_manager=fields.flag("disable_hybrid"),
        num_gpu_blocks_override=fields.maybe_integer("num_gpu_blocks_override"),
    )
    if "stages" in fields.values:
        if "layers" in fields.values:
            raise LineError("layers and stages are both given; give one of them")
        parts = fields.items("stages")
        available = [
            whole(value, f"available_bytes[{i}]", -(2**63)) for i, value in enumerate(fields.items("available_bytes"))
        ]
    else:
        parts = [fields.items("layers")]
        available = [fields.integer("available_bytes", least=-(2**63))]
    nested = "stages" in fields.values
    stages = _remembered(parts, lambda: _stages(parts, nested))
    return stages, available, limits, fields.flag("log_lines")


def _remembered(value: object, read: Callable[[], Read]) -> Read:
    """What `read` makes of a JSON value; a value of the same text is read once, since lines repeat models."""
    try:
        key = marshal.dumps(value, 2)  # type: ignore[arg-type]  # tells 1, 1.0 and true apart, as a dict's key would not
    except ValueError:
        return read()
    found = _read.get(key)
    if found is None:
        found = read()
        if len(_read) >= MOST_KEPT:
            _read.clear()
        _read[key] = found
    return cast("Read", found)


def _stages(parts: list[object], nested: bool) -> list[Stage]:
    stages: list[Stage] = []
    entry = 0
    for s, part in enumerate(parts):
        if not isinstance(part, list):
            raise LineError(f"stages[{s}] is not a list of layers")
        path = f"stages[{s}]" if nested else "layers"
        runs = []
        for i, value in enumerate(part):
            count, spec = _remembered(value, partial(_entry, value, f"{path}[{i}]"))
            runs.append(LayerRun(count, spec, f"layers.{entry + i}.0"))
        entry += len(runs)
        stages.append(tuple(runs))
    if sum(run.count for stage in stages for run in stage) > MAX_LAYERS:
        raise LineError(f"n adds up to more than {MAX_LAYERS} layers")
    return stages


def _entry(value: object, path: str) -> tuple[int, LayerSpec]:
    return _layer(Fields(value, path, LAYER))


def _layer(fields: Fields) -> tuple[int, LayerSpec]:
    kind = fields.text("kind", "full", KINDS)
    block_size = fields.integer("block_size", least=1)
    count = fields.integer("n")
    padded = fields.maybe_integer("page_size_padded", least=1)
    if kind == "mamba":
        return count, _mamba(fields, block_size, padded)
    told = fields.values.get("cache_dtype", "auto") is not None
    cache_dtype = fields.text("cache_dtype", "auto", CACHE_DTYPES) if told else None
    dtype = fields.text("dtype", "bfloat16", (*DTYPE_BYTES, *STORED_AS))
    stored = dtype if cache_dtype in (None, "auto") else cache_dtype
    assert stored is not None
    spec = LayerSpec(
        kind=next(k for k in KINDS if k == kind),
        block_size=block_size,
        num_kv_heads=fields.integer("kv_heads", 1, least=1),
        head_size=fields.integer("head_size", least=1),
        head_size_v=fields.maybe_integer("head_size_v", least=1) or 0,
        dtype=STORED_AS.get(stored, stored),
        cache_dtype=cache_dtype,
        sliding_window=fields.integer("window", least=1) if kind in ("sliding", "sliding_mla") else 0,
        attention_chunk_size=fields.integer("chunk", least=1) if kind == "chunked" else 0,
        indexes_kv_by_block_stride=fields.flag("indexes_kv_by_block_stride"),
        tq_slot_size=fields.integer("tq_slot_size", least=1) if kind == "turboquant" else 0,
        compress_ratio=fields.integer("compress_ratio", 1, least=1),
        alignment=fields.maybe_integer("alignment", least=1),
        model_version=_version(fields),
        page_size_padded=padded,
    )
    return count, spec


def _version(fields: Fields) -> str | None:
    if fields.values.get("model_version") is None:
        return None
    return fields.text("model_version", "", ("deepseek_v4",))


def _mamba(fields: Fields, block_size: int, page_size_padded: int | None) -> LayerSpec:
    shapes = [_shape(shape, f"{fields.at('shapes')}[{i}]") for i, shape in enumerate(fields.items("shapes"))]
    dtypes = fields.items("dtypes")
    known = (*DTYPE_BYTES, *STORED_AS)
    for i, dtype in enumerate(dtypes):
        if dtype not in known:
            raise LineError(f"{fields.at('dtypes')}[{i}] is not a dtype; known are {', '.join(known)}")
    if not shapes or len(shapes) != len(dtypes):
        raise LineError(f"{fields.at('dtypes')} has {len(dtypes)} entries and shapes {len(shapes)}; give one per state")
    return LayerSpec(
        kind="mamba",
        block_size=block_size,
        shapes=tuple(shapes),
        dtypes=tuple(map(str, dtypes)),
        page_size_padded=page_size_padded,
        num_speculative_blocks=fields.integer("num_speculative_blocks", 0),
        mamba_cache_mode=fields.text("mamba_cache_mode", "none", MODES),
        mamba_type=fields.text("mamba_type", "MAMBA2", MAMBA_TYPES),
    )


def _shape(value: object, path: str) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise LineError(f"{path} must be a list of sizes")
    return tuple(whole(size, f"{path}[{k}]", 1) for k, size in enumerate(value))


def _answer(plan: CachePlan, wants_log: bool, nested: bool) -> Answer:
    stages = range(len(plan.groups[0].layers_per_stage)) if plan.groups else range(0)
    groups = [[_group(group, stage) for group in plan.groups] for stage in stages]
    found: Answer = {
        "num_blocks": plan.num_gpu_blocks,
        "tokens": plan.kv_cache_size_tokens,
        "concurrency": plan.max_concurrency,
        "max_model_len": plan.max_model_len,
        "groups": groups if nested else [group for stage in groups for group in stage],
    }
    if wants_log:
        found |= {"log_lines": list(plan.log_lines), "warnings": list(plan.warnings)}
    return found


def _group(group: CacheGroup, stage: int) -> Sequence[object]:
    return [group.layers_per_stage[stage], group.kind, group.block_size, group.page_size_per_stage[stage]]
