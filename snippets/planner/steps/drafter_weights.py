"""The weights of a drafter, which stand beside the model's on the last pipeline stage."""

from __future__ import annotations

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import ModelConfig
from snippets.planner.engine_args import EngineArgs
from snippets.planner.weights import drafter_weight_bytes
from snippets.planner.weights.errors import WeightsError


def drafter_bytes(config: ModelConfig, args: EngineArgs, gpu: Gpu) -> int:
    """Bytes on one rank of the last stage. Raises WeightsError where they cannot be counted."""
    try:
        return drafter_weight_bytes(config, args, gpu.compute_capability)
    except WeightsError as error:
        told = f"The drafter's weights are not counted. {error.told}"
        raise WeightsError("speculative", told, error.way_out) from None
