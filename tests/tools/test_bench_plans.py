"""The lines that `make bench` times are ones both sides can answer."""

from __future__ import annotations

from collections import Counter

from snippets.planner.cache.spec_lines import answer
from tools.benches.plans import MODELS, lines


def test_every_line_is_a_plan_or_does_not_fit() -> None:
    outcomes = Counter(str(answer(line).get("error", "a plan"))[:30] for line in lines(400))
    assert set(outcomes) == {"a plan", "To serve at least one request "}
    assert outcomes["a plan"] > 300


def test_the_lines_are_the_same_every_time() -> None:
    assert list(lines(20)) == list(lines(20))


def test_every_model_is_of_another_kind_or_size() -> None:
    assert len({str(layers) for layers in MODELS.values()}) == len(MODELS)
