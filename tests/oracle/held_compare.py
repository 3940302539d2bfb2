"""Random layer specs: the blocks that vLLM's cache managers leave a request, and those that held.py counts."""

from __future__ import annotations

import json
from pathlib import Path

from asking import Oracle, Tally
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from spec_cases import MODELS, Layer

from snippets.planner.cache import plan_cache
from snippets.planner.cache.held import held_blocks
from snippets.planner.cache.spec_lines import read_line

SCRIPT = Path(__file__).with_name("held_oracle.py")
CASES = 600
MAX_TOKENS = 2500


def compare(oracle_python: Path, cases: int = CASES) -> Tally:
    """Ask for the blocks at a few lengths until one differs or all are asked."""
    tally = Tally("blocks held at length n")
    with Oracle([oracle_python, SCRIPT]) as oracle:

        @settings(
            max_examples=cases,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(
            MODELS,
            st.lists(st.integers(1, MAX_TOKENS), min_size=1, max_size=4),
            st.sampled_from([1, 16, 500, MAX_TOKENS]),
            st.sampled_from(["none", "align", "all"]),
            st.sampled_from([1, 1, 4]),
        )
        def ask_both(layers: list[Layer], lengths: list[int], step: int, mode: str, dcp: int) -> None:
            # The cache mode stands on every state layer too, as vLLM has it from one setting.
            layers = [layer | {"mamba_cache_mode": mode} if layer["kind"] == "mamba" else layer for layer in layers]
            line = {
                "max_model_len": MAX_TOKENS,
                "available_bytes": 2**45,
                "layers": layers,
                "mamba_cache_mode": mode,
                "dcp": dcp,
                "max_num_batched_tokens": 1500,
            }
            theirs = oracle.ask({**line, "lengths": lengths, "step": step})
            tally.outcomes["requests" if theirs else "without a plan"] += 1
            if theirs:
                stages, available, limits, _ = read_line(line)
                groups = plan_cache(stages, available, limits).groups
                ours = [[held_blocks(group, limits, length) for group in groups] for length in lengths]
                assert ours == theirs["held"], f"{json.dumps([line, lengths, step])}\n  {theirs['held']}\n  {ours}"

        try:
            ask_both()
        except AssertionError as difference:
            tally.different.append(str(difference))
    return tally
