"""A lab's result file as runs, one for each setting: exact numbers where it has them, its log lines for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from snippets.lab_results.schema import faults
from snippets.run_check.from_log import of_start
from snippets.run_check.run import Dropped, Pair, Run, Shape
from snippets.startup_log.read import read_log
from snippets.startup_log.settings import take
from snippets.startup_log.start import NotALogError

SCHEMA = 2
MOST_SETTINGS = 24
MOST_FAULTS = 3
MOST_PAIRS = 60
WORDS = {
    "other": "This JSON is no result of a lab: it has no “lab” and no “settings”. A lab writes LAB.result.json.",
    "schema": "This result has schema {found}; this page reads schema {schema}. Take the lab's file of today and run "
    "it again.",
    "faults": "This result is not whole: {faults}{more}.",
    "more": "; and {n} more",
    "none": "This result holds no finished setting yet.",
    "many": "The first {n} of {all} settings are shown.",
    "skipped": "{name} was skipped: {reason}",
    "title": "{lab}, {date}, vLLM {version}",
    "quick": " (--quick)",
}


class NotAResultError(ValueError):
    """The object is no result that can be read here; the message says why."""


def read_result(result: Mapping[str, Any]) -> Dropped:
    """Every finished setting. Raises NotAResultError."""
    if not {"lab", "settings"} & result.keys():
        raise NotAResultError(WORDS["other"])
    if result.get("schema") != SCHEMA:
        found = result.get("schema")
        shown = found if isinstance(found, int) and abs(found) < 10**6 else "none"
        raise NotAResultError(WORDS["schema"].format(found=shown, schema=SCHEMA))
    if wrong := faults(result):
        more = WORDS["more"].format(n=len(wrong) - MOST_FAULTS) if len(wrong) > MOST_FAULTS else ""
        shown = "; ".join(fault[:160] for fault in wrong[:MOST_FAULTS])
        raise NotAResultError(WORDS["faults"].format(faults=shown, more=more))
    settings = result["settings"]
    if not settings:
        raise NotAResultError(WORDS["none"])
    title = WORDS["title"].format(lab=result["lab"], date=result["date"], version=result["versions"]["vllm"])
    notes = (WORDS["many"].format(n=MOST_SETTINGS, all=len(settings)),) if len(settings) > MOST_SETTINGS else ()
    runs = tuple(_run(one, result) for one in settings[:MOST_SETTINGS])
    return Dropped(title + (WORDS["quick"] if result["quick"] else ""), runs, notes)


def _run(setting: Mapping[str, Any], result: Mapping[str, Any]) -> Run:
    measured = {name: one["value"] for name, one in setting["measured"].items()}
    card = result["card"]
    settings, notes = take({**setting["engine_args"], **_resolved(measured)})
    skipped = setting["skipped"] or ""
    run = replace(
        _of_lines(setting["startup_lines"]),
        name=setting["name"],
        model=setting["model"],
        version=result["versions"]["vllm"],
        settings=settings,
        usage="llm",
        card=card["name"],
        is_cpu=card["device"] == "cpu",
        total=card["total_bytes"],
        free=card["free_bytes"],
        shape=_shape(setting["shape"]),
        skipped=skipped,
        pairs=_pairs(setting),
        notes=(*notes, *setting["notes"]),
    )
    exact = _whole(measured, "available_bytes")
    return replace(
        run,
        available=run.available if exact is None else exact,
        is_exact=exact is not None,
        num_gpu_blocks=_whole(measured, "num_gpu_blocks"),
        kv_tokens=_whole(measured, "kv_cache_size_tokens") or run.kv_tokens,
        max_concurrency=_number(measured, "max_concurrency") or run.max_concurrency,
    )


def _of_lines(lines: list[str]) -> Run:
    try:
        return of_start(read_log("\n".join(lines)))
    except NotALogError:
        return Run("", "", "", {})


def _resolved(measured: Mapping[str, Any]) -> dict[str, object]:
    """Settings that vLLM chose and the lab read back."""
    names = ("block_size", "max_num_batched_tokens", "max_num_seqs")
    return {name: measured[name] for name in names if measured.get(name) is not None}


def _number(measured: Mapping[str, Any], name: str) -> float | None:
    value = measured.get(name)
    return float(value) if isinstance(value, int | float) and abs(value) < 10**15 else None


def _whole(measured: Mapping[str, Any], name: str) -> int | None:
    value = _number(measured, name)
    return None if value is None else int(value)


def _shape(fields: Mapping[str, Any] | None) -> Shape | None:
    if fields is None:
        return None
    return Shape(*(min(int(fields[name]), 10**6) for name in ("num_layers", "num_kv_heads", "head_dim", "dtype_bytes")))


def _value(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _pairs(setting: Mapping[str, Any]) -> tuple[Pair, ...]:
    """What the lab set side by side itself: its checks, then predictions that have a measurement of that name."""
    checks = [
        Pair(one["invariant"], _value(one["predicted"]), _value(one["measured"]), one["unit"], one["equal"])
        for one in setting["checks"]
    ]
    others = [
        Pair(name, _value(one["value"]), _value(setting["measured"][name]["value"]), one["unit"])
        for name, one in setting["predicted"].items()
        if name in setting["measured"]
    ]
    return tuple([*checks, *others][:MOST_PAIRS])
