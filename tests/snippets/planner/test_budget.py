"""The budget, against vLLM's source and the sums in real start-up logs."""

import pytest

from snippets.planner import budget

GIB = 2**30


def test_the_default_utilization_is_0_92() -> None:
    assert budget.GPU_MEMORY_UTILIZATION == 0.92  # vLLM 0.26.0 config/cache.py:68


def test_requested_memory_is_rounded_up_to_a_whole_byte() -> None:
    # v1/worker/utils.py: math.ceil(total_memory * gpu_memory_utilization)
    assert budget.requested_bytes(101, 0.5) == 51
    assert budget.requested_bytes(100, 0.5) == 50


@pytest.mark.parametrize("utilization", [0.0, -0.1, 1.01, float("nan")])
def test_a_utilization_vllm_refuses_is_refused(utilization: float) -> None:
    with pytest.raises(budget.BudgetError, match="it must be above 0 and at most 1") as caught:
        budget.requested_bytes(GIB, utilization)
    assert caught.value.field == "gpu_memory_utilization"


@pytest.mark.parametrize(
    ("total", "utilization", "weights", "other", "printed"),
    [
        # vllm issue 10517, RTX 3090, Llama-3.1-8B: peak torch memory 17.06, non-torch 0.35
        (23.58, 0.90, 17.06, 0.35, 3.81),
        (23.58, 0.90, 17.98, 0.35, 2.89),
        # vllm issue 13882, RTX 4060, quantised Qwen2.5-7B: weights 5.20, non-torch 0.03, activations 1.42; no start
        (8.00, 0.70, 5.20, 0.03 + 1.42, -1.05),
    ],
)
def test_available_memory_is_what_the_log_printed(
    total: float, utilization: float, weights: float, other: float, printed: float
) -> None:
    requested = budget.requested_bytes(round(total * GIB), utilization)
    available = budget.available_kv_bytes(requested, round(weights * GIB), round(other * GIB))
    assert available / GIB == pytest.approx(printed, abs=0.011)  # each printed term is rounded to 0.01


def test_memory_in_use_cannot_be_negative() -> None:
    with pytest.raises(budget.BudgetError, match="weights is -1 bytes"):
        budget.available_kv_bytes(GIB, -1, 0)


@pytest.mark.parametrize(
    ("total_gib", "name", "usage", "expected"),
    [  # vLLM 0.26.0 engine/arg_utils.py get_batch_defaults: tokens, sequences
        (23.64, "NVIDIA GeForce RTX 4090", "llm", (8192, 256)),
        (23.64, "NVIDIA GeForce RTX 4090", "server", (2048, 256)),
        (79.25, "NVIDIA A100-SXM4-80GB", "llm", (8192, 256)),
        (79.25, "NVIDIA A100-SXM4-80GB", "server", (2048, 256)),
        (139.8, "NVIDIA H200", "llm", (16_384, 1024)),
        (79.19, "NVIDIA H100 80GB HBM3", "server", (8192, 1024)),
        (70.0, "some card", "server", (8192, 1024)),
    ],
)
def test_batch_defaults(total_gib: float, name: str, usage: budget.Usage, expected: tuple[int, int]) -> None:
    found = budget.batch_defaults(round(total_gib * GIB), name, usage)
    assert (found.max_num_batched_tokens, found.max_num_seqs) == expected


def test_the_sampler_s_logits_take_148_5_mib_for_qwen2_5() -> None:
    # 256 sequences × 152,064 words × 4 bytes
    assert budget.logits_bytes(budget.MAX_NUM_SEQS, 152_064) == 148.5 * 2**20
