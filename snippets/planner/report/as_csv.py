"""A plan as CSV: one number a row."""

from __future__ import annotations

import csv
import io

from snippets.planner.plan import Plan

HEADER = ("name", "value", "formula", "numbers", "source")


def to_csv(plan: Plan) -> str:
    """Rows of `explained`, after them the log lines, the notes and the errors. RFC 4180, UTF-8, line ends \\r\\n."""
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(HEADER)
    for number in plan.explained:
        rows.writerow((number.name, number.value, number.formula, number.numbers, number.source))
    for line in plan.cache.log_lines if plan.cache else ():
        rows.writerow(("log_line", line, "", "", ""))
    for note in plan.notes:
        rows.writerow(("note", note, "", "", ""))
    for error in plan.errors:
        rows.writerow((f"error: {error.field}", error.message, error.way_out, "", ""))
    return out.getvalue()
