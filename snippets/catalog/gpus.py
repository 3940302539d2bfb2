"""GPU facts: memory as sold and as programs see it, bandwidth, dense compute. A fact without a source is None."""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from snippets.units import GB, GIB


class UnknownGpuError(KeyError):
    """A key that is not in the catalog."""

    def __str__(self) -> str:
        return str(self.args[0])


class MissingFactError(ValueError):
    """A fact of a card that nobody sourced yet."""


@dataclass(frozen=True)
class Gpu:
    """One card. Rates are the vendor's peaks; a real program reaches less."""

    key: str
    name: str
    vendor: Literal["nvidia", "amd"]
    sold_as_gb: int  # the number in the product name
    compute_capability: tuple[int, int]  # as torch.cuda.get_device_capability says it; decides vLLM's backends
    visible_gib: float | None  # what the driver reports to a program, in GiB
    bandwidth_gb_per_s: float | None  # 10**9 bytes a second
    bf16_dense_tflops: float | None  # 10**12 BF16 operations a second, FP32 accumulate, without sparsity
    source: str
    read: str  # the day it was read, ISO 8601
    fp8_dense_tflops: float | None = None  # the same in FP8; None also where the card has no units for it
    unified_memory: bool = False  # shared with the CPU: the system takes part of what is visible

    @property
    def visible_bytes(self) -> int:
        """Bytes a program sees."""
        return round(self._fact("visible_gib") * GIB)

    @property
    def bytes_per_second(self) -> float:
        """Peak memory bandwidth."""
        return self._fact("bandwidth_gb_per_s") * GB

    @property
    def flops_per_second(self) -> float:
        """Peak dense BF16 operations a second."""
        return self._fact("bf16_dense_tflops") * 10**12

    def _fact(self, field: str) -> float:
        value: float | None = getattr(self, field)
        if value is None:
            raise MissingFactError(f"{field} of {self.name} is not known here; choose another card or add a source")
        return value


@cache
def gpus() -> dict[str, Gpu]:
    """Every card by key, in the order of gpus.json."""
    raw = pkgutil.get_data("snippets.catalog", "gpus.json")  # works from inside a zip too, as in the browser
    if raw is None:
        raise FileNotFoundError("snippets/catalog/gpus.json")
    return {key: _gpu(key, fields) for key, fields in json.loads(raw).items()}


def _gpu(key: str, fields: dict[str, Any]) -> Gpu:
    major, minor = fields.pop("compute_capability")
    return Gpu(key=key, compute_capability=(major, minor), **fields)


def gpu(key: str) -> Gpu:
    """The card of that key; an unknown one is refused with the keys there are."""
    try:
        return gpus()[key]
    except KeyError:
        known = ", ".join(gpus())
        raise UnknownGpuError(f"GPU {key!r} is not in the catalog; it has: {known}") from None
