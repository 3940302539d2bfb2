"""What vLLM would print, and the command that starts it."""

from __future__ import annotations

from snippets.draw.figure import Layout
from snippets.planner.report.other_version import lines_of_version
from snippets.planner.report.serve_command import serve_command
from snippets.widgets.declare import Shown, Values
from snippets.widgets.parts.nodes import Node, code_block, disclosure
from snippets.widgets.planning.question import Answered, answered

WORDS = {
    "log": "vLLM 0.26.0 would log",
    "available": "Available KV cache memory: {gib} GiB",
    "command": "Start it with",
    "copy": "Copy",
    "versions": "In other versions",
    "version": "vLLM {version}",
}
VERSIONS = ("0.20.0", "0.33.0")


def _available(found: Answered) -> list[str]:
    """gpu_worker.py: printed where the memory was profiled."""
    left = found.plan.available_bytes
    if left is None or found.question.args.kv_cache_memory_bytes is not None:
        return []
    return [WORDS["available"].format(gib=f"{round(left / 2**30, 2)}")]


def log_section(values: Values, layout: Layout) -> Shown:
    """Log lines, their older and newer forms, and the command."""
    found = answered(values)
    if found is None:
        return Shown()
    parts: list[Node] = []
    plan, asked = found.plan, found.question
    if plan.cache and plan.cache.log_lines:
        lines = "\n".join([*_available(found), *plan.cache.log_lines])
        parts.append(code_block(WORDS["log"], lines, WORDS["copy"], "planner-log"))
        others = (
            code_block(
                WORDS["version"].format(version=version),
                "\n".join(lines_of_version(plan, version)),
                WORDS["copy"],
                f"planner-log-{version.replace('.', '-')}",
            )
            for version in VERSIONS
        )
        parts.append(disclosure((WORDS["versions"],), *others))
    if plan.cache is None:  # a command that was just refused is not to be copied
        return Shown(tuple(parts))
    command = serve_command(plan, asked.repository, asked.drafter)
    parts.append(code_block(WORDS["command"], command, WORDS["copy"], "planner-command"))
    return Shown(tuple(parts))
