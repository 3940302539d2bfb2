"""Metrics of served requests equal what vLLM's own `calculate_metrics` makes of the same requests."""

from __future__ import annotations

import pytest

from snippets.load.metrics import ServedRequest, latency_metrics, percentile, request_goodput, throughput_metrics

# (sent, TTFT, E2EL, output tokens), given to calculate_metrics of vllm/benchmarks/serve.py (vLLM 0.26.0) on 2026-11-30
# with a duration of 4.5 s, percentiles 50, 90 and 99, and goodput ttft:300 tpot:100. What it returned stands below.
TIMES = [
    (0.0, 0.10, 1.10, 11),
    (0.2, 0.30, 0.80, 6),
    (0.5, 0.25, 0.25, 1),
    (0.9, 0.60, 3.60, 31),
    (1.0, 0.05, 0.55, 21),
]
DURATION = 4.5
VLLM = {
    "mean_ttft_ms": 260.0,
    "median_ttft_ms": 250.0,
    "p90_ttft_ms": 480.0,
    "p99_ttft_ms": 588.0,
    "mean_tpot_ms": 81.25,  # of the four requests with more than one token
    "median_tpot_ms": 100.0,
    "p90_tpot_ms": 100.0,
    "p99_tpot_ms": 100.0,
    "mean_e2el_ms": 1260.0,
    "median_e2el_ms": 800.0,
    "p90_e2el_ms": 2600.0,
    "p99_e2el_ms": 3500.0,
}


@pytest.fixture
def served() -> list[ServedRequest]:
    return [ServedRequest(sent, sent + ttft, sent + e2el, tokens) for sent, ttft, e2el, tokens in TIMES]


def test_latencies_are_vllms(served: list[ServedRequest]) -> None:
    assert latency_metrics(served) == pytest.approx(VLLM)


def test_throughput_is_vllms(served: list[ServedRequest]) -> None:
    assert throughput_metrics(served, DURATION) == pytest.approx(
        {"request_throughput": 1.1111111111111112, "output_throughput": 15.555555555555555}
    )


def test_goodput_is_vllms_and_one_token_meets_any_tpot_target(served: list[ServedRequest]) -> None:
    # Targets just above the values, since times as sums of floats lie a hair off those that vLLM was given.
    assert request_goodput(served, DURATION, 300.01, 100.01) == pytest.approx(0.8888888888888888)
    assert request_goodput(served, DURATION, 1e9, 0) == pytest.approx(1 / DURATION)


def test_one_token_has_no_tpot(served: list[ServedRequest]) -> None:
    assert served[2].tpot_ms is None
    assert latency_metrics(served[2:3])["mean_tpot_ms"] == 0


def test_a_percentile_lies_between_neighbours() -> None:
    assert percentile([4, 1, 3, 2], 50) == 2.5  # numpy.percentile([4, 1, 3, 2], 50)
    assert percentile([4, 1, 3, 2], 90) == pytest.approx(3.7)
    assert percentile([5], 99) == 5
    assert percentile([], 99) == 0
