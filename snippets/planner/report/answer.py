"""The answer in a few lines, the same in the text report and in Markdown."""

from __future__ import annotations

from collections import Counter

from snippets.planner.estimate import Budget, Fit, Range
from snippets.planner.plan import Plan, PlanError
from snippets.planner.report.simultaneous import requests_at_once
from snippets.units import count, gib

WEIGHTS_BEYOND = "CUDA out of memory: the weights take"
FEWER_BITS = "Or take a checkpoint of it in 8 or 4 bits (FP8, AWQ, GPTQ), and give that one's config.json."


def headline(plan: Plan) -> str:
    """One sentence: it starts and how much it holds, or it does not."""
    if plan.cache is None:
        said = any(error.from_vllm for error in plan.errors)
        if not said and plan.resolved is None and any(error.field == "architectures" for error in plan.errors):
            return "There is no plan: this model is not planned here."
        return "vLLM 0.26.0 would refuse to start." if said else "There is no plan: something is missing."
    cache = plan.cache
    if not cache.groups:
        return "vLLM 0.26.0 would start; no layer of this model keeps a KV cache."
    at_once = requests_at_once(plan) or 0
    limit = " (max_num_seqs)" if at_once < int(cache.max_concurrency) else ""
    held = f"{count(cache.kv_cache_size_tokens)} tokens of KV cache"
    requests = f"{count(at_once)} request{'' if at_once == 1 else 's'} of {count(cache.max_model_len)} tokens"
    verb = "may" if plan.cache_low is None else "would"
    copies = plan.args.data_parallel_size
    each = f" on each of {copies} replicas, {count(copies * at_once)} in all" if copies > 1 else ""
    return f"vLLM 0.26.0 {verb} start: {held}, {requests} at once{limit}{each}."


def sentence(text: str) -> str:
    """With a full stop at its end; vLLM's own messages have none now and then."""
    return text if not text or text.endswith((".", "!", "?", ":")) else f"{text}."


def as_line(error: PlanError, plan: Plan) -> str:
    """What is wrong and what to change, in one line."""
    field = f"{error.field}: " if error.field else ""
    return f"{field}{sentence(error.message)} {way_out(error, plan)}".strip()


def way_out(error: PlanError, plan: Plan) -> str:
    """What to change; weights of 16 bits beyond the card may be had in fewer."""
    if not error.message.startswith(WEIGHTS_BEYOND) or plan.resolved is None or plan.resolved.quantization is not None:
        return error.way_out
    return f"{error.way_out} {FEWER_BITS}".strip()


def ends(plan: Plan) -> str:
    """How far the estimate may be off, in tokens; without a cache what limits instead. Empty where memory was given."""
    if plan.cache is not None and not plan.cache.groups:
        return _without_cache(plan)
    if plan.cache is not None and plan.fit is not None:
        return fit_words(plan.fit)
    if plan.budget is None or plan.cache is None or plan.cache_high is None:
        return ""
    high = count(plan.cache_high.kv_cache_size_tokens)
    if plan.cache_low is None:
        return f"The memory is estimated. At the low end vLLM would refuse; at the high end: {high} tokens."
    low = count(plan.cache_low.kv_cache_size_tokens)
    return f"The memory is estimated: {low} to {high} tokens between the ends of the estimate."


def fit_words(fit: Fit) -> str:
    """How far a cache of fixed size and all else fill the card."""
    room = f"{gib(fit.room_bytes)} {'that are free' if fit.is_free_memory else 'of the card'}"
    then = "it fits" if fit.is_sure else "at the high end the server would run out of memory"
    return (
        "The cache has a fixed size; vLLM does not measure whether it fits. With weights and what a step needs, as "
        f"estimated, {gib(fit.held.low)} to {gib(fit.held.high)} are taken of the {room}: {then}."
    )


def _without_cache(plan: Plan) -> str:
    resolved = plan.resolved
    if resolved is None:
        return ""
    texts, tokens = count(resolved.max_num_seqs), count(resolved.max_num_batched_tokens)
    longest = count(resolved.max_model_len)
    limits = f"A step takes at most {texts} texts of together {tokens} tokens, each of at most {longest}."
    return limits if plan.weights_bytes else f"{limits} The weights are not counted here, and have to fit the card."


def keeps_cache(plan: Plan) -> bool:
    """False for an encoder: what is left of the card is not used."""
    return plan.cache is None or bool(plan.cache.groups)


def budget_rows(budget: Budget, keeps_cache: bool = True) -> list[tuple[str, str, str]]:
    """(part, expected, low to high) of one rank's memory, from the card to the cache, or to what is missing for it."""
    share = f"{budget.requested_bytes / budget.total_bytes:.2f} of it" if budget.total_bytes else ""
    return [
        ("memory of the card", gib(budget.total_bytes), ""),
        ("requested by vLLM", gib(budget.requested_bytes), share),
        ("weights", gib(budget.weights_bytes), "given" if budget.weights_given else "counted"),
        _fitted("activation peak", budget.activation),
        _fitted("CUDA context, NCCL", budget.non_torch),
        _fitted("CUDA graphs", budget.cuda_graphs),
        _left(budget.available) if keeps_cache else ("left over", gib(budget.available.expected), "no KV cache"),
    ]


def _fitted(name: str, size: Range) -> tuple[str, str, str]:
    # Only graphs are ever surely nothing: newer runners take them from outside the budget.
    return (name, gib(size.expected), f"{gib(size.low)} to {gib(size.high)}" if size.high else "not subtracted")


def _left(size: Range) -> tuple[str, str, str]:
    """What remains for the cache; below nothing, how much is missing before there is one."""
    if size.expected >= 0:
        low = gib(size.low) if size.low >= 0 else f"{gib(-size.low)} too little"
        return ("KV cache", gib(size.expected), f"{low} to {gib(size.high)}")
    least = gib(-size.high) if size.high < 0 else "nothing"
    return ("missing for a KV cache", gib(-size.expected), f"{least} to {gib(-size.low)}")


def fact_rows(plan: Plan) -> list[tuple[str, str]]:
    """The exact figures of the cache; without a plan those that need no memory."""
    layout = plan.layout
    if layout is None or not layout.groups:
        return []
    rows = [("num_gpu_blocks", count(plan.cache.num_gpu_blocks))] if plan.cache else []
    rows += [
        ("bytes per block", count(layout.bytes_per_block)),
        ("blocks per request", count(layout.blocks_per_request)),
    ]
    if plan.kv_bytes_per_token is not None:
        rows.append(("bytes per further token", count(plan.kv_bytes_per_token)))
    return rows


def group_rows(plan: Plan) -> list[tuple[str, str, str, str, str]]:
    """(kind, layers, block size, page, blocks a request) of each group; like groups share a row."""
    groups = plan.layout.groups if plan.layout else ()
    alike = Counter(
        (group.kind, group.num_layers, group.block_size, group.page_size_bytes, group.blocks_per_request)
        for group in groups
    )
    return [
        (f"{times} × {kind}" if times > 1 else kind, count(layers), count(block), count(page), count(blocks))
        for (kind, layers, block, page, blocks), times in alike.items()
    ]
