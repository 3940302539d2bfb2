"""vLLM's check of free memory, in its words (v1/worker/utils.py request_memory), and the utilization that passes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from snippets.planner.memory.free_memory import assumed_free, free_memory_error, largest_utilization
from snippets.units import GIB

H100 = round(79.19 * GIB)


def test_enough_free_memory_starts() -> None:
    assert free_memory_error(free_bytes=round(78.66 * GIB), total_bytes=H100, utilization=0.92) is None


def test_too_little_is_refused_in_vllms_words() -> None:
    assert free_memory_error(free_bytes=70 * GIB, total_bytes=H100, utilization=0.92) == (
        "Free memory on device cuda:0 (70.0/79.19 GiB) on startup is less than desired GPU memory utilization "
        "(0.92, 72.85 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes."
    )


def test_the_largest_utilization_is_cut_not_rounded() -> None:
    assert largest_utilization(70 * GIB, H100) == 0.88  # 70 / 79.19 = 0.8839
    assert largest_utilization(H100, H100) == 1.0
    assert largest_utilization(0, H100) == 0.0


@given(total=st.integers(1, 2**40), share=st.floats(0, 1))
def test_it_passes_and_the_next_one_does_not(total: int, share: float) -> None:
    free = int(total * share)
    found = largest_utilization(free, total)
    if found > 0:
        assert free_memory_error(free, total, found) is None
    if found < 1:
        assert free_memory_error(free, total, round(found + 0.01, 2)) is not None


def test_a_clean_card_has_what_its_logs_show_and_never_all() -> None:
    """Pairs of start-up logs, cards without other programs: H100 78.66 of 79.19 GiB, H200 139.12 of 139.72 GiB."""
    for free, total in ((78.66, 79.19), (139.12, 139.72)):
        ends = assumed_free(round(total * GIB), "sm90_many")
        assert ends is not None
        assert ends[0] <= free * GIB <= ends[1] < total * GIB
    assert assumed_free(128 * GIB, "unified") is None
