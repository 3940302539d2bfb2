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


def test_the_catalog_has_cards_from_rtx_3060_to_b200_and_mi300x() -> None:
    assert {
        "rtx-3060",
        "rtx-4090",
        "rtx-5090",
        "l4",
        "a100-80gb",
        "h100-80gb",
        "h200",
        "b200",
        "mi300x",
    } <= gpus().keys()
    assert len(gpus()) >= 20


# NVIDIA's list of CUDA GPUs, one card of each architecture
CAPABILITIES = {
    "v100-32gb": (7, 0),
    "t4": (7, 5),
    "a100-80gb": (8, 0),
    "rtx-3090": (8, 6),
    "rtx-4090": (8, 9),
    "h100-80gb": (9, 0),
    "b200": (10, 0),
    "rtx-5090": (12, 0),
    "gb10": (12, 1),
}


@pytest.mark.parametrize(("key", "capability"), CAPABILITIES.items())
def test_an_architecture_has_its_compute_capability(key: str, capability: tuple[int, int]) -> None:
    assert gpu(key).compute_capability == capability


# by hand: bus width in bits / 8 × Gbit/s per pin
BUSES = {
    "rtx-3060": (192, 15),
    "rtx-3080": (320, 19),
    "rtx-4060-ti-16gb": (128, 18),
    "rtx-4080": (256, 22.4),
    "rtx-5080": (256, 30),
    "rtx-5090": (512, 28),
    "rtx-a6000": (384, 16),
    "rtx-6000-ada": (384, 20),
    "rtx-pro-6000": (512, 28),
    "gb10": (256, 8.533),
}


@pytest.mark.parametrize(("key", "bus"), BUSES.items(), ids=BUSES)
def test_bandwidth_is_bus_width_times_pin_rate(key: str, bus: tuple[int, float]) -> None:
    assert gpu(key).bandwidth_gb_per_s == pytest.approx(bus[0] / 8 * bus[1], rel=1e-3)


# by hand: tensor cores × operations a clock with FP32 accumulate (GeForce half of the professional cards) × GHz
TENSOR_CORES = {
    "rtx-3060": (112, 128, 1.777),
    "rtx-3080": (272, 128, 1.71),
    "rtx-3090": (328, 128, 1.695),
    "rtx-4080": (304, 128, 2.505),
    "rtx-5080": (336, 128, 2.617),
    "rtx-5090": (680, 128, 2.407),
    "rtx-a5000": (256, 256, 1.695),
    "rtx-a6000": (336, 256, 1.8),
    "rtx-pro-6000": (752, 256, 2.617),
}


@pytest.mark.parametrize(("key", "cores"), TENSOR_CORES.items(), ids=TENSOR_CORES)
def test_dense_bf16_is_tensor_cores_times_operations_times_clock(key: str, cores: tuple[int, int, float]) -> None:
    assert gpu(key).bf16_dense_tflops == pytest.approx(cores[0] * cores[1] * cores[2] / 1000, rel=2e-3)


# data sheets: FP8 with sparsity, TFLOP/s
FP8_SPARSE = {"h200": 3958, "h100-80gb": 3958, "h100-pcie": 3026, "l40s": 1466, "l4": 485, "b200": 72_000 / 8}


@pytest.mark.parametrize(("key", "sparse"), FP8_SPARSE.items(), ids=FP8_SPARSE)
def test_dense_fp8_is_half_of_the_data_sheets_sparse_rate(key: str, sparse: float) -> None:
    assert gpu(key).fp8_dense_tflops == sparse / 2


@pytest.mark.parametrize("card", gpus().values(), ids=gpus())
def test_fp8_is_twice_as_fast_as_bf16_where_a_card_has_it(card: Gpu) -> None:
    if card.fp8_dense_tflops is not None and card.bf16_dense_tflops is not None:
        assert card.compute_capability >= (8, 9)
        assert card.fp8_dense_tflops == pytest.approx(2 * card.bf16_dense_tflops, rel=3e-2)


@pytest.mark.parametrize("key", ["t4", "v100-32gb"])
def test_cards_before_ampere_have_no_bf16_rate(key: str) -> None:
    with pytest.raises(MissingFactError, match="bf16_dense_tflops"):
        _ = gpu(key).flops_per_second


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
    with pytest.raises(UnknownGpuError, match="GPU 'h300' is not in the catalog; it has: rtx-3060, "):
        gpu("h300")
