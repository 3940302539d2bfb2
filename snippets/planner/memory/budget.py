"""What is left for the KV cache before anyone has a log: exact where vLLM is exact, a range where it measures.

Steps as in v1/worker/gpu_worker.py `determine_available_memory`: requested memory, minus weights, minus the
activation peak of the profile run, minus memory outside PyTorch, minus CUDA graphs (V1 model runner only).
"""

from __future__ import annotations

from snippets.catalog.gpus import Gpu
from snippets.model_config.model_config import ModelConfig
from snippets.planner.budget import requested_bytes
from snippets.planner.engine_args import EngineArgs
from snippets.planner.estimate import Budget, Range
from snippets.planner.memory.from_config import kind_of_card, profile_run
from snippets.planner.memory.ranges import part_ranges
from snippets.planner.resolved import Resolved


def estimate_budget(
    config: ModelConfig,
    gpu: Gpu,
    args: EngineArgs,
    resolved: Resolved,
    weights_bytes: int,
    weights_given: bool = False,
    total_bytes: int | None = None,
    pp_rank: int | None = None,
) -> Budget:
    """The memory of one rank that holds `weights_bytes`, in vLLM's order of subtraction.

    `total_bytes` stands for what the driver reports; without it the catalog's entry counts (MissingFactError where it
    has none). `pp_rank` is the pipeline stage: only the last one samples; without it the stage that needs most counts.
    Available memory may come out negative: vLLM prints it so and then refuses to start.
    """
    total = gpu.visible_bytes if total_bytes is None else total_bytes
    requested = requested_bytes(total, args.gpu_memory_utilization)
    run = profile_run(config, args, resolved, pp_rank)
    activation, non_torch, graphs = part_ranges(run, kind_of_card(gpu, args))
    before = requested - weights_bytes
    available = Range(
        low=before - activation.high - non_torch.high - graphs.high,
        expected=before - activation.expected - non_torch.expected - graphs.expected,
        high=before - activation.low - non_torch.low - graphs.low,
    )
    if args.kv_cache_memory_bytes:  # utilization is ignored then, and nothing is subtracted
        fixed = args.kv_cache_memory_bytes
        available = Range(fixed, fixed, fixed)
    return Budget(
        total_bytes=total,
        requested_bytes=requested,
        weights_bytes=weights_bytes,
        weights_given=weights_given,
        activation=activation,
        non_torch=non_torch,
        cuda_graphs=graphs,
        available=available,
    )
