"""python -m tools.fit_memory: refits, evaluates, writes coefficients.json and evidence.json; --check only compares."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from tools.fit_memory.cases import ROOT, Case, Cases, load
from tools.fit_memory.evaluate import Prediction, Score, baseline, left_out, score
from tools.fit_memory.fit import fit

HOME = ROOT / "snippets" / "planner" / "memory"
COEFFICIENTS, EVIDENCE = HOME / "coefficients.json", HOME / "evidence.json"
DIGITS = 4
OURS = (0, 26)


def rounded(value: Any) -> Any:
    """Floats to four digits, all the way down: stored files compare equal on every machine."""
    if isinstance(value, float):
        return round(value, DIGITS)
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def coefficients(cases: Cases) -> dict[str, Any]:
    """What coefficients.json holds."""
    fields: dict[str, Any] = rounded(asdict(fit(cases.every)))
    return fields


def _row(ours: Prediction, plain: Prediction | None) -> dict[str, Any]:
    case = ours.case
    row = {
        "id": case.id,
        "model": case.model,
        "vllm_version": ".".join(map(str, case.version)),
        "engine": "V0" if case.era == "v0" else "V1",
        "source": case.source,
        "card_inferred": case.card_inferred,
        "utilization": case.utilization,
        "utilization_stated": case.utilization_stated,
        "low_gib": ours.low_gib,
        "expected_gib": ours.expected_gib,
        "high_gib": ours.high_gib,
        "measured_gib": ours.measured_gib,
        "error": ours.error,
        "inside": ours.inside,
    }
    if plain is not None:
        row |= {"baseline_gib": plain.expected_gib, "baseline_error": plain.error}
    return row


def _scores(cases: Cases, logs: tuple[Case, ...]) -> dict[str, dict[str, Any]]:
    def pair(leave: Any) -> dict[str, Any]:
        return {
            "estimate": asdict(score(left_out(cases, logs, leave))),
            "baseline": _without_range(score(baseline(logs, leave))),
        }

    return {"leave_one_log_out": pair("log"), "leave_one_source_out": pair("source")}


def _without_range(of: Score) -> dict[str, Any]:
    return {key: value for key, value in asdict(of).items() if key != "inside"}


def evidence(cases: Cases) -> dict[str, Any]:
    """What evidence.json holds: every log with its prediction, and the summary."""
    current = tuple(c for c in cases.logs if c.era != "v0")
    of_our_version = [c for c in cases.breakdowns if c.version == OURS and c.available_gib is not None]
    plain = baseline(cases.logs)
    fields: dict[str, Any] = {
        "summary": {
            "all": _scores(cases, cases.logs),
            "v1_engine": _scores(cases, current),
            "card_not_inferred": _scores(cases, tuple(c for c in cases.logs if not c.card_inferred)),
        },
        "logs": [_row(ours, base) for ours, base in zip(left_out(cases, cases.logs), plain, strict=True)],
        "of_0_26": [_row(ours, None) for ours in left_out(cases, of_our_version, "source")],
        "unified_memory": [_row(ours, None) for ours in left_out(cases, cases.unified)],
        "left_out": cases.left_out,
        "breakdowns": len(cases.breakdowns),
    }
    return dict(rounded(fields))


def text(fields: dict[str, Any]) -> str:
    """JSON with one row a line."""
    parts = []
    for key, value in fields.items():
        if isinstance(value, list):
            body = "[\n" + ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in value) + "\n  ]"
        else:
            body = json.dumps(value, ensure_ascii=False)
        parts.append(f"  {json.dumps(key)}: {body}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(argv: list[str] | None = None) -> int:
    """Writes both files, or with --check says whether they are what the fit gives."""
    parser = argparse.ArgumentParser(prog="python -m tools.fit_memory", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a stored file differs")
    options = parser.parse_args(argv)
    cases = load()
    found = evidence(cases)
    for name, scores in found["summary"].items():
        for leave, pair in scores.items():
            print(f"{name:18} {leave:20} estimate {pair['estimate']}  baseline {pair['baseline']}")
    differing = []
    for path, fields in ((COEFFICIENTS, coefficients(cases)), (EVIDENCE, found)):
        if options.check:
            if not path.exists() or path.read_text(encoding="utf-8") != text(fields):
                differing.append(path.name)
        else:
            path.write_text(text(fields), encoding="utf-8")
    if differing:
        print("not what the fit gives: " + ", ".join(differing) + "; run python -m tools.fit_memory", file=sys.stderr)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
