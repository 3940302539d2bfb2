"""The numbers of the cache, opened: pages, groups, blocks, what a request takes, the two figures of the log."""

from __future__ import annotations

from collections import Counter

from snippets.planner.cache.held import grows
from snippets.planner.cache.pages import page_size_bytes, spec_of
from snippets.planner.explain.explained import Explained
from snippets.planner.explain.pages import need, page
from snippets.planner.explain.sources import NEEDS, OURS, PAGES, SOURCES
from snippets.planner.resolved import Resolved
from snippets.planner.specs import CacheGroup, CacheLayout, CachePlan
from snippets.units import count


def cache_numbers(
    cache: CachePlan, resolved: Resolved, available_bytes: int, bytes_per_token: int | None
) -> list[Explained]:
    """In the order vLLM takes the steps. Bytes are of one rank."""
    layout = CacheLayout.of(cache)
    opened = _blocks(layout, resolved)
    opened.append(_num_gpu_blocks(cache, resolved, available_bytes))
    opened.append(_blocks_per_request(layout))
    opened.append(
        Explained(
            "max_concurrency",
            f"{cache.max_concurrency:.2f}x",
            "num_blocks / num_block_per_request",
            f"{count(cache.num_gpu_blocks)} / {count(cache.blocks_per_request)}",
            SOURCES["max_concurrency"],
        )
    )
    opened.append(
        Explained(
            "kv_cache_size_tokens",
            f"{count(cache.kv_cache_size_tokens)} tokens",
            "int(max_concurrency * max_model_len)",
            f"int({cache.max_concurrency:.6g} * {count(cache.max_model_len)})",
            SOURCES["kv_cache_size_tokens"],
        )
    )
    if bytes_per_token is not None:
        opened.append(_per_token(layout, resolved, bytes_per_token))
    return opened


def layout_numbers(layout: CacheLayout, resolved: Resolved, bytes_per_token: int | None) -> list[Explained]:
    """Those of them that need no memory."""
    opened = [*_blocks(layout, resolved), _blocks_per_request(layout)]
    if bytes_per_token is not None:
        opened.append(_per_token(layout, resolved, bytes_per_token))
    return opened


def _blocks(layout: CacheLayout, resolved: Resolved) -> list[Explained]:
    """Groups and the bytes of a block. Of groups with the same numbers the first stands."""
    first: dict[tuple[object, ...], int] = {}
    for i, group in enumerate(layout.groups):
        first.setdefault((group.kind, group.block_size, group.page_size_bytes, group.blocks_per_request), i)
    opened = [line for i in first.values() for line in _group(i, layout.groups[i], layout, resolved)]
    return [*opened, _groups(layout), _bytes_per_block(layout)]


def _group(index: int, group: CacheGroup, cache: CacheLayout, resolved: Resolved) -> list[Explained]:
    formula, numbers = page(group.spec)
    if group.kind == "UniformTypeKVCacheSpecs":
        formula, numbers = "sum of the layers' pages", f"{group.num_layers} layers with pages of unequal size"
    taken, taken_numbers = need(group, resolved.limits, cache.max_model_len)
    return [
        Explained(
            f"groups[{index}].page_size_bytes",
            f"{count(group.page_size_bytes)} bytes",
            formula,
            numbers,
            PAGES.get(group.kind, SOURCES["groups"]),
        ),
        Explained(
            f"groups[{index}].blocks_per_request",
            count(group.blocks_per_request),
            taken,
            taken_numbers,
            NEEDS.get(group.kind, SOURCES["blocks_per_request"]),
        ),
    ]


def _groups(cache: CacheLayout) -> Explained:
    kinds = ", ".join(f"{group.num_layers} × {group.kind}" for group in cache.groups)
    return Explained(
        "groups",
        count(len(cache.groups)),
        "layers that share a block table; every group takes its blocks from one pool",
        kinds or "no layer caches anything",
        SOURCES["groups"],
    )


def _bytes_per_block(cache: CacheLayout) -> Explained:
    pages = {group.page_size_bytes for group in cache.groups}
    if len(cache.groups) > 1 and any(group.members for group in cache.groups):
        formula, numbers = "sum over page sizes of page * slots: the most layers with it in a group", _slots(cache)
    elif len(pages) == 1 and (size := pages.pop()) and cache.bytes_per_block % size == 0:
        formula = "page_size * group_size"
        numbers = f"{count(size)} * {cache.bytes_per_block // size}"
    else:
        formula, numbers = "sum of the layers' pages", " + ".join(count(g.page_size_bytes) for g in cache.groups)
    value = f"{count(cache.bytes_per_block)} bytes"
    return Explained("bytes_per_block", value, formula, numbers, SOURCES["bytes_per_block"])


def _slots(cache: CacheLayout) -> str:
    """DeepSeek-V4's packed layout: layers of different groups that have one page size lie on each other."""
    slots: Counter[int] = Counter()
    for group in cache.groups:
        layers: Counter[int] = Counter()
        for run in group.members:
            spec = spec_of(run.spec)
            layers[run.spec.page_size_padded or (page_size_bytes(spec) if spec else 0)] += run.count
        slots |= layers  # the larger of both
    return " + ".join(f"{count(size)} * {times}" for size, times in slots.items())


def _blocks_per_request(cache: CacheLayout) -> Explained:
    if len({group.page_size_bytes for group in cache.groups}) > 1:
        formula = "cdiv(sum of the groups' max_memory_usage_bytes, page_size of the first)"
        terms = " + ".join(count(group.max_bytes_per_request) for group in cache.groups)
        numbers = f"cdiv({terms}, {count(cache.groups[0].page_size_bytes)})"
    else:
        formula = "sum over groups of a request's blocks"
        numbers = " + ".join(str(group.blocks_per_request) for group in cache.groups) or "0"
    value = count(cache.blocks_per_request)
    return Explained("blocks_per_request", value, formula, numbers, SOURCES["blocks_per_request"])


def _num_gpu_blocks(cache: CachePlan, resolved: Resolved, available_bytes: int) -> Explained:
    override = resolved.limits.num_gpu_blocks_override
    if override is not None:
        formula, numbers, source = "num_gpu_blocks_override", count(override), SOURCES["override"]
    else:
        formula, source = "available_memory // page_size // group_size", SOURCES["num_gpu_blocks"]
        numbers = f"{count(available_bytes)} // {count(cache.bytes_per_block)}"
        if len(resolved.stages) > 1:
            formula += ", the smallest of the pipeline's stages"
    return Explained("num_gpu_blocks", count(cache.num_gpu_blocks), formula, numbers, source)


def _per_token(cache: CacheLayout, resolved: Resolved, bytes_per_token: int) -> Explained:
    full = cache.max_model_len
    growing = [group for group in cache.groups if grows(group, full)]
    dcp = resolved.limits.decode_context_parallel_size
    terms = " + ".join(f"{count(cache.bytes_per_block)} / {group.block_size * dcp}" for group in growing)
    return Explained(
        "kv_bytes_per_token",
        f"{count(bytes_per_token)} bytes",
        f"sum of bytes_per_block / block_size over the groups that still grow at {count(full)} tokens",
        terms or "0",
        OURS,
    )
