"""The planner beside real start-up logs, as Markdown tables: by kind of model, the exceptions, and log by log."""

from __future__ import annotations

from collections.abc import Sequence

from snippets.planner.evidence.agreement import Agreement, agreements, published_agreements
from snippets.planner.evidence.table import CategoryRow, category_rows

KIND_HEAD = ("kind of model", "logs", "with memory and layout", "agree", "farthest of these", "over 1 % too much")
LOG_HEAD = ("log", "model", "vLLM", "kind", "result", "planner beside log", "what had to be inferred", "source")
FIGURES = {
    "kv_tokens": "tokens",
    "gpu_blocks": "blocks",
    "max_concurrency": "concurrency",
    "error_needed_gib": "GiB needed",
    "error_estimated_max_len": "longest length",
    "error_kv_tokens": "tokens stored",
    "refused": "refused",
}


def by_kind() -> str:
    """How many logs agree and how closely; a log can be of several kinds."""
    return _table(KIND_HEAD, [_kind_row(row) for row in category_rows()], right=KIND_HEAD[1:])


def exceptions() -> str:
    """Logs and published figures that differ, and why."""
    every = (*agreements(), *published_agreements())
    differing = [one for one in every if one.status in ("differs", "exception")]
    return "\n".join(
        f"- {one.log.model} ({one.log.source}): {_share(one.deviation)} beside the log. {_sentence(one)}"
        for one in differing
    )


def left_out() -> str:
    """Logs that cannot be held against the planner, and why."""
    rows = [one for one in agreements() if one.status not in ("agrees", "differs", "exception")]
    return "\n".join(f"- {one.log.id}, {one.log.model}: {_why(one)}." for one in rows)


def log_by_log() -> str:
    """Every log, and every figure published elsewhere."""
    every = (*agreements(), *published_agreements())
    return _table(LOG_HEAD, [_log_row(one) for one in every], right=("planner beside log",))


def _kind_row(row: CategoryRow) -> tuple[str, ...]:
    farthest = _share(row.largest_deviation) if row.agree else "–"
    return (row.category, str(row.logs), str(row.comparable), str(row.agree), farthest, str(row.optimistic))


def _log_row(one: Agreement) -> tuple[str, ...]:
    result = one.status if not one.compared else f"{one.status}: {', '.join(FIGURES[name] for name in one.compared)}"
    return (
        one.log.id,
        one.log.model,
        one.log.vllm_version or "not stated",
        ", ".join(one.layout.categories),
        result,
        _share(one.deviation),
        one.layout.inferred or one.layout.unknown or one.layout.exception or "–",
        one.log.source,
    )


def _share(deviation: float | None) -> str:
    """A deviation as a signed percentage: +0.12 %, or 0.00 %."""
    if deviation is None:
        return "–"
    rounded = round(100 * deviation, 2)
    return f"{rounded:+.2f} %".replace("-", "−") if rounded else "0.00 %"


def _sentence(one: Agreement) -> str:
    reason = one.layout.exception or "no reason is known"
    return f"{reason[0].upper()}{reason[1:]}."


def _why(one: Agreement) -> str:
    if one.status == "consistent":
        return "no KV memory is printed; its figures fit each other"
    return one.layout.unknown or one.status


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> str:
    rule = ["---:" if name in right else "---" for name in head]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in (head, rule, *rows))
