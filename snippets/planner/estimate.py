"""What is left of a card for the KV cache, with error bars: weights are exact, the rest is fitted to start-up logs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """Bytes: the expected value and the ends that nine of ten logs stay within."""

    low: int
    expected: int
    high: int


@dataclass(frozen=True)
class Loaded:
    """What “Model loading took … GiB” is made of, in bytes of one rank, where it was counted."""

    parameters: int
    drafter: int = 0  # its parameters
    rotary_tables: int = 0  # cosines and sines of every position, the drafter's with them
    mla_copies: int = 0  # of kv_b_proj in 16 bits
    buffers: int = 0  # that the model makes for the largest batch

    @property
    def total(self) -> int:
        """All of it."""
        return self.parameters + self.drafter + self.rotary_tables + self.mla_copies + self.buffers


@dataclass(frozen=True)
class Budget:
    """One rank's memory, in the order vLLM subtracts it. The rank with the least left decides."""

    total_bytes: int  # what the driver reports
    requested_bytes: int  # ceil(total * gpu_memory_utilization)
    weights_bytes: int  # per rank, as the log's “Model loading took”; counted or given
    weights_given: bool  # True: typed by the user, not counted from the config
    activation: Range  # peak of the profile run
    non_torch: Range  # CUDA context, NCCL
    cuda_graphs: Range
    available: Range  # for the KV cache; low goes with the high ends above
    loaded: Loaded | None = None  # the parts of weights_bytes; None where they were given


@dataclass(frozen=True)
class Fit:
    """A cache of fixed size beside everything else, in bytes of the fullest rank."""

    cache_bytes: int
    weights_bytes: int
    held: Range  # weights, cache, activation peak, CUDA context, graphs
    room_bytes: int  # of the card
    is_free_memory: bool = False  # room_bytes is what is free at the start, not the whole card

    @property
    def is_sure(self) -> bool:
        """It fits at the high end too."""
        return self.held.high <= self.room_bytes

    @property
    def largest_cache_bytes(self) -> int:
        """That surely fits; 0 or less: none."""
        return self.room_bytes - (self.held.high - self.cache_bytes)
