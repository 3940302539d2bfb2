"""Recorded lab runs as Markdown, read from labs/results/: what was run, and measured beside predicted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ROWS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("blocks", "num_gpu_blocks", lambda n: f"{n:,}"),
    ("tokens", "kv_cache_size_tokens", lambda n: f"{n:,}"),
    ("concurrency", "max_concurrency", lambda n: f"{n:.2f}x"),
)


def load(name: str) -> dict[str, Any]:
    """The record labs/results/NAME.json: `provenance`, and `runs` as the lab wrote them."""
    record: dict[str, Any] = json.loads((ROOT / "labs" / "results" / f"{name}.json").read_text(encoding="utf-8"))
    return record


def _settings(run: dict[str, Any]) -> str:
    given = run["engine_args"]
    return f"KV cache {given['kv_cache_dtype']}, blocks of {run['measured']['block_size']} tokens"


def runs_table(name: str) -> str:
    """One row per run, vLLM's number and the formula's in each cell; below, what came of the question."""
    record = load(name)
    lines = ["| setting | " + " | ".join(f"{label}: vLLM / formula" for label, *_ in ROWS) + " |"]
    lines.append("|---|" + "---:|" * len(ROWS))
    answers = []
    for run in record["runs"]:
        found, made, said = run["measured"], run["predicted_from_available"], run["answer"]
        cells = [f"{show(found[key])} / {show(made[key])}" for _, key, show in ROWS]
        lines.append(f"| {_settings(run)} | {' | '.join(cells)} |")
        came = f"{said['output_tokens']} tokens answered" if said else f"no answer, because {run['no_answer']}"
        answers.append(f"- {_settings(run)}: {came}. Attention backend: {found['attention_backend']}.")
    return "\n".join([*lines, "", *answers])


def provenance(name: str) -> str:
    """Where the record comes from, as one paragraph."""
    found = load(name)["provenance"]
    return (
        f"{found['what']} {found['model']} Recorded {found['date']} with vLLM {found['vllm']}, torch {found['torch']}."
    )
