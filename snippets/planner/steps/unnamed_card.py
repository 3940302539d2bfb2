"""A card of which only the memory is known."""

from __future__ import annotations

from snippets.catalog.gpus import Gpu
from snippets.units import GIB

DATA_CENTRE_GIB = 70  # from here on vLLM takes its larger batch defaults (engine/arg_utils.py get_batch_defaults)


def unnamed_card(total_bytes: int | None) -> Gpu:
    """The newest common generation of that size: it decides batch defaults and attention backend."""
    large = total_bytes is None or total_bytes >= DATA_CENTRE_GIB * GIB
    return Gpu(
        key="",
        name="unnamed NVIDIA card",
        vendor="nvidia",
        sold_as_gb=0,
        compute_capability=(9, 0) if large else (8, 9),
        visible_gib=None if total_bytes is None else total_bytes / GIB,
        bandwidth_gb_per_s=None,
        bf16_dense_tflops=None,
        source="",
        read="",
    )


def assumption(total_bytes: int | None) -> str:
    """What standing in for a named card means, in a sentence."""
    card = unnamed_card(total_bytes)
    major, minor = card.compute_capability
    size = "80 GB or more" if total_bytes is None else f"{total_bytes / GIB:.2f} GiB"
    return (
        f"No card was named: batch defaults and attention backend are those of an NVIDIA card with {size} "
        f"and compute capability {major}.{minor}."
    )
