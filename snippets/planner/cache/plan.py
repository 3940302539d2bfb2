"""All steps together: what vLLM 0.26.0 decides at start (v1/core/kv_cache_utils.py get_kv_cache_configs)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from snippets.planner.cache.admission import CANNOT_AUTO_FIT, auto_fit_line, check_enough, estimate_max_model_len
from snippets.planner.cache.layers import Group, Layers, counted, totals
from snippets.planner.cache.layouts.grouping import pool_of
from snippets.planner.cache.layouts.packed import Packed
from snippets.planner.cache.layouts.pools import Pool
from snippets.planner.cache.needs import request_blocks
from snippets.planner.cache.pages import page_size_bytes
from snippets.planner.cache.spec import as_layer_spec
from snippets.planner.specs import CacheError, CacheGroup, CachePlan, LayerRun, Limits, Stage

UNIFORM_TYPE = "UniformTypeKVCacheSpecs"
NO_GROUPS = "Auto-fit max_model_len: attention-free model, using derived max_model_len="


def plan_cache(stages: Sequence[Stage], available_bytes: Sequence[int], limits: Limits) -> CachePlan:
    """Blocks, groups and log lines for these stages, with the bytes each of their ranks has for the KV cache.

    Raises CacheError where vLLM would not start: its own message where it has one.
    """
    _check(stages, available_bytes, limits)
    layers, names = counted(stages)
    if not layers:
        return _attention_free(limits)
    warnings: list[str] = []
    lines: list[str] = []
    pool = pool_of(layers, names, limits.disable_hybrid_kv_cache_manager, warnings)
    available = list(available_bytes)
    if limits.num_gpu_blocks_override is not None:
        available = _override(pool, available, limits.num_gpu_blocks_override, lines)
    needed = [partial(_needed, pool, stage, limits) for stage in range(len(stages))]
    max_model_len = limits.max_model_len
    if limits.auto_fit:
        fitted = [estimate_max_model_len(n, max_model_len, a) for n, a in zip(needed, available, strict=True)]
        max_model_len = min(fitted)
        if max_model_len <= 0:
            raise CacheError(CANNOT_AUTO_FIT, available_bytes=available[fitted.index(max_model_len)])
        lines.append(auto_fit_line(limits.max_model_len, max_model_len, available[fitted.index(max_model_len)]))
    for stage_needed, stage_available in zip(needed, available, strict=True):
        check_enough(stage_needed, max_model_len, stage_available)
    _check_assigned(pool, totals(layers))
    num_blocks = [a // pool.bytes_per_block(stage) for stage, a in enumerate(available)]
    if limits.num_gpu_blocks_override is not None:
        num_blocks = [limits.num_gpu_blocks_override]
    if max_model_len != limits.max_model_len:
        limits = replace(limits, max_model_len=max_model_len)
    return _described(pool, min(num_blocks), len(stages), limits, lines, warnings)


def _needed(pool: Pool, stage: int, limits: Limits, max_model_len: int) -> int:
    return pool.needed_bytes(stage, max_model_len, limits)


def _check(stages: Sequence[Stage], available_bytes: Sequence[int], limits: Limits) -> None:
    if not stages or len(stages) != len(available_bytes):
        raise CacheError(
            f"{len(stages)} stages and {len(available_bytes)} values of available_bytes; give one value per stage",
            field="available_bytes",
        )
    for name in ("max_model_len", "decode_context_parallel_size"):
        if getattr(limits, name) < 1:
            raise CacheError(f"{name} is {getattr(limits, name)}; it must be 1 or more", field=name)


def _override(pool: Pool, available: list[int], override: int, lines: list[str]) -> list[int]:
    """`num_gpu_blocks_override` stands for the memory it takes; the measured bytes only appear in the log."""
    for stage, stage_available in enumerate(available):
        bytes_per_block = pool.bytes_per_block(stage)
        if not bytes_per_block:
            raise _empty_stage(stage)
        blocks = stage_available // bytes_per_block
        lines.append(f"Overriding num_gpu_blocks={blocks} with num_gpu_blocks_override={override}")
    return [override * pool.bytes_per_block(stage) for stage in range(len(available))]


def _empty_stage(stage: int) -> CacheError:
    return CacheError(
        f"pipeline stage {stage} has no layer with a cache and other stages have: vLLM 0.26.0 cannot plan that; "
        "use fewer stages",
        field="pipeline_parallel_size",
    )


def _check_assigned(pool: Pool, layers_per_stage: Sequence[int]) -> None:
    if 0 in layers_per_stage:
        raise _empty_stage(layers_per_stage.index(0))
    if isinstance(pool, Packed) and pool.unassigned:
        raise CacheError(
            f"layers of {pool.unassigned[0]} beside sliding MLA layers go to no group: vLLM 0.26.0 asserts that every "
            "layer has one",
            field="kind",
        )


def _attention_free(limits: Limits) -> CachePlan:
    """Nothing is cached; one block stays, the null block."""
    lines = (f"{NO_GROUPS}{limits.max_model_len}",) if limits.auto_fit else ()
    return CachePlan(1, (), 0, 0, 0.0, 0, limits.max_model_len, lines)


def _described(
    pool: Pool, num_blocks: int, num_stages: int, limits: Limits, lines: list[str], warnings: list[str]
) -> CachePlan:
    max_model_len = limits.max_model_len
    per_request = [pool.blocks_per_request(stage, max_model_len, limits) for stage in range(num_stages)]
    if num_blocks < 1 or 0 in per_request:
        raise CacheError(
            f"{num_blocks} blocks, of which a request takes {min(per_request)}: vLLM 0.26.0 divides by zero; check "
            "max_num_encoder_input_tokens and available_bytes",
            field="max_num_encoder_input_tokens",
        )
    for blocks in dict.fromkeys(per_request):  # the packed layout's stages can print different lines
        concurrency = num_blocks / blocks
        size = f"GPU KV cache size: {int(concurrency * max_model_len):,} tokens"
        lines += [size] * (size not in lines)
        lines.append(f"Maximum concurrency for {max_model_len:,} tokens per request: {concurrency:.2f}x")
    concurrency = num_blocks / per_request[0]
    return CachePlan(
        num_gpu_blocks=num_blocks,
        groups=tuple(_group(group, limits) for group in pool.groups()),
        bytes_per_block=max(map(pool.bytes_per_block, range(num_stages))),
        blocks_per_request=per_request[0],
        max_concurrency=concurrency,
        kv_cache_size_tokens=int(concurrency * max_model_len),
        max_model_len=max_model_len,
        log_lines=tuple(lines),
        warnings=tuple(warnings),
        needed_bytes=max(pool.needed_bytes(stage, max_model_len, limits) for stage in range(num_stages)),
    )


def _group(group: Group, limits: Limits) -> CacheGroup:
    spec, per_stage, members = group
    blocks = request_blocks(spec, limits.max_model_len, limits)
    if members is None:
        pages = [page_size_bytes(spec)] * len(per_stage)
    else:
        pages = [_page_on(members, stage, count) for stage, count in enumerate(per_stage)]
    return CacheGroup(
        num_layers=sum(per_stage),
        kind=spec.cls if members is None else UNIFORM_TYPE,
        block_size=spec.block_size,
        page_size_bytes=pages[0],
        max_bytes_per_request=blocks * pages[0],
        blocks_per_request=blocks,
        spec=as_layer_spec(spec),
        layers_per_stage=tuple(per_stage),
        page_size_per_stage=tuple(pages),
        members=tuple(LayerRun(sum(counts), as_layer_spec(member)) for member, counts in (members or {}).items()),
    )


def _page_on(members: Layers, stage: int, layers_there: int) -> int:
    """All members' pages on one stage; on all stages where it has none, as vLLM leaves the group's spec then."""
    return sum(
        (counts[stage] if layers_there else sum(counts)) * page_size_bytes(member) for member, counts in members.items()
    )
