"""The card as vLLM's platform code sees it: name, memory, compute capability, CUDA or ROCm."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.catalog.gpus import Gpu
from snippets.units import GB, GIB

Capability = tuple[int, int]

ASSUMED_CAPABILITY: Capability = (8, 6)  # a card known by its memory only: Ampere, whose defaults Ada and Hopper share
ROCM_CAPABILITY: Capability = (9, 4)  # MI300X (gfx942); ROCm's choices do not depend on it

FLOAT16_ONLY_BELOW: Capability = (8, 0)  # platforms/cuda.py supported_dtypes


@dataclass(frozen=True)
class Card:
    """What the settings depend on."""

    name: str
    total_bytes: int  # what the driver reports
    capability: Capability
    is_rocm: bool = False
    is_assumed: bool = False  # the capability is an assumption, not a fact

    @property
    def family(self) -> int:
        """Major compute capability: 8 Ampere and Ada, 9 Hopper, 10 data-centre Blackwell, 12 GeForce Blackwell."""
        return self.capability[0]

    @property
    def dtypes(self) -> tuple[str, ...]:
        """Dtypes the card computes in, the preferred one first."""
        return dtypes_at(self.capability)


def dtypes_at(capability: Capability) -> tuple[str, ...]:
    """platforms/cuda.py:224 supported_dtypes; every ROCm card counts as MI300X, which has them all."""
    if capability >= FLOAT16_ONLY_BELOW:
        return ("bfloat16", "float16", "float32")
    return ("float16", "float32")


def card_of(gpu: Gpu) -> Card:
    """The facts of a catalog card or of a card given by its memory. Unknown visible memory falls back to the sold."""
    visible = gpu.visible_gib
    total = round(visible * GIB) if visible is not None else gpu.sold_as_gb * GB
    is_rocm = getattr(gpu, "vendor", "nvidia") == "amd" or gpu.name.lower().startswith(("amd", "instinct", "mi"))
    if is_rocm:
        return Card(gpu.name, total, ROCM_CAPABILITY, is_rocm=True)
    capability: Capability | None = getattr(gpu, "compute_capability", None)
    if capability is None:
        return Card(gpu.name, total, ASSUMED_CAPABILITY, is_assumed=True)
    return Card(gpu.name, total, (capability[0], capability[1]))
