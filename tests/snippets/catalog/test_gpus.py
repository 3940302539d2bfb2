"""Cards: what is sold, what a program sees, and that a missing fact is said to be missing."""

from dataclasses import replace
from datetime import date

import pytest

from snippets.catalog.gpus import Gpu, MissingFactError, UnknownGpuError, gpu, gpus


@pytest.mark.parametrize("card", gpus().values(), ids=gpus())
def test_a_card_names_its_source_and_the_day_it_was_read(card: Gpu) -> None:
    assert len(card.source) > 20
    assert date.fromisoformat(card.read)


@pytest.mark.parametrize("card", gpus().values(), ids=gpus())
def test_a_program_sees_less_than_the_box_says_in_gib(card: Gpu) -> None:
    assert card.visible_gib is not None and 0.9 * card.sold_as_gb < card.visible_gib < card.sold_as_gb


def test_rtx_4090_shows_23_64_gib_less_than_nvidia_smi_s_24564_mib() -> None:
    assert gpu("rtx-4090").visible_gib == 23.64
    assert gpu("rtx-4090").visible_bytes < 24_564 * 2**20


def test_rtx_4090_reads_1008_gb_a_second() -> None:
    # 384 bits at 21 Gbit/s per pin, by hand
    assert gpu("rtx-4090").bytes_per_second == 384 / 8 * 21e9 == 1008e9


def test_rtx_4090_computes_165_2_tflops_in_bf16() -> None:
    # by hand: 512 tensor cores × 128 FLOPs (FP32 accumulate) × 2.52 GHz
    assert gpu("rtx-4090").flops_per_second == pytest.approx(512 * 128 * 2.52e9, rel=1e-3)


def test_a_fact_nobody_sourced_is_refused_not_invented() -> None:
    unknown = replace(gpu("rtx-4090"), bf16_dense_tflops=None)
    with pytest.raises(MissingFactError, match="bf16_dense_tflops of RTX 4090 24 GB is not known here"):
        _ = unknown.flops_per_second


def test_an_unknown_key_is_refused_with_the_keys_there_are() -> None:
    with pytest.raises(UnknownGpuError, match="GPU 'h300' is not in the catalog; it has: rtx-4090, "):
        gpu("h300")
