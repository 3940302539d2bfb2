"""Weights by how a step uses them, from published sizes."""

from __future__ import annotations

import pytest

from snippets.planner.engine_args import EngineArgs
from snippets.planner.evidence.logs import config_of
from snippets.planner.weights.rank import stage_sizes
from snippets.planner.weights.use import StageUse, stage_uses

MODELS = ("qwen2.5-0.5b", "llama-3.1-70b", "gpt-oss-20b", "deepseek-v3", "qwen3.5-27b", "opt-1.3b")


def use(model: str, **args: int) -> tuple[StageUse, ...]:
    return stage_uses(config_of(model), EngineArgs(**args))  # type: ignore[arg-type]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_the_parts_are_what_the_rank_holds(model: str, stages: int) -> None:
    sizes = stage_sizes(config_of(model), EngineArgs(pipeline_parallel_size=stages))
    parts = [one.always + one.routed + one.looked_up for one in use(model, pipeline_parallel_size=stages)]
    assert parts == list(sizes)
    assert all(one.always.num_bytes > 0 for one in use(model, pipeline_parallel_size=stages))


def test_an_embedding_that_is_lm_head_too_is_read_whole_in_every_step() -> None:
    # Qwen2.5-0.5B: 151,936 rows of 896, tied.
    (one,) = use("qwen2.5-0.5b")
    assert one.looked_up.parameters == 0
    assert one.head.parameters == 151_936 * 896


def test_on_two_stages_the_first_copy_of_a_tied_embedding_is_only_looked_up() -> None:
    first, last = use("qwen2.5-0.5b", pipeline_parallel_size=2)
    assert (first.looked_up.parameters, first.head.parameters) == (151_936 * 896, 0)
    assert (last.looked_up.parameters, last.head.parameters) == (0, 151_936 * 896)


def test_an_embedding_of_its_own_is_looked_up() -> None:
    (one,) = use("qwen2.5-7b")
    assert one.looked_up.parameters == one.head.parameters == 152_064 * 3_584


def test_mixtral_s_eight_experts_hold_45_of_its_47_billion_parameters() -> None:
    # 32 layers of 8 experts, three matrices of 4,096 x 14,336 each; a router of 8 x 4,096 beside them.
    (one,) = use("mixtral-8x7b")
    assert one.num_experts == 8
    assert one.routed.parameters == 32 * 8 * (3 * 4_096 * 14_336 + 4_096)


def test_four_ranks_of_experts_hold_a_quarter_each() -> None:
    (alone,), (shared,) = use("qwen3-30b-a3b"), use("qwen3-30b-a3b", tensor_parallel_size=4)
    assert shared.routed.parameters == pytest.approx(alone.routed.parameters / 4, rel=0.01)  # the router is on each
