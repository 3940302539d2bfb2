"""The command against vLLM's own parser: every flag, every finished command, every source line that is named."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Any

from asking import Oracle, Tally

from snippets.catalog.configs import catalog_config
from snippets.planner.command.other_flags import vllm_flags
from snippets.planner.command.own_flags import CACHE_DTYPES, DTYPES, MAMBA_MODES, STATE_DTYPES
from snippets.planner.engine_args import EngineArgs, SpeculativeConfig
from snippets.planner.explain.sources import NEEDS, PAGES, SOURCES
from snippets.planner.report.serve_command import serve_flags

HERE = Path(__file__).parent
MODEL, DRAFTER = "org/it's a model", "org/drafter"


def requests() -> Iterator[EngineArgs]:
    """Arguments of every kind."""
    plain = EngineArgs()
    yield plain
    yield replace(plain, max_model_len="auto")
    yield replace(
        plain,
        max_model_len=8192,
        gpu_memory_utilization=0.9,
        kv_cache_memory_bytes=2**33,
        max_num_seqs=3,
        max_num_batched_tokens=4096,
        block_size=32,
        quantization="awq",
        tensor_parallel_size=2,
        pipeline_parallel_size=3,
        data_parallel_size=4,
        enable_expert_parallel=True,
        decode_context_parallel_size=2,
        num_gpu_blocks_override=7,
        enforce_eager=True,
        mamba_block_size=64,
        attention_backend="FLASHINFER",
        disable_hybrid_kv_cache_manager=True,
    )
    yield from (replace(plain, kv_cache_dtype=name) for name in CACHE_DTYPES)
    yield from (replace(plain, dtype=name) for name in DTYPES)
    yield from (replace(plain, mamba_cache_dtype=name, mamba_ssm_cache_dtype=name) for name in STATE_DTYPES)
    yield from (replace(plain, mamba_cache_mode=name) for name in MAMBA_MODES)
    for caching, chunked, is_async in product((None, True, False), repeat=3):
        yield EngineArgs(enable_prefix_caching=caching, enable_chunked_prefill=chunked, async_scheduling=is_async)
    yield replace(plain, speculative=SpeculativeConfig("ngram", 5))
    yield replace(plain, speculative=SpeculativeConfig("eagle3", 3, catalog_config("llama-3.2-1b")))


def expected(args: EngineArgs) -> dict[str, Any]:
    """What vLLM's parser must give: its own defaults where the planner has None or an alias."""
    values = {field.name: getattr(args, field.name) for field in fields(args)}
    speculative = values.pop("speculative")
    values.pop("usage")
    values["max_model_len"] = -1 if args.max_model_len == "auto" else args.max_model_len
    values["mamba_cache_mode"] = args.mamba_cache_mode or "none"
    values["disable_hybrid_kv_cache_manager"] = args.disable_hybrid_kv_cache_manager or None
    values["speculative_config"] = None
    if speculative is not None:
        drafting = {"method": speculative.method, "num_speculative_tokens": speculative.num_speculative_tokens}
        values["speculative_config"] = drafting | ({"model": DRAFTER} if speculative.draft else {})
    return values


def compare(oracle_python: Path) -> Tally:
    """Finished commands, flags and source lines."""
    tally = Tally("command")
    with Oracle([oracle_python, HERE / "parser_oracle.py"]) as oracle:
        for args in requests():
            words = shlex.split(shlex.join([MODEL, *serve_flags(args, DRAFTER)]))
            found = oracle.ask({"words": words}).get("values", {})
            wanted = expected(args)
            _note(tally, "command", shlex.join(words), {name: found.get(name) for name in wanted}, wanted)
        flags = {tuple(row[:-1]): row[-1] for row in oracle.ask({"flags": True})["flags"]}
        _note(tally, "flags", "the list of flags", dict(vllm_flags()), flags)
        for source in [*SOURCES.values(), *PAGES.values(), *NEEDS.values()]:
            place, name = source.split(" ")
            _note(tally, "source", source, name in oracle.ask({"source": place})["functions"], True)
    return tally


def _note(tally: Tally, outcome: str, case: str, ours: object, theirs: object) -> None:
    tally.outcomes[outcome] += 1
    if ours != theirs:
        tally.different.append(f"{case}: {json.dumps(ours, default=str)} for {json.dumps(theirs, default=str)}")
