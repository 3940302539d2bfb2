"""The MLP of a layer, dense or of experts, on one rank."""

from __future__ import annotations

from dataclasses import dataclass

from snippets.planner.weights.counting import Counting
from snippets.planner.weights.errors import ANOTHER_SPLIT, WeightsError
from snippets.planner.weights.parts.attention import answer
from snippets.planner.weights.split import divided
from snippets.planner.weights.storage.matrices import experts, mxfp4_experts
from snippets.planner.weights.storage.size import NOTHING, Size


@dataclass(frozen=True)
class Experts:
    """One mixture-of-experts layer."""

    count: int
    intermediate_size: int  # of one expert
    module: str = "mlp"  # the layer's name for it
    gated: bool = True
    shared_intermediate_size: int = 0  # of all shared experts together; 0 for none
    shared_name: str = "shared_experts"
    shared_always_split: bool = False  # over the ranks, also when expert parallelism splits tokens instead
    shared_gate: bool = False  # one number per token decides how much of the shared expert counts
    router_fp32: bool = False
    router_bias: bool = False
    correction_bias: bool = False  # e_score_correction_bias, 32 bits per expert
    expert_bias: bool = False
    latent_size: int = 0  # Nemotron 3: experts work on a projection of this size


def mlp(
    c: Counting, intermediate: int, module: str = "mlp", ranks: int | None = None, gated: bool | None = None
) -> Size:
    """gate, up and down, or up and down; split over the ranks that hold a part of it."""
    inner = divided(intermediate, c.split.tensor if ranks is None else ranks, "intermediate_size")
    up = (inner, inner) if (c.recipe.mlp == "gated" if gated is None else gated) else (inner,)
    biased = answer(c, c.recipe.mlp_bias)
    size = c.matrix(f"{module}.up_proj", c.hidden, *up, bias=sum(up) if biased else 0)
    down = f"{module}.down_proj"
    return size + c.matrix(down, inner, c.hidden, bias=c.hidden if biased else 0, all_inputs=intermediate)


def mixture(c: Counting, layer: Experts) -> Size:
    """Router, experts and shared expert (fused_moe)."""
    router = c.plain_matrix(c.hidden, layer.count)
    if layer.router_fp32:
        router = c.float32(router.parameters)
    size = router + c.numbers(layer.count if layer.router_bias else 0)
    size += c.float32(layer.count if layer.correction_bias else 0)
    size += _routed(c, layer)
    if layer.latent_size:
        size += c.matrix(f"{layer.module}.fc1_latent_proj", c.hidden, layer.latent_size)
        size += c.matrix(f"{layer.module}.fc2_latent_proj", layer.latent_size, c.hidden)
    if layer.shared_intermediate_size:
        name = f"{layer.module}.{layer.shared_name}"
        ranks = c.split.tensor if layer.shared_always_split else c.split.shared_experts
        size += mlp(c, layer.shared_intermediate_size, name, ranks, layer.gated)
    return size + (c.plain_matrix(c.hidden, 1) if layer.shared_gate else NOTHING)


def _routed(c: Counting, layer: Experts) -> Size:
    count = c.split.experts(layer.count)
    inner = divided(layer.intermediate_size, c.split.expert_tensor, "moe_intermediate_size")
    width = layer.latent_size or c.hidden
    scheme = c.scheme_of(f"{layer.module}.experts.0.up_proj")
    parts = 2 if layer.gated else 1
    biases = count * (parts * inner + width) if layer.expert_bias else 0
    if scheme.kind == "mxfp4":
        parameters = count * 3 * width * inner + biases
        return mxfp4_experts(count, width, inner, c.expert_padding, c.plain_bytes, parameters=parameters)
    if scheme.kind == "block8" and inner % scheme.block[0]:
        raise WeightsError(
            "tensor_parallel_size",
            f"An expert's slice of {inner} is no multiple of the {scheme.block[0]} outputs that share a scale.",
            ANOTHER_SPLIT,
        )
    return experts(scheme, count, width, inner, layer.gated, c.plain_bytes) + c.numbers(biases)
