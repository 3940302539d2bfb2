"""What a knob does to the memory for the cache, from a start that was measured."""

from __future__ import annotations

import pytest

from snippets.kv_knobs import NOISE_BYTES, available_after, moves

GIB = 2**30
BEFORE = {"gpu_memory_utilization": 0.9, "max_num_batched_tokens": 2048, "max_model_len": 8192}


@pytest.mark.parametrize(
    ("after", "low", "high"),
    [
        ({"max_model_len": 32768}, 0, 0),
        ({"block_size": 32}, 0, 0),
        ({"gpu_memory_utilization": 0.8}, -2 * GIB, -2 * GIB),  # a tenth of 20 GiB
        ({"max_num_batched_tokens": 4096}, -2048 * 300, -2048 * 50),
        ({"max_num_batched_tokens": 1024}, 1024 * 50, 1024 * 300),
    ],
)
def test_each_knob_moves_the_bytes_by_its_own_part(after: dict[str, float], low: int, high: int) -> None:
    made = available_after(6 * GIB, 20 * GIB, BEFORE, BEFORE | after, (50, 300))
    assert made[0] == pytest.approx(6 * GIB + low - NOISE_BYTES, abs=2)  # each share is rounded up to a whole byte
    assert made[1] == pytest.approx(6 * GIB + high + NOISE_BYTES, abs=2)


def test_the_cpu_build_keeps_the_bytes_it_was_told() -> None:
    after = {"gpu_memory_utilization": 0.5, "max_num_batched_tokens": 8192}
    assert available_after(GIB, None, BEFORE, BEFORE | after, (50, 300)) == (GIB, GIB)


def test_a_number_moves_when_it_leaves_the_range() -> None:
    assert not moves(100, (99, 101), 0)
    assert moves(100, (101, 103), 0)
    assert not moves(100, (101, 103), 0.01)
    assert moves(100, (97, 97), 0.01)
