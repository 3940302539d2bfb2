"""Ways out in the flags that were typed: --speculative-config also has split forms."""

from __future__ import annotations

import argparse
from dataclasses import replace

from snippets.planner.command.speculative import SPLIT
from snippets.planner.plan import Plan

WHOLE = "leave --speculative-config out"


def with_typed_flags(values: argparse.Namespace, plan: Plan) -> Plan:
    """The plan; where split flags were typed its ways out name those."""
    typed = ["--" + name.replace("_", "-") for name in SPLIT if getattr(values, name) is not None]
    typed += ["--speculative-config"] if values.speculative_config else []
    words = f"leave {' and '.join(typed)} out"
    return replace(
        plan, errors=tuple(replace(error, way_out=error.way_out.replace(WHOLE, words)) for error in plan.errors)
    )
