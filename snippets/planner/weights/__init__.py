"""Bytes of the weights on one rank, counted from the config as vLLM's model classes allocate them."""

from snippets.planner.weights.errors import WeightsError
from snippets.planner.weights.rank import checkpoint_parameters, drafter_weight_bytes, rank_weight_bytes, stage_sizes

__all__ = ["WeightsError", "checkpoint_parameters", "drafter_weight_bytes", "rank_weight_bytes", "stage_sizes"]
