"""The weights of a drafter, which stand beside the model's on the last pipeline stage."""

from __future__ import annotations

from dataclasses import replace

from snippets.catalog.gpus import Gpu
from snippets.planner.engine_args import EngineArgs
from snippets.planner.weights import rank_weight_bytes
from snippets.planner.weights.errors import WAY_OUT, WeightsError

WITHOUT_WEIGHTS = {"ngram", "ngram_gpu", "suffix", "custom_class", "extract_hidden_states"}


def drafter_bytes(args: EngineArgs, gpu: Gpu) -> int:
    """Bytes on one rank; the drafter is split as the model is. Raises WeightsError where they cannot be counted."""
    speculative = args.speculative
    if speculative is None or speculative.method in WITHOUT_WEIGHTS:
        return 0
    if speculative.draft is None:
        raise WeightsError("speculative", f"The weights of {speculative.method}'s layers are not counted here.")
    alone = replace(args, speculative=None, pipeline_parallel_size=1)
    try:
        return rank_weight_bytes(speculative.draft, alone, 0, gpu.compute_capability)
    except WeightsError as error:
        told = str(error).removesuffix(WAY_OUT).rstrip()
        raise WeightsError("speculative", f"The drafter's weights are not counted. {told}") from None
