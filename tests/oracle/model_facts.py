"""Our answers to the questions of model_oracle.py in the same form, and where the two differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snippets.catalog.gpus import gpu
from snippets.model_config.model_config import ConfigError, ModelConfig
from snippets.model_config.read import read_config
from snippets.planner.cache.pages import page_size_bytes, spec_of
from snippets.planner.cache.plan import plan_cache
from snippets.planner.engine_args import EngineArgs, EngineArgsError, SpeculativeConfig
from snippets.planner.resolved import Resolved
from snippets.planner.settings import resolve
from snippets.planner.specs import CacheError, LayerSpec, Stage

Facts = dict[str, Any]
CLASSES = {
    "full": "FullAttentionSpec",
    "mla": "MLAAttentionSpec",
    "sliding": "SlidingWindowSpec",
    "chunked": "ChunkedLocalAttentionSpec",
    "mamba": "MambaSpec",
    "cross": "CrossAttentionSpec",
    "sliding_mla": "SlidingWindowMLASpec",
    "turboquant": "TQFullAttentionSpec",
}


def engine_args(question: Mapping[str, Any]) -> EngineArgs:
    """The question's arguments in our form."""
    given = dict(question.get("args", {}))
    speculative = given.pop("speculative", None)
    if speculative is not None:
        draft = question.get("draft")
        given["speculative"] = SpeculativeConfig(
            speculative["method"], speculative["num_speculative_tokens"], read_config(draft) if draft else None
        )
    return EngineArgs(**given)


def ours(question: Mapping[str, Any], config: ModelConfig | None = None) -> Facts:
    """Our answer to one question; {"error": text} for what we refuse before planning."""
    try:
        config = config or read_config(question["config"])
        resolved = resolve(config, engine_args(question), gpu(question["gpu"]))
    except (ConfigError, EngineArgsError) as error:
        return {"error": str(error)}
    facts: Facts = {"settings": settings(resolved), "stages": [stage_runs(stage) for stage in resolved.stages]}
    return facts | _plan(resolved, question["available_bytes"])


def settings(resolved: Resolved) -> Facts:
    """The settings that the oracle reports."""
    names = (
        "dtype", "max_model_len", "quantization", "kv_cache_dtype", "block_size", "enable_prefix_caching",
        "mamba_cache_mode", "max_num_seqs", "max_num_batched_tokens", "enable_chunked_prefill", "async_scheduling",
    )  # fmt: skip
    limits = resolved.limits
    return {name: getattr(resolved, name) for name in names} | {
        "disable_hybrid_kv_cache_manager": limits.disable_hybrid_kv_cache_manager,
        "max_in_flight_tokens": limits.max_in_flight_tokens,
    }


def stage_runs(stage: Stage) -> list[list[Any]]:
    """[count, facts] of every run of layers."""
    runs: list[list[Any]] = []
    for run in stage:
        facts = spec_facts(run.spec)
        if runs and runs[-1][1] == facts:  # a drafter's layers may equal the target's last
            runs[-1][0] += run.count
        else:
            runs.append([run.count, facts])
    return runs


def spec_facts(spec: LayerSpec) -> Facts:
    """A spec as the oracle writes it: what is None, False or does not exist for its class is left out."""
    aligned = spec_of(spec)
    assert aligned is not None
    facts: Facts = {
        "class": CLASSES[spec.kind],
        "block_size": spec.block_size,
        "page_size_bytes": page_size_bytes(aligned),
    }
    if aligned.page_size_padded is not None:
        facts["page_size_padded"] = aligned.page_size_padded
    if spec.kind == "mamba":
        return facts | {
            "shapes": [list(shape) for shape in spec.shapes],
            "dtypes": list(spec.dtypes),
            "mamba_type": spec.mamba_type,
            "mamba_cache_mode": spec.mamba_cache_mode,
            "num_speculative_blocks": spec.num_speculative_blocks,
        }
    facts |= {"num_kv_heads": spec.num_kv_heads, "head_size": spec.head_size, "dtype": spec.dtype}
    if spec.kind in ("full", "mla", "sliding", "turboquant"):
        facts["head_size_v"] = spec.head_size_v
    if spec.indexes_kv_by_block_stride:
        facts["indexes_kv_by_block_stride"] = True
    if spec.kind in ("sliding", "sliding_mla"):
        facts["sliding_window"] = spec.sliding_window
    if spec.kind == "chunked":
        facts["attention_chunk_size"] = spec.attention_chunk_size
    if spec.kind == "turboquant":
        facts["tq_slot_size"] = spec.tq_slot_size
    if spec.kind in ("mla", "sliding_mla"):
        facts["compress_ratio"] = spec.compress_ratio
        if spec.alignment is not None:
            facts["alignment"] = spec.alignment
        if spec.model_version is not None:
            facts["model_version"] = spec.model_version
    return facts


def _plan(resolved: Resolved, available_bytes: int) -> Facts:
    if not any(resolved.stages):
        return {"num_blocks": 1}
    try:
        plan = plan_cache(resolved.stages, [available_bytes] * len(resolved.stages), resolved.limits)
    except CacheError as error:
        return {"plan_error": str(error)}
    return {
        "num_blocks": plan.num_gpu_blocks,
        "tokens": plan.kv_cache_size_tokens,
        "concurrency": plan.max_concurrency,
        "max_model_len_after": plan.max_model_len,
        "groups": [[g.num_layers, g.kind, g.block_size, g.page_size_bytes] for g in plan.groups],
    }


def kind_of(theirs: Facts) -> str:
    """What vLLM answered: a plan, a refusal in planning, or one before it."""
    if "error" in theirs:
        return "refused settings"
    return "refused plans" if "plan_error" in theirs else "plans"


def own_words(error: str) -> bool:
    """Whether vLLM's refusal is no sentence for a user: a bare assertion, or a crash we put a sentence to."""
    return not error or error in BARE


BARE = (
    "integer modulo by zero",  # gpt-oss: no copied KV heads
    "No model architectures are specified",
)
IGNORED = ("seconds", "weights", "drafter_weights", "backends", "cache_dtype_str")


def differences(mine: Facts, theirs: Facts) -> list[str]:
    """What differs, one line each; [] when equal. An error needs to be an error on both sides."""
    if "error" in theirs or "error" in mine:
        if "error" in theirs and "error" in mine:
            return []
        if "error" in mine and "plan_error" in theirs:  # it would fail later, in planning
            return []
        return [f"error: ours {mine.get('error')!r}, vLLM's {theirs.get('error')!r}"]
    found = [
        f"{name}: ours {mine['settings'].get(name)!r}, vLLM's {value!r}"
        for name, value in theirs["settings"].items()
        if mine["settings"].get(name) != value
    ]
    theirs_stages = [[[n, _without(facts)] for n, facts in stage] for stage in theirs["stages"]]
    mine_stages = [[[n, _without(facts)] for n, facts in stage] for stage in mine["stages"]]
    if mine_stages != theirs_stages:
        found.append(f"stages: {_first_difference(mine_stages, theirs_stages)}")
    for name in ("num_blocks", "tokens", "concurrency", "max_model_len_after", "groups", "plan_error"):
        if mine.get(name) != theirs.get(name):
            found.append(f"{name}: ours {mine.get(name)!r}, vLLM's {theirs.get(name)!r}")
    return found


def _without(facts: Facts) -> Facts:
    return {name: value for name, value in facts.items() if name not in IGNORED}


def _first_difference(mine: list[Any], theirs: list[Any]) -> str:
    for i, (a, b) in enumerate(zip(mine, theirs, strict=False)):
        for j, (x, y) in enumerate(zip(a, b, strict=False)):
            if x != y:
                keys = [key for key in {**x[1], **y[1]} if x[1].get(key) != y[1].get(key)]
                detail = ", ".join(f"{key} {x[1].get(key)!r} for {y[1].get(key)!r}" for key in keys)
                return f"stage {i} run {j}: {x[0]} layers for {y[0]}; {detail}"
        if len(a) != len(b):
            return f"stage {i}: {len(a)} runs for {len(b)}"
    return f"{len(mine)} stages for {len(theirs)}"
