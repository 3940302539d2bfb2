"""The cache planner against stored answers of vLLM 0.26.0's own planning code (tests/oracle/record.py)."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from snippets.planner.cache.spec_lines import answer

CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    tuple(json.loads(text))
    for text in (Path(__file__).resolve().parents[2] / "oracle" / "spec_answers.jsonl").read_text("utf-8").splitlines()
]


def differences(wanted: str) -> list[str]:
    """The stored cases of one outcome ("num_blocks", "error" or "raises") where ours is another answer."""
    found = []
    for line, theirs in CASES:
        if wanted in theirs:
            ours = answer({**line, "log_lines": True})
            same = "error" in ours if wanted == "raises" else ours == theirs
            found += [] if same else [f"{json.dumps(line)}\n  vLLM: {theirs}\n  ours: {ours}"]
    return found


def test_every_plan_is_vllms_to_the_last_group_and_log_line() -> None:
    assert differences("num_blocks") == []


def test_every_error_is_vllms_word_for_word() -> None:
    assert differences("error") == []


def test_what_vllm_only_asserts_is_refused() -> None:
    assert differences("raises") == []


def test_the_stored_cases_cover_every_kind_of_answer() -> None:
    counted = Counter(key for _, theirs in CASES for key in ("num_blocks", "error", "raises") if key in theirs)
    assert counted["num_blocks"] >= 500
    assert counted["error"] >= 200
    assert counted["raises"] >= 50
    classes = {group[1] for _, theirs in CASES for group in _groups(theirs)}
    assert classes >= {
        "FullAttentionSpec",
        "MLAAttentionSpec",
        "TQFullAttentionSpec",
        "SlidingWindowSpec",
        "ChunkedLocalAttentionSpec",
        "CrossAttentionSpec",
        "MambaSpec",
        "UniformTypeKVCacheSpecs",
    }
    fields = {field for line, theirs in CASES if "num_blocks" in theirs for field in line}
    assert fields >= {"stages", "dcp", "num_gpu_blocks_override", "original_max_model_len", "disable_hybrid"}


def _groups(answer: dict[str, Any]) -> list[Any]:
    groups: list[Any] = answer.get("groups", [])
    nested = groups and groups[0] and isinstance(groups[0][0], list)
    return [group for stage in groups for group in stage] if nested else groups
