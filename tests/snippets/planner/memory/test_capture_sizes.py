"""Which graphs are captured, against lists that vLLM 0.26.0 printed."""

from __future__ import annotations

from snippets.planner.memory.capture import capture_sizes, num_graphs

# 'cudagraph_capture_sizes' in three 0.26.0 logs (two with 1024 sequences, one with 256).
PRINTED = [1, 2, 4, *range(8, 256, 8), *range(256, 513, 16)]


def test_sizes_are_those_of_the_logs() -> None:
    assert capture_sizes(1024, 8192) == capture_sizes(256, 32768) == PRINTED
    assert len(PRINTED) == 51


def test_decode_graphs_go_up_to_what_all_sequences_decode() -> None:
    assert num_graphs(1024, 8192) == 51 + 51  # "PIECEWISE=51 (largest=512), FULL=51 (largest=512)"
    assert num_graphs(256, 32768) == 51 + 35  # "(PIECEWISE): 51/51", "(FULL): 35/35"


def test_few_sequences_need_few_graphs() -> None:
    assert capture_sizes(4, 2048) == [1, 2, 4, 8]  # up to twice the sequences


def test_the_largest_batch_is_captured_even_off_the_grid() -> None:
    assert capture_sizes(256, 100)[-2:] == [96, 100]


def test_speculation_widens_a_decode_step() -> None:
    assert capture_sizes(4, 2048, num_speculative_tokens=3) == [1, 2, 4, 8, 16, 24, 32]
