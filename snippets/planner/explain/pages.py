"""The page of one layer and what a request takes of a group, each as formula and as numbers."""

from __future__ import annotations

from snippets.planner.cache.dtypes import DTYPE_BYTES, torch_dtype
from snippets.planner.specs import CacheGroup, LayerSpec, Limits
from snippets.units import count

PACKED = {"deepseek_v4": 584, None: 656}  # bytes a token under fp8_ds_mla, by model_version


def _size(dtype: str) -> int:
    return DTYPE_BYTES[torch_dtype(dtype)]


def _elements(spec: LayerSpec, head_size: int) -> str:
    """How the elements are counted that one head keeps of a token."""
    if spec.cache_dtype == "nvfp4":
        return f"{head_size}/2 + {head_size}/16"
    if spec.cache_dtype == "int4_per_token_head" and spec.kind != "sliding":  # vLLM does not halve a window's page
        return f"{head_size}/2"
    return str(head_size)


def _state(spec: LayerSpec) -> tuple[str, str]:
    terms = [
        f"{'×'.join(str(n) for n in shape)}×{_size(dtype)}"
        for shape, dtype in zip(spec.shapes, spec.dtypes, strict=True)
    ]
    return "sum of prod(shape) × size of dtype", " + ".join(terms)


def page(spec: LayerSpec) -> tuple[str, str]:
    """(formula, numbers) of real_page_size_bytes for one layer, scales and padding included."""
    heads, block, size = spec.num_kv_heads, spec.block_size, _size(spec.dtype)
    if spec.kind == "mamba":
        formula, numbers = _state(spec)
    elif spec.kind == "turboquant" or spec.tq_slot_size:
        formula = "block_size × num_kv_heads × tq_slot_size"
        numbers = f"{block} × {heads} × {spec.tq_slot_size}"
    elif spec.kind in {"mla", "sliding_mla"}:
        stored = block // max(spec.compress_ratio, 1)
        if spec.cache_dtype == "fp8_ds_mla":
            formula = "block_size × bytes of a packed token"
            numbers = f"{stored} × {PACKED['deepseek_v4' if spec.model_version else None]}"
        else:
            formula = "block_size × num_kv_heads × head_size × size of dtype"
            numbers = f"{stored} × {heads} × ({_elements(spec, spec.head_size)}) × {size}"
    elif spec.kind in {"full", "sliding"}:
        key, value = _elements(spec, spec.head_size), _elements(spec, spec.head_size_v or spec.head_size)
        formula = "block_size × num_kv_heads × (head_size + head_size_v) × size of dtype"
        numbers = f"{block} × {heads} × ({key} + {value}) × {size}"
    else:
        formula = "2 × block_size × num_kv_heads × head_size × size of dtype"
        numbers = f"2 × {block} × {heads} × ({_elements(spec, spec.head_size)}) × {size}"
    if (spec.cache_dtype or "").endswith("_per_token_head"):
        formula += " + 2 × block_size × num_kv_heads × 4 (scales)"
        numbers += f" + 2 × {block} × {heads} × 4"
    if spec.page_size_padded is not None:
        formula += "; padded to the common page"
        numbers += f"; padded to {count(spec.page_size_padded)}"
    return formula, numbers


def need(group: CacheGroup, limits: Limits, max_model_len: int) -> tuple[str, str]:
    """(formula, numbers) of the blocks that a request of max_model_len takes in this group."""
    spec, block, length, flight = group.spec, group.block_size, count(max_model_len), count(limits.max_in_flight_tokens)
    if spec.kind in {"sliding", "sliding_mla"}:
        return (
            "cdiv(min(sliding_window - 1 + max_in_flight_tokens, max_model_len), block_size) + 1",
            f"cdiv(min({count(spec.sliding_window)} - 1 + {flight}, {length}), {block}) + 1",
        )
    if spec.kind == "chunked":
        return (
            "cdiv(min(attention_chunk_size + max_in_flight_tokens, max_model_len), block_size)",
            f"cdiv(min({count(spec.attention_chunk_size)} + {flight}, {length}), {block})",
        )
    if spec.kind == "mamba":
        if limits.mamba_cache_mode == "all":
            formula = "cdiv(max_model_len, block_size) + num_speculative_blocks"
            return formula, f"cdiv({length}, {block}) + {spec.num_speculative_blocks}"
        states = 2 if limits.mamba_cache_mode == "align" else 1
        return f"{states} + num_speculative_blocks", f"{states} + {spec.num_speculative_blocks}"
    if spec.kind == "cross":
        tokens = count(limits.max_num_encoder_input_tokens)
        return "cdiv(max_num_encoder_input_tokens, block_size)", f"cdiv({tokens}, {block})"
    if spec.kind == "encoder_only":
        return "nothing is kept", "0"
    dcp = limits.decode_context_parallel_size
    if dcp > 1:
        formula = "cdiv(cdiv(max_model_len, decode_context_parallel_size), block_size)"
        return formula, f"cdiv(cdiv({length}, {dcp}), {block})"
    return "cdiv(max_model_len, block_size)", f"cdiv({length}, {block})"
